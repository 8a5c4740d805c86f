#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what the build and the tests need: Debian packages (tools/apt-packages.txt), a virtual environment in
# .venv with pinned wheels (tools/requirements.txt) and, in web/node_modules, the pinned npm packages of the report's
# page (web/package-lock.json). Does nothing, quickly, when all of it is there already.
# DFCL_SKIP_PACKAGES=1 leaves the packages to you. `tools/setup.sh lint` adds the packages for formatting and
# linting, `tools/setup.sh fuzz` those for fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }
fail() {
  say "$*"
  exit 5
}

# The package names of a list file, without comments.
packages_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

# The names on standard input that dpkg does not know as installed.
missing_packages() {
  local name
  while read -r name; do
    if [[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ]]; then echo "$name"; fi
  done
}

install_packages() {
  local missing
  if [[ -n "${DFCL_SKIP_PACKAGES:-}" ]]; then return; fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "not a Debian system; install what these hold and set DFCL_SKIP_PACKAGES=1: $(packages_in "$1" | xargs)"
  fi
  missing=$(packages_in "$1" | missing_packages | xargs)
  if [[ -z "$missing" ]]; then return; fi
  if [[ "$(id -u)" != 0 ]]; then fail "packages are missing; as root: apt-get install -y $missing"; fi
  say "apt-get install $missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing >&2
}

# A python3 that the pinned wheels support and that can make virtual environments.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  fail "no python3 of version 3.11 or later with the venv module; install python3 and python3-venv"
}

make_environment() {
  local python
  if ! .venv/bin/python3 -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    say "virtual environment .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
  fi
  say "wheels of tools/requirements.txt"
  .venv/bin/python3 -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: -r tools/requirements.txt ||
    fail "pip could not install tools/requirements.txt into .venv"
}

# Node.js is often there from elsewhere; Debian's serves where it is not.
install_node() {
  local list
  if command -v node >/dev/null && command -v npm >/dev/null; then return; fi
  list=$(mktemp)
  printf 'nodejs\nnpm\n' >"$list"
  install_packages "$list"
  rm -f "$list"
  command -v npm >/dev/null || fail "node and npm are missing; install Node.js 18 or later"
}

# No script of a package runs.
install_page_packages() {
  say "npm packages of web/package-lock.json"
  (cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) ||
    fail "npm could not install web/package-lock.json into web/node_modules"
}

# What the stamp must say for a set-up to be current.
fingerprint() { cat tools/setup.sh "$@" | sha256sum; }

if [[ "${1:-}" == lint || "${1:-}" == fuzz ]]; then
  install_packages "tools/apt-packages-$1.txt"
  exit
fi

lists=(tools/apt-packages.txt tools/requirements.txt web/package-lock.json)
stamp=.venv/setup.stamp
if [[ "$(cat "$stamp" 2>/dev/null)" == "$(fingerprint "${lists[@]}")" ]] && [[ -x .venv/bin/python3 ]] &&
  [[ -d web/node_modules/esbuild ]] && command -v cmake ninja g++ node >/dev/null; then
  exit
fi
install_packages tools/apt-packages.txt
install_node
install_page_packages &
make_environment
wait $! || exit 5
fingerprint "${lists[@]}" >"$stamp"
