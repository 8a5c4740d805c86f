# SPDX-License-Identifier: Apache-2.0
"""`dfcl train --cache` on a simulated trial of 12 features: the most anonymous memory of the process, beside 512 MiB.

One epoch of tsm with a head for each arm and outcome (128 shared, heads of 64). The first run reads the
trial and makes the cache, the second uses it. Default: 10,000,000 units; the claim is for --units 100000000, which
takes some 10 GB of disk (--folder chooses it) and minutes. --repeat 10 simulates a tenth of the units and reads that
file ten times, which says as much about memory. Everything is removed at the end. Run: make bench.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

BINARY = pathlib.Path(os.environ.get("DFCL_BINARY", "build/release/bin/dfcl")).resolve()
LIMIT_MIB = 512
TRAIN = ["train", "study.toml", "--set", "data.trial=part-*.parquet", "--method", "tsm", "--epochs", 1, "--batch", 4096]
NETWORK = ["--set", "network.shared=[128]", "--set", "network.heads=[64]"]


def memory_mib(pid):
    """Anonymous memory and pages of files that are mapped. None once the process has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = dict(line.split(":", 1) for line in lines)
    return {name: int(found[name].split()[0]) / 1024 for name in ("RssAnon", "RssFile") if name in found}


def measure(folder, *arguments):
    """Seconds, and the most memory, looked at 20 times a second."""
    start, most = time.perf_counter(), {"RssAnon": 0.0, "RssFile": 0.0}
    process = subprocess.Popen([BINARY, *map(str, arguments), "--quiet", "--overwrite"], cwd=folder, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        for name, size in (memory_mib(process.pid) or {}).items():
            most[name] = max(most[name], size)
        time.sleep(0.05)
    if process.returncode != 0:
        raise SystemExit(f"dfcl {arguments[0]} failed")
    return time.perf_counter() - start, most


def disk_mib(path):
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files) / 2**20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=1, help="times that the simulated file is read")
    parser.add_argument("--folder", help="where the trial and the cache are written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        first, units = folder / "part-0.parquet", options.units // options.repeat
        simulate = ["simulate", "--preset", "criteo", "--rows", units, "--seed", 1]
        seconds, most = measure(folder, *simulate, "-o", first, "--study", "study.toml")
        for copy in range(1, options.repeat):
            os.link(first, folder / f"part-{copy}.parquet")
        print(f"{units:,} units simulated: {seconds:.0f} s, {disk_mib(first):,.0f} MiB of disk,"
              f" at most {most['RssAnon']:.0f} MiB anonymous", flush=True)  # fmt: skip
        for run in ("made", "used again"):
            # Copies of units make a check too sure of itself, which --force overrules.
            seconds, most = measure(folder, *TRAIN, *NETWORK, "--cache", "cache", "--force", "-o", "model.safetensors")
            verdict = "under" if most["RssAnon"] < LIMIT_MIB else "NOT under"
            print(f"one epoch of {units * options.repeat:,} units, cache {run}: {seconds:.0f} s, at most"
                  f" {most['RssAnon']:.0f} MiB anonymous ({verdict} {LIMIT_MIB}), {most['RssFile']:,.0f} MiB of mapped"
                  " files", flush=True)  # fmt: skip
        print(f"the cache: {disk_mib(folder / 'cache'):,.0f} MiB of disk", flush=True)


if __name__ == "__main__":
    main()
