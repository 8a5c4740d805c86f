#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `docs.sh site` builds the documentation as a static site in build/docs; `docs.sh prose` checks spelling and prose of all
# pages, sources and messages. Both work in a virtual environment of their own, build/docs-env, made on first use.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/docs-env

make_environment() {
  if [[ "$(cat "$environment/stamp" 2>/dev/null)" == "$(cat tools/docs.sh tools/requirements-docs.txt | sha256sum)" ]]; then return; fi
  echo "docs: wheels of tools/requirements-docs.txt in $environment" >&2
  python3 -m venv --clear "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r tools/requirements-docs.txt
  # Browsers start no worker of a page from disk; with this stand-in the search works there too. No script of it runs here.
  npm install --prefix "$environment" --ignore-scripts --no-audit --no-fund --loglevel=error iframe-worker@1.0.4 >&2
  cat tools/docs.sh tools/requirements-docs.txt | sha256sum >"$environment/stamp"
}

site() {
  NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --quiet --strict
  echo "The documentation: $PWD/build/docs/index.html"
}

prose() {
  # tests/ holds wrong words on purpose.
  "$environment/bin/codespell" ./*.md docs dfcl cli python web/src bench experiments tools cmake .ci .github
  "$environment/bin/proselint" check --config tools/proselint.json ./*.md docs/*.md docs/decisions/*.md
}

make_environment
case "${1:-}" in
  site) site ;;
  prose) prose ;;
  *) echo "docs.sh site|prose" >&2; exit 2 ;;
esac
