#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants a bug of each kind in the sources, one after the other, and says how soon its fuzzer finds it (make fuzz-planted).

An overflow by one, a size that nobody checks, a recursion without end. The source is put back afterwards, whatever
happens. Ends with 1 where a bug is not found in time.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Fuzzer, source, what is replaced, by what, options of libFuzzer. A stack of a megabyte shows recursion in short text.
PLANTED = {
    "overflow": ("rows", "dfcl/io/tables/csv_rows.cpp", "quote + 1 < text.size() && text[quote + 1] == '\"'", "text[quote + 1] == '\"'", []),
    "size": ("safetensors", "dfcl/io/tensors/safetensors.cpp", "if (length < 2 || length > file_bytes - kPrefixBytes) refuse(where, \"cut short or no header\");", "", []),
    "recursion": ("study", "dfcl/io/study/toml_depth.cpp", "if (at == std::string_view::npos) return;", "if (at != 1) return;", ["-max_len=65536", "-len_control=0"]),
}


def build(folder, fuzzer):
    subprocess.run(["cmake", "--build", folder, "--target", f"fuzz_{fuzzer}"], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--only", default=",".join(PLANTED))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the source is put back then, too
    missed = 0
    for kind in options.only.split(","):
        fuzzer, source, old, new, more = PLANTED[kind]
        path = ROOT / source
        text = path.read_text()
        if old not in text:
            sys.exit(f"{source} has changed: plant the {kind} elsewhere")
        path.write_text(text.replace(old, new))
        try:
            build(options.build, fuzzer)
        finally:
            path.write_text(text)
        with tempfile.TemporaryDirectory() as work:
            begin = time.monotonic()
            command = [options.build / "bin" / f"fuzz_{fuzzer}", f"-max_total_time={options.seconds}", "-detect_leaks=0", "-malloc_limit_mb=2048", f"-artifact_prefix={work}/", *more, work, ROOT / "tests/fuzz/corpus" / fuzzer]
            done = subprocess.run(["bash", "-c", 'ulimit -s 1024; exec "$@"', "_", *map(str, command)], capture_output=True, text=True, errors="replace", env=os.environ)
            seconds = time.monotonic() - begin
        found = done.returncode != 0
        missed += not found
        says = [line for line in done.stderr.splitlines() if "ERROR:" in line or "SUMMARY:" in line or "runtime error" in line]
        print(f"{kind}: fuzz_{fuzzer}: " + (f"found after {seconds:.0f} s: {says[0][:120] if says else ''}" if found else f"not found in {seconds:.0f} s"), flush=True)
        build(options.build, fuzzer)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
