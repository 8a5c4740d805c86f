#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh BUILD SECONDS [NAME,NAME]: each fuzzer for so many seconds, or RUNS executions where that is set and sooner, from
# its corpus in the tree and from what earlier runs reached (BUILD/reached). Findings are kept in BUILD/found; the exit code is 1 where there is one.
set -uo pipefail
build=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
names=${3:-$(ls "$here/corpus" | paste -sd,)}
# Text needs no length to be strange, and short text is read ten times as often.
declare -A longest=([rows]=256 [json]=512 [request]=512 [setting]=256 [study]=1024 [results]=8192)
found=0
mkdir -p "$build/found"
for name in ${names//,/ }; do
  mkdir -p "$build/reached/$name"
  echo "fuzz: $name for $seconds s"
  if ! "$build/bin/fuzz_$name" -max_total_time="$seconds" -runs="${RUNS:--1}" -timeout=20 -detect_leaks=0 -max_len="${longest[$name]:-0}" -rss_limit_mb=4096 -malloc_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$build/found/$name-" "$build/reached/$name" "$here/corpus/$name" >"$build/found/$name.log" 2>&1; then
    found=1
    echo "fuzz: $name: a finding; see $build/found/$name.log" >&2
  fi
  grep -E "^stat::number_of_executed_units|^#.*(DONE|pulse)" "$build/found/$name.log" | tail -2
done
exit $found
