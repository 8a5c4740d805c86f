# SPDX-License-Identifier: Apache-2.0
"""What every verb shares: usage errors, exit codes, streams, Ctrl-C."""

import json
import os
import pty
import signal
import subprocess
import time

import pytest


def test_version(dfcl):
    result = dfcl("--version")
    assert result.code == 0
    assert result.stdout.split()[0] == "dfcl"


def test_no_verb_prints_the_short_help_and_exits_2(dfcl):
    result = dfcl()
    assert result.code == 2
    assert result.stdout == ""
    assert result.stderr == dfcl("-h").stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["chek"], "there is no verb 'chek'\nhint: did you mean 'check'?"),
        (["check", "--thread", "2"], "dfcl check has no option '--thread'\nhint: did you mean '--threads'?"),
        (["--quiet", "check"], "unexpected option '--quiet' before the verb"),
        (["check"], "STUDY: is required"),
        (["check", "a.toml", "b.toml"], "one argument too many: 'b.toml'"),
        (["check", "a.toml", "--seed", "many"], "--seed: a value of the wrong kind: found 'many'"),
        (["check", "a.toml", "--threads", "-1"], "--threads"),
        (["check", "a.toml", "--seed", "-1"], "--seed: out of range: found -1"),
        (["simulate", "--preset", "marketng", "-o", "t.csv"], "did you mean 'marketing'?"),
    ],
)
def test_wrong_usage_exits_2_and_says_why(dfcl, arguments, message):
    result = dfcl(*arguments)
    assert result.code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("dfcl: error: ")
    assert message in result.stderr
    assert os.listdir(dfcl.folder) == []


def test_with_json_an_error_is_one_json_object_on_stderr(dfcl):
    result = dfcl("check", "absent.toml", "--json")
    assert result.code == 4
    assert result.stdout == ""
    error = json.loads(result.stderr)["error"]
    assert (error["kind"], error["exit_code"]) == ("file", 4)
    assert "absent.toml" in result.stderr


def test_a_full_disk_under_stdout_is_a_file_error(dfcl):
    with open("/dev/full", "w") as full:
        result = dfcl("--help", stdout=full)
    assert result.code == 4
    assert "standard output: cannot write the results" in result.stderr


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_so_is_one_that_shows_while_a_verb_prints(dfcl, flags):
    """More than a buffer: the write fails in the middle of printing."""
    columns = [f"a_feature_with_a_long_name_{i}" for i in range(300)]
    (dfcl.folder / "wide.csv").write_text(",".join(columns) + "\n" + ",".join("1" for _ in columns) + "\n")
    with open("/dev/full", "w") as full:
        result = dfcl("info", "wide.csv", *flags, stdout=full)
    assert result.code == 4, result.stderr
    assert "cannot write the results" in result.stderr


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_very_long_name_is_not_repeated(dfcl, flags):
    name = "k" * 500_000  # twice in a model's header, which is at most a megabyte
    twice = f'{{"format": "dfcl-results", "format_version": 1, "{name}": 1, "{name}": 2}}'
    (dfcl.folder / "results.json").write_text(twice)
    (dfcl.folder / "model.safetensors").write_bytes(len(twice).to_bytes(8, "little") + twice.encode())
    (dfcl.folder / "units.csv").write_text("id,x\n1,2\n")
    (dfcl.folder / "study.toml").write_text(f"[columns]\n{name} = 1\n")
    for arguments, code in (
        (["report", "results.json", "-o", "page.html"], 3),
        (["predict", "model.safetensors", "units.csv", "-o", "predictions.csv"], 4),
        (["check", "study.toml"], 2),
    ):
        result = dfcl(*arguments, *flags)
        assert result.code == code, arguments
        assert "kkk" in result.stderr and len(result.stderr) < 2000, arguments


def test_a_reader_that_goes_away_ends_the_program_quietly(dfcl):
    result = dfcl.shell("set -o pipefail; dfcl --help | true")
    assert (result.code, result.stderr) == (0, "")


LONG_RUN = ["simulate", "--preset", "criteo", "--rows", "200000000", "-o", "trial.parquet"]


def wait_until_busy(dfcl, process):
    """Until the program has begun to write: its temporary file is there."""
    deadline = time.monotonic() + 60
    while not os.listdir(dfcl.folder):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_exits_130_and_leaves_no_file(dfcl, stop):
    process = dfcl.start(*LONG_RUN, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_busy(dfcl, process)
    process.send_signal(stop)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr
    assert os.listdir(dfcl.folder) == []


def stderr_on_a_terminal(dfcl, *arguments):
    """Exit code, what a terminal gets on standard error, and seconds; the run is interrupted after one second."""
    leader, follower = pty.openpty()
    started = time.monotonic()
    process = dfcl.start(*arguments, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(leader)
    return process.wait(timeout=60), text.decode(), time.monotonic() - started


def test_progress_is_shown_on_a_terminal_and_wiped_before_the_message(dfcl):
    code, text, seconds = stderr_on_a_terminal(dfcl, *LONG_RUN)
    assert code == 130
    assert "rows/s" in text and "left" in text
    assert text.count("\r") <= 5 + 10 * seconds, "at most ten lines a second"
    assert text.replace("\r\n", "\n").endswith("\r\x1b[Kdfcl: error: interrupted\n")


def test_quiet_shows_no_progress(dfcl):
    code, text, _ = stderr_on_a_terminal(dfcl, *LONG_RUN, "--quiet")
    assert code == 130
    assert text.replace("\r\n", "\n") == "dfcl: error: interrupted\n"
