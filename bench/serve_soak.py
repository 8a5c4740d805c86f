# SPDX-License-Identifier: Apache-2.0
"""Fifty moves a second for a minute: what the server of `dfcl serve` answers, drops as stale, and keeps in memory.

Every move is a request of its own, sent whether or not those before it were answered, as an impatient hand on a slider does.
DFCL_BINARY is the program; DFCL_ROWS the units (100000), DFCL_SECONDS how long (60). Every tenth move limits units per arm,
unless DFCL_LIMITS is 0.
Fails where memory grows by more than 5 % after the first ten seconds, a request is not answered, or the last one is dropped.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from serve_latency import ARMS, BINARY, write_predictions

UNITS = int(os.environ.get("DFCL_ROWS", "100000"))
SECONDS = float(os.environ.get("DFCL_SECONDS", "60"))
PER_SECOND = 50
LIMITS = os.environ.get("DFCL_LIMITS", "1") == "1"


def memory(process):
    """Resident memory that is no file's, in MB."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1e3
    return 0.0


def settings(move):
    chosen = {"budget": UNITS * 0.001 * (1 + move * 389 % 400), "min_roi": (move * 7 % 30) / 10}
    if move % 10 == 9 and LIMITS:
        chosen["max_units"] = [None, UNITS // 10 + move, None, None, None]
    return chosen


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        write_predictions(path, UNITS)
        server = subprocess.Popen([BINARY, "serve", path, "--control", "0", "--no-browser"], stdout=subprocess.PIPE, text=True)
        address = server.stdout.readline().strip().rstrip("/")
        answers = {}

        def move(number):
            body = json.dumps(settings(number)).encode()
            request = urllib.request.Request(f"{address}/solve", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=120) as reply:
                answers[number] = "stale" if json.loads(reply.read()).get("stale") else "answered"

        begin = time.monotonic()
        threads, seen = [], []
        total = int(PER_SECOND * SECONDS)
        for number in range(total):
            time.sleep(max(0.0, begin + number / PER_SECOND - time.monotonic()))
            threads.append(threading.Thread(target=move, args=(number,)))
            threads[-1].start()
            if number % PER_SECOND == PER_SECOND - 1:
                seen.append(memory(server))
        for thread in threads:
            thread.join()
        counts = {word: list(answers.values()).count(word) for word in ("answered", "stale")}
        early, late = max(seen[: max(1, len(seen) // 6)]), max(seen)
        print(f"{UNITS:,} units x {len(ARMS)} arms, {total} moves in {time.monotonic() - begin:.0f} s: {counts['answered']} answered, {counts['stale']} stale")
        print(f"memory: {early:,.0f} MB at most in the first sixth, {late:,.0f} MB at most in all, {seen[-1]:,.0f} MB at the end")
        server.send_signal(signal.SIGINT)
        server.wait()
        if len(answers) != total or answers[total - 1] != "answered" or late > 1.05 * early + 5:
            sys.exit("moves were lost, or memory grew")


if __name__ == "__main__":
    main()
