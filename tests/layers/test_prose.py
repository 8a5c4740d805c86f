# SPDX-License-Identifier: Apache-2.0
"""Pages in the field's words and idiomatic English; none is left out of the index, and none names a wrong version."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Made by programs, or records of what was once decided.
LEFT_ALONE = {"results-format.md", "study.md", "results.md", "guide-methods.md"}
ROOT_PAGES = [ROOT / name for name in ("README.md", "AGENTS.md", "SKILL.md", "SECURITY.md", "CONTRIBUTING.md")]
PAGES = [*ROOT_PAGES, *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name not in LEFT_ALONE)]

# What not to write: what to write instead.
BETTER = {
    r"what came of (it|them)": "their results",
    r"the way of the data": "data flow",
    r"\btells? (how|which|what|whether)\b": "says",
    r"\bis told\b": "is reported",
    r"\b(rows?|bytes|columns?|group|arm|panel|table|file|test|entry) an? (unit|row|method|arm|day|thread|increment|segment|page)\b": "per unit",
    r"revenue a unit of cost": "revenue per unit of cost",
    r"\bgoes on, aloud\b|\bsaid aloud\b": "warns",
    r"found out\b": "caught",
    r"no number any more": "NaN",
    r"\bparted at random\b": "randomised",
    r"\ban? other\b": "another",
    r"\bless (tsm|two-stage|control|TSM-SL)\b": "difference from",
}


def prose(page):
    """The page without code: fenced blocks and spans. Lines keep their numbers."""
    text = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), page.read_text(), flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`...`", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_is_idiomatic(page):
    found = [
        f"{page.name}:{number}: {match.group()!r}: rather {better!r}"
        for number, line in enumerate(prose(page).splitlines(), 1)
        for pattern, better in BETTER.items()
        for match in re.finditer(pattern, line, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)


NAMED = re.compile(r"(?<![\w./-])(?:dfcl|cli|python|tests|web|tools|bench|experiments|docs|cmake)/[\w/.-]*\w\.(?:h|cpp|py|md|ts|toml|sh|cmake)\b(?!\.\w)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_exist(page):
    missing = {name for name in NAMED.findall(page.read_text()) if not (ROOT / name).exists()}
    assert missing == set()


def test_equations_and_sections_that_sources_cite_exist():
    method = (ROOT / "docs/method.md").read_text()
    equations = set(re.findall(r"^\(eq\. (\d+[a-d]?)\)", method, re.MULTILINE))
    sections = set(re.findall(r"^#+ ([\d.]+?)\.? ", method, re.MULTILINE))
    wrong = []
    for source in sorted(p for p in (ROOT / "dfcl").rglob("*") if p.suffix in (".h", ".cpp")):
        text = source.read_text()
        cited = re.findall(r"\beq\. (\d+[a-d]?)\b", text)
        wrong += [f"{source.relative_to(ROOT)}: (eq. {number})" for number in cited if number not in equations]
        cited = re.findall(r"\bsection (\d+(?:\.\d+)?)\b", text)
        wrong += [f"{source.relative_to(ROOT)}: section {number}" for number in cited if number not in sections]
    assert not wrong, "\n".join(wrong)


def test_every_page_is_in_the_index_and_in_the_site():
    index, site = (ROOT / "docs/index.md").read_text(), (ROOT / "mkdocs.yml").read_text()
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page})" not in index} == set()
    assert {page for page in pages if f" {page}\n" not in site} == set()


def test_the_citation_names_this_version():
    (version,) = re.findall(r"project\(dfcl VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
