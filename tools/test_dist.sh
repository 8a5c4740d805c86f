#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Does what `make dist` made run where nothing is installed? For each Debian release named: a bare system (mmdebstrap, minbase), in
# which the tarball runs the demo as a user who is not root, and the package is installed, runs it and is removed without a trace.
# DFCL_DEMO_ROWS: units of the demo's trial. Wheels have tests of their own (tests/python).
set -euo pipefail
cd "$(dirname "$0")/.."
mirror=${DFCL_MIRROR:-http://deb.debian.org/debian}
roots=${DFCL_ROOTS:-build/roots}
mkdir -p "$roots"
shopt -s nullglob
tarball=(dist/dfcl-*-linux-*.tar.gz)
package=(dist/dfcl_*.deb)
[[ ${#tarball[@]} == 1 && ${#package[@]} == 1 ]] || { echo "make dist first" >&2; exit 2; }

for suite in "$@"; do
  [[ -s $roots/$suite.tar ]] || mmdebstrap --variant=minbase --quiet "$suite" "$roots/$suite.tar" "$mirror"
  root=$(mktemp -d "$roots/$suite.XXXXXX")
  trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
  tar -C "$root" -xf "$roots/$suite.tar" --exclude='./dev/*'
  mkdir -p "$root/dev" "$root/srv/dist"
  for device in null zero urandom random; do
    case $device in null) minor=3 ;; zero) minor=5 ;; random) minor=8 ;; *) minor=9 ;; esac
    [[ -e $root/dev/$device ]] || mknod -m 666 "$root/dev/$device" c 1 "$minor"
  done
  mount -t proc proc "$root/proc"  # as every running system has it; $ORIGIN needs it
  cp "${tarball[0]}" "${package[0]}" "$root/srv/dist/"
  echo "== $suite, $(chroot "$root" ldd --version | head -1)"

  chroot "$root" /usr/sbin/useradd -m analyst
  tar -C "$root/home/analyst" -xzf "${tarball[0]}"
  chroot "$root" chown -R analyst:analyst /home/analyst
  run_user() { chroot --userspec=analyst:analyst "$root" /usr/bin/env -i ${DFCL_DEMO_ROWS:+DFCL_DEMO_ROWS=$DFCL_DEMO_ROWS} HOME=/home/analyst PATH=/usr/bin:/bin TERM=dumb bash -euc "$1"; }
  run_user 'cd; mv dfcl-*-linux-* elsewhere; elsewhere/bin/dfcl --version; DFCL_DEMO_ROWS=${DFCL_DEMO_ROWS:-4000} elsewhere/share/dfcl/demo.sh > demo.log 2>&1 || { tail -20 demo.log; exit 1; }; tail -12 demo.log'
  echo "tarball: runs"

  chroot "$root" dpkg -i "/srv/dist/$(basename "${package[0]}")" >/dev/null
  run_user 'cd; dfcl --version; test -s /usr/share/bash-completion/completions/dfcl; test -s /usr/share/man/man1/dfcl-train.1.gz; DFCL_DEMO_ROWS=${DFCL_DEMO_ROWS:-4000} /usr/share/dfcl/demo.sh > package.log 2>&1 || { tail -20 package.log; exit 1; }'
  chroot "$root" dpkg --purge dfcl >/dev/null
  [[ ! -e $root/usr/lib/dfcl && ! -e $root/usr/bin/dfcl ]]
  echo "package: installs, runs, is removed"
  umount "$root/proc"
  rm -rf "$root"
done
