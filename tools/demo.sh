#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What `make demo` shows, also where the program was unpacked from a tarball or installed: a trial, its check, a plan by `auto` beside
# two-stage learning, random and everyone, in money, and a page. Every command is printed before it runs; all files go to ./demo.
# DFCL_DEMO_ROWS: units of the trial.
set -euo pipefail

usage='usage: demo.sh (no arguments; DFCL_DEMO_ROWS sets the units of the trial, else 40000)'
case "$#:${1:-}" in
  0:) ;;
  1:-h | 1:--help)
    echo "$usage"
    echo 'Simulates a trial, checks it, compares a plan by auto with simpler ones, in money, and makes a page and a list.'
    echo 'All files go to ./demo, in the checkout where there is one; a ./demo that is there is replaced.'
    exit ;;
  *)
    echo "demo: unknown argument: $*" >&2
    echo "$usage" >&2
    exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
for folder in "${DFCL_BIN:-}" "$here/../build/release/bin" "$here/../../bin"; do
  if [[ -n $folder && -x $folder/dfcl ]]; then PATH=$(cd "$folder" && pwd):$PATH; break; fi
done
if [[ -e $here/../CMakeLists.txt ]]; then cd "$here/.."; fi
rm -rf demo
mkdir demo
cd demo
rows=${DFCL_DEMO_ROWS:-40000}

bold='' blue='' plain=''
if [[ -t 1 ]]; then bold=$'\033[1m' blue=$'\033[36m' plain=$'\033[0m'; fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() {
  printf '%s$ %s%s\n' "$blue" "$*" "$plain"
  "$@"
}

title "1. A trial (A/B test): customers, three offers or none at random, what they spent and what the offers cost"
show dfcl simulate --preset varied --response rules --rows "$rows" --seed 1 -o trial.parquet --truth truth.parquet --study study.toml

title "2. Is it fit to learn from? And would a trial with broken randomisation be caught? (exit code 7)"
show dfcl check study.toml
show dfcl simulate --preset marketing --rows 20000 --seed 1 --imbalance -o broken.parquet --study broken.toml
code=0
show dfcl check broken.toml || code=$?
if [[ $code != 7 ]]; then
  echo "demo: expected exit code 7, got $code" >&2
  exit 1
fi

title "3. Learn from it, and measure the plans on customers that no model has seen (one to two minutes)"
show dfcl compare study.toml --methods auto,tsm --seed 1 --resamples 500 --truth truth.parquet --margin 0.4 -o compared

title "4. The plan: one offer for every customer, within a budget"
show dfcl allocate compared/models/auto-1.safetensors trial.parquet --share-of-max 0.2 --margin 0.4 -o plan.parquet

cat <<END

${bold}Done.${plain}
  The report, for a browser:           $PWD/compared/report.html
  The plan, an offer per customer:     $PWD/plan.parquet
  Move the budget yourself:            dfcl serve compared/models/auto-1.safetensors trial.parquet --per-revenue 0.4

${bold}With your own file${plain} (one row per unit: its features, the arm it got at random, revenue, cost):
  dfcl init my_trial.csv -o study.toml     proposes what the columns mean; correct what it marks as unsure
  dfcl check study.toml                    is the trial fair?
  dfcl train study.toml -o model.safetensors
  dfcl evaluate study.toml model.safetensors -o results.json && dfcl report results.json -o report.html
END
