#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every benchmark: the C++ programs build/release/bin/bench_* and the Python scripts bench/*.py, which compare with
# what users would pick instead. An argument chooses those whose name contains it.
set -euo pipefail
cd "$(dirname "$0")/.."
export DFCL_BINARY=$PWD/build/release/bin/dfcl
for benchmark in build/release/bin/bench_* bench/*.py; do
  if [[ ! -e "$benchmark" || "$benchmark" != *"${1:-}"* ]]; then continue; fi
  echo "== $benchmark"
  if [[ "$benchmark" == *.py ]]; then .venv/bin/python3 "$benchmark"; else "$benchmark"; fi
done
