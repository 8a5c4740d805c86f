#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests dfcl.spark with Spark on this machine: Java 17 from Debian, a virtual environment with PySpark from PyPI and our
# wheel for each version, in BUILD/spark-VERSION. The arguments are BUILD and versions: 3.5, 4. With DFCL_SPARK_FULL=1 all
# tests run, else those that take about a minute. Exit code 5, or what DFCL_SPARK_SKIPPED says, where
# Java or PySpark cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift

say() { echo "spark: $*" >&2; }
skip() {
  say "SKIPPED: $*"
  exit "${DFCL_SPARK_SKIPPED:-5}"
}

has_java() { java -version 2>&1 | grep -qE 'version "(17|21)'; }
if ! has_java; then
  say "installing openjdk-17-jre-headless"
  if ! { [[ "$(id -u)" == 0 && -z "${DFCL_SKIP_PACKAGES:-}" ]] && timeout 120 apt-get update -qq >&2 &&
    DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >&2 && has_java; }; then
    skip "there is no Java 17, and it cannot be installed here (apt-get install openjdk-17-jre-headless)"
  fi
fi

for version in "$@"; do
  requirements=tests/spark/requirements-$version.txt
  home=$build/spark-$version
  stamp=$home/requirements.stamp
  if [[ "$(cat "$stamp" 2>/dev/null)" != "$(sha256sum <"$requirements")" ]]; then
    say "virtual environment with $(grep pyspark "$requirements")"
    .venv/bin/python3 -m venv --clear "$home"
    if ! timeout 300 "$home/bin/pip" install --quiet --retries 1 --disable-pip-version-check -r "$requirements"; then
      # A package index that answers makes it a failure of ours.
      if timeout 60 "$home/bin/pip" download --quiet --retries 0 --disable-pip-version-check --no-deps -d "$home/probe" pip; then
        say "pip cannot install $requirements"
        exit 1
      fi
      skip "there is no package index here, and $requirements is not installed"
    fi
    sha256sum <"$requirements" >"$stamp"
  fi
  "$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$build"/python/wheel/*.whl
  "$home/bin/python" -m pytest -q -p no:cacheprovider -W "ignore::FutureWarning" tests/spark
done
if [[ "${DFCL_SPARK_FULL:-}" == 1 ]]; then
  DFCL_PARTS=10000 "$home/bin/python" -m pytest -q -p no:cacheprovider tests/python/test_parts.py
fi
