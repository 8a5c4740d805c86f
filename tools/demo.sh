#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make demo` shows. Every command is printed before it runs; all files go to ./demo.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf demo
mkdir demo
cd demo
PATH=$PWD/../build/release/bin:$PATH

bold='' blue='' plain=''
if [[ -t 1 ]]; then bold=$'\033[1m' blue=$'\033[36m' plain=$'\033[0m'; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() {
  printf '%s$ %s%s\n' "$blue" "$*" "$plain"
  "$@"
}

title "1. A trial: 50,000 shops, five discounts drawn at random, orders and subsidy recorded"
show dfcl simulate --preset marketing --rows 50000 --seed 1 -o trial.parquet --truth truth.parquet --study study.toml

title "2. Because it is simulated, the truth is known: what every shop would do under every discount"
show dfcl info truth.parquet

title "3. Is the trial fit to learn from?"
show dfcl check study.toml

title "4. The same question of a trial whose randomisation is broken (exit code 7: unfit)"
show dfcl simulate --preset marketing --rows 50000 --seed 1 --imbalance -o broken.parquet --study broken.toml
code=0
show dfcl check broken.toml || code=$?
if [[ $code != 7 ]]; then
  echo "demo: expected exit code 7, got $code" >&2
  exit 1
fi

title "5. Learn what every discount earns and costs for every shop (this takes some seconds)"
show dfcl train study.toml --method dfcl-mer --epochs 20 --seed 1 -o model.safetensors

title "6. Who gets which discount, if there is a fifth of what the costliest would take?"
show dfcl allocate model.safetensors trial.parquet --share-of-max 0.2 -o plan.parquet

title "Done"
cat <<END
The files are in ./demo:
$(ls -sh1 | tail -n +2 | sed 's/^/  /')
Next: open demo/study.toml, it says what every column means. For a trial of your own:
  build/release/bin/dfcl init YOUR_TRIAL.csv -o study.toml
  build/release/bin/dfcl check study.toml
  build/release/bin/dfcl train study.toml -o model.safetensors
END
