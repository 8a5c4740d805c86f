# SPDX-License-Identifier: Apache-2.0
"""Texts of the library name fields, not flags: the caller writes them (dfcl/core/field.h)."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
COMMAND = re.compile(r"`dfcl [^`]*`")  # a command line to run, as it is typed
FLAG = re.compile(r"(?<![\w-])--[a-z]")
COMMENT = re.compile(r"(^|\s)// .*$")
# The table of keys says which flag sets a key; pages of docs/ are made of the others.
# The last line of a screen says how the program prints the rest; Python's texts say `.full` instead.
TABLES = {"dfcl/report/text/screen.cpp", "dfcl/data/study_key_table.cpp", "dfcl/data/study_keys.cpp", "dfcl/report/results/results_format.cpp"}


def test_no_text_of_the_library_spells_a_flag():
    found = []
    for path in sorted((ROOT / "dfcl").rglob("*.[hc]*")):
        name = str(path.relative_to(ROOT))
        if name in TABLES:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            texts = [COMMAND.sub("", text) for text in LITERAL.findall(COMMENT.sub("", line))]
            if any(FLAG.search(text) for text in texts):
                found.append(f"{name}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
