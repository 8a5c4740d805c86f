# SPDX-License-Identifier: Apache-2.0
"""Every command in the documentation runs as it stands. The convention is in CONTRIBUTING.md."""

import re
import shlex
from dataclasses import dataclass

import pytest
from conftest import ROOT

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(```+)\s*(\w*)\s*$")
EXIT = re.compile(r"^<!--\s*exit (\d+)\s*-->$")
NOT_RUN = re.compile(r"^<!--\s*not run: .+-->$")
FILE = re.compile(r"^<!--\s*file ([\w.-]+)\s*-->$")


@dataclass
class Command:
    line: str
    number: int  # of the line in the page
    code: int = 0


@dataclass
class File:
    """A file that the page shows and the commands below read."""

    name: str
    text: str


def commands_of_block(language, lines, first_number):
    """`sh`: every line is a command. `console`: those after "$ "; the others are output."""
    commands, continues = [], False
    for number, line in enumerate(lines, start=first_number):
        text = line.strip()
        if continues:
            commands[-1].line += " " + text.removesuffix("\\").strip()
        elif language == "sh" and text and not text.startswith("#"):
            commands.append(Command(text.removesuffix("\\").strip(), number))
        elif language == "console" and text.startswith("$ "):
            commands.append(Command(text[2:].removesuffix("\\").strip(), number))
        else:
            continue
        continues = text.endswith("\\")
    return commands


def commands_of_page(text):
    commands, fence, note = [], None, ""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        found = FENCE.match(line.strip())
        if fence is None and found:
            fence, language, begin = found.group(1), found.group(2), number
        elif fence is not None and line.strip() == fence:
            block = commands_of_block(language, lines[begin : number - 1], begin + 1)
            if FILE.match(note):
                commands.append(File(FILE.match(note).group(1), "\n".join(lines[begin : number - 1]) + "\n"))
            if block and EXIT.match(note):
                block[-1].code = int(EXIT.match(note).group(1))
            if not NOT_RUN.match(note):
                commands += block
            fence, note = None, ""
        elif fence is None and line.strip():
            note = line.strip()
    return commands


def make_targets():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def problem_with(command, dfcl):
    line = command.line.removeprefix("build/release/bin/")
    if line.startswith("make "):
        unknown = [word for word in shlex.split(line, comments=True)[1:] if "=" not in word and word not in make_targets()]
        return f"no such target: {unknown}" if unknown else None
    if not line.startswith("dfcl "):
        return None
    result = dfcl.shell(line)
    if result.code == command.code:
        return None
    return f"exit code {result.code}, expected {command.code}\n{result.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_the_page_run(page, dfcl):
    for command in commands_of_page(page.read_text()):
        if isinstance(command, File):
            (dfcl.folder / command.name).write_text(command.text)
            continue
        problem = problem_with(command, dfcl)
        assert problem is None, f"{page.relative_to(ROOT)}:{command.number}: {command.line}\n{problem}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_the_page_lead_to_files(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"(?:\]\(|src=\"|srcset=\")([^)#\"\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def anchors_of(page):
    """Of its headings, as GitHub and the site make them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = [re.sub(r"[^\w\s-]", "", heading.lower()) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    return {heading.strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_the_page_lead_to_headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([\w/.-]*)#([\w-]+)\)", text):
        assert anchor in anchors_of(page.parent / target if target else page), f"{target}#{anchor}"


def unmarked_commands(text):
    """Lines with a command in a block that says neither `sh` nor `console`."""
    fence, found = None, []
    for number, line in enumerate(text.splitlines(), start=1):
        begins = FENCE.match(line.strip())
        if fence is None and begins:
            fence, language = begins.group(1), begins.group(2)
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is not None and language == "" and re.match(r"(\$ )?(build/release/bin/)?dfcl ", line.strip()):
            found.append(number)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_hides_in_an_unmarked_block(page):
    assert unmarked_commands(page.read_text()) == []


def test_a_hidden_command_is_found():
    assert unmarked_commands("words\n```\ndfcl check\n```\n```sh\ndfcl a\n```") == [3]


def test_a_block_is_read_by_the_convention():
    page = "\n".join(
        [
            "```console", "$ dfcl a \\", "    --b", "output", "$ dfcl c", "```",
            "<!-- exit 7 -->", "```sh", "# words", "dfcl d", "dfcl e", "```",
            "<!-- not run: needs a file of yours -->", "```sh", "dfcl f", "```",
            "```toml", "dfcl = 1", "```",
            "<!-- file study.toml -->", "```toml", "[arms]", "control = 0", "```",
        ]
    )  # fmt: skip
    *commands, file = commands_of_page(page)
    assert file == File("study.toml", "[arms]\ncontrol = 0\n")
    assert [(command.line, command.number, command.code) for command in commands] == [("dfcl a --b", 2, 0), ("dfcl c", 5, 0), ("dfcl d", 10, 0), ("dfcl e", 11, 7)]


def test_a_command_that_fails_is_reported(dfcl):
    assert "exit code 2, expected 0" in problem_with(Command("dfcl no-such-verb", 1), dfcl)
    assert "exit code 0, expected 7" in problem_with(Command("build/release/bin/dfcl --version", 1, 7), dfcl)
    assert problem_with(Command("make no-such-target", 1), dfcl) == "no such target: ['no-such-target']"
    assert problem_with(Command("make test", 1), dfcl) is None
