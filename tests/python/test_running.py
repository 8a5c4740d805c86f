# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, threads, memory."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest

import dfcl

ENDLESS = """
import dfcl, sys
made = dfcl.simulate("marketing", rows=20000, seed=1)
print("ready", flush=True)
try:
    dfcl.train(made.study, made.trial, method="tsm", epochs=100000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    model = dfcl.train(made.study, made.trial, method="tsm", epochs=1)
    print(model.method, flush=True)
"""


def test_ctrl_c_raises_keyboard_interrupt_and_python_goes_on():
    run = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(1.0)
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate(timeout=60)
    assert output == "interrupted\ntsm\n"
    assert run.returncode == 0


def test_other_threads_of_python_run_meanwhile(made):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    dfcl.train(made.study, made.trial, method="tsm", epochs=20, threads=1)
    stop.set()
    thread.join()
    assert len(ticks) > 20


def test_calls_of_several_threads_at_once_give_the_answers_of_one(small_study, small_trial):
    def work():
        model = dfcl.train(small_study, small_trial, method="tsm", epochs=1, threads=2)
        return model.fingerprint, dfcl.allocate(model, small_trial, per_unit=0.3).value

    expected = work()
    found = []
    threads = [threading.Thread(target=lambda: found.extend(work() for _ in range(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20


def resident():
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_does_not_grow_over_many_cycles(small_study, small_trial):
    columns = {name: values[:400] for name, values in small_trial.items()}
    cycles = int(os.environ.get("DFCL_CYCLES", "150"))

    def cycle():
        model = dfcl.train(small_study, columns, method="tsm", epochs=1, threads=1)
        dfcl.allocate(dfcl.predict(model, columns), per_unit=0.1).to_arrow()
        with pytest.raises(dfcl.UsageError):
            dfcl.allocate(columns)

    for _ in range(cycles // 3):
        cycle()
    before = resident()
    for _ in range(cycles):
        cycle()
    grown = resident() - before
    print(f"{cycles} cycles: {grown / 1e6:.1f} MB more")
    assert grown < 20e6


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_a_frame_is_not_copied():
    script = """
import numpy, pyarrow, dfcl, resource
rows, arms = 2_000_000, 6
random = numpy.random.default_rng(1)
columns = {}
for arm in range(arms):
    columns[f"revenue_{arm}"] = random.random(rows, dtype=numpy.float32) + arm
    columns[f"cost_{arm}"] = random.random(rows, dtype=numpy.float32) * arm
table = pyarrow.table(columns)
dfcl.allocate(table.slice(0, 300_000), per_unit=1.0)  # what the solver needs whatever the rows
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
plan = dfcl.allocate(table, per_unit=1.0)
print(table.nbytes, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    size, more = map(int, done.stdout.split())
    print(f"frame {size / 1e6:.0f} MB, {more / 1e6:.0f} MB more at the peak")
    assert size == 96_000_000
    assert more < 0.6 * size  # the plan and a few batches: 9 bytes a unit are 18 MB


def test_a_stream_that_nobody_reads_is_freed():
    plan = dfcl.allocate({"revenue_0": np.ones(3), "cost_0": np.zeros(3)}, budget=1)
    for _ in range(100):
        plan.__arrow_c_stream__()


def fingerprint_and_value(columns):
    """In another process: the study and the data come by pickling."""
    study = dfcl.Study(id="id", arm="arm", revenue="revenue", cost="cost", control="0", per_unit=[0.1])
    model = dfcl.train(study, columns, method="tsm", epochs=1, threads=2)
    return model.fingerprint, model.allocate(columns, per_unit=0.3).value


def test_other_processes_give_the_same_answers(small_trial):
    """Forked after threads of ours have run, spawned, by joblib's processes and threads."""
    expected = fingerprint_and_value(small_trial)
    for start in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(start).Pool(2) as pool:
            assert pool.map_async(fingerprint_and_value, [small_trial] * 3).get(timeout=120) == [expected] * 3, start
    for backend in ("loky", "threading"):
        tasks = [joblib.delayed(fingerprint_and_value)(small_trial) for _ in range(3)]
        assert joblib.Parallel(n_jobs=2, backend=backend, timeout=120)(tasks) == [expected] * 3, backend
    assert fingerprint_and_value(small_trial) == expected


def test_models_and_plans_go_to_other_processes(model, made):
    plan = model.allocate(made.trial, share_of_max=0.2)
    units = made.trial.to_pandas()
    tasks = [joblib.delayed(model.allocate)(units, share_of_max=0.2) for _ in range(2)]
    assert joblib.Parallel(n_jobs=2, timeout=120)(tasks) == [plan] * 2


def test_ctrl_c_during_other_verbs_raises_keyboard_interrupt():
    script = """
import dfcl
made = dfcl.simulate("marketing", rows=200000, seed=1)
print("ready", flush=True)
try:
    dfcl.evaluate(made.study, made.truth, made.trial, resamples=1000000)
except KeyboardInterrupt:
    print(dfcl.allocate(made.truth, share_of_max=0.2).has_plan, flush=True)
"""
    run = subprocess.Popen([sys.executable, "-W", "ignore", "-c", script], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    time.sleep(1.0)
    run.send_signal(signal.SIGINT)
    output, _ = run.communicate(timeout=60)
    assert output == "True\n" and run.returncode == 0
