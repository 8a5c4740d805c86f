#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the wheel of the Python package, with the library that BUILD holds already compiled, and a virtual environment
# with the wheel and the libraries it is tested with: BUILD/python/wheel and BUILD/python/venv. The arguments are the
# checkout, BUILD and a python3.
set -euo pipefail
checkout=$1 build=$2 python=$3
here=$build/python
requirements=$checkout/tests/python/requirements.txt
mkdir -p "$here"

if [[ "$(cat "$here/requirements.stamp" 2>/dev/null)" != "$(sha256sum <"$requirements")" ]]; then
  "$python" -m venv --clear "$here/venv"
  "$here/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r "$requirements"
  sha256sum <"$requirements" >"$here/requirements.stamp"
fi

settings=(-C build-dir="$here/module" -C cmake.define.DFCL_PREFIX="$here/prefix")
if command -v ccache >/dev/null; then settings+=(-C cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --install "$build" --prefix "$here/prefix" >/dev/null
rm -rf "$here/wheel"
"$here/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$here/wheel" "${settings[@]}" "$checkout"
"$here/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$here"/wheel/*.whl
