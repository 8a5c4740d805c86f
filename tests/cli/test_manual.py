# SPDX-License-Identifier: Apache-2.0
"""Man pages and completions are made from the help texts, and shells take them."""

import re
import shutil
import subprocess
import sys

import pytest
from conftest import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tools"))
import manual  # noqa: E402


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    folder = tmp_path_factory.mktemp("share")
    manual.main(str(BINARY), folder)
    return folder


def shell(name, *arguments):
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def verbs():
    return dict(manual.verbs_of(manual.read_help(str(BINARY))))


def test_every_option_of_every_verb_is_in_its_man_page(share):
    assert len(verbs()) >= 14
    for verb in verbs():
        page = (share / f"man/man1/dfcl-{verb}.1").read_text().replace("\\-", "-")
        help_text = subprocess.run([BINARY, verb, "--help"], capture_output=True, text=True, check=True).stdout
        flags = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", help_text, re.MULTILINE))
        assert flags, verb
        assert {flag for flag in flags if flag not in page} == set(), verb
        for line in help_text.split("example:\n")[1].splitlines():
            assert line.strip() in page


def test_man_pages_are_typeset_without_a_warning(share):
    for page in sorted((share / "man/man1").glob("*.1")):
        assert "OPTIONS" in re.sub(".\x08", "", shell("groff", "-man", "-Tutf8", "-ww", page))  # without overstriking


COMPLETE = 'source "$1"; COMP_WORDS=(dfcl "${@:2}"); COMP_CWORD=$(($# - 1)); _dfcl; printf "%s\\n" "${COMPREPLY[@]}"'


@pytest.mark.parametrize(
    "words, expected",
    [
        (["all"], {"allocate"}),
        (["train", "study.toml", "--method", "tsm-"], {"tsm-boost", "tsm-forest"}),
        (["evaluate", "--estimator", "ha"], {"hajek"}),
        (["readout", "plan", "--holdout"], {"--holdout-share"}),
        (["check", "--no-such"], set()),
    ],
)
def test_bash_completes(share, words, expected):
    got = shell("bash", "-c", COMPLETE, "bash", share / "bash-completion/completions/dfcl", *words)
    assert set(got.split()) == expected


def test_zsh_reads_its_completion(share):
    shell("zsh", "-n", share / "zsh/site-functions/_dfcl")


def test_fish_completes(share):
    def completed(words):
        source = share / "fish/vendor_completions.d/dfcl.fish"
        got = shell("fish", "--no-config", "-c", f"source {source}; complete -C '{words}'")
        return {line.split("\t")[0] for line in got.splitlines()}

    assert completed("dfcl train --method tsm-") == {"tsm-boost", "tsm-forest"}
    assert completed("dfcl alloc") == {"allocate"}
