#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make demo` shows. Every command is printed before it runs; all files go to ./demo.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf demo
mkdir demo
cd demo
PATH=${DFCL_BIN:-$PWD/../build/release/bin}:$PATH

bold='' blue='' plain=''
if [[ -t 1 ]]; then bold=$'\033[1m' blue=$'\033[36m' plain=$'\033[0m'; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() {
  printf '%s$ %s%s\n' "$blue" "$*" "$plain"
  "$@"
}

title "1. A trial: 50,000 shops, five discounts drawn at random, orders and subsidy recorded"
show dfcl simulate --preset marketing --rows 50000 --seed 1 -o trial.parquet --truth truth.parquet --study study.toml --overwrite

title "2. Is the trial fit to learn from?"
show dfcl check study.toml

title "3. The same question of a trial whose randomisation is broken (exit code 7: unfit)"
show dfcl simulate --preset marketing --rows 50000 --seed 1 --imbalance -o broken.parquet --study broken.toml --overwrite
code=0
show dfcl check broken.toml || code=$?
if [[ $code != 7 ]]; then
  echo "demo: expected exit code 7, got $code" >&2
  exit 1
fi

title "4. Three methods learn from it, twice each, and are judged on shops they have not seen (half a minute)"
show dfcl compare study.toml --methods tsm,cn,dfcl-mer --seeds 2 --seed 1 --resamples 500 --truth truth.parquet --segment brand_type -o compared

title "5. Who gets which discount, if there is a fifth of what the costliest would take?"
show dfcl allocate compared/models/tsm-1.safetensors trial.parquet --share-of-max 0.2 --seed 1 -o plan.parquet --overwrite

title "Done: the answer in five lines"
python3 ../tools/demo_summary.py compared/results.json
echo
echo "The report: $PWD/compared/report.html"
echo "The plan, a discount for every shop: $PWD/plan.parquet"
echo
echo "With your own trial (a row per unit: features, the arm drawn at random, revenue, cost):"
echo "  dfcl init my_trial.csv -o study.toml    # proposes what the columns mean; correct what it marks as unsure"
echo "  dfcl check study.toml                   # is the trial fair? docs/guide-first-plan.md has the rest"
