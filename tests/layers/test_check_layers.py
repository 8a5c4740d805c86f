# SPDX-License-Identifier: Apache-2.0
"""The layer check fails on what it must fail on."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


@pytest.fixture
def house(tmp_path):
    """A small checkout in order: four rooms and a program."""
    (tmp_path / "CMakeLists.txt").write_text(
        "# SPDX-License-Identifier: Apache-2.0\n"
        "dfcl_room(core)\n"
        "dfcl_room(data USES core)\n"
        "dfcl_room(io USES core data PRIVATE_LIBRARIES dfcl_arrow)\n"
        "dfcl_room(check USES core data)\n"
    )
    write(tmp_path, "dfcl/core/error.h", "#include <string>\n")
    write(tmp_path, "dfcl/data/trial.h", '#include "dfcl/core/error.h"\n')
    write(tmp_path, "dfcl/io/reader.cpp", '#include <arrow/api.h>\n#include "dfcl/data/trial.h"\n')
    write(tmp_path, "dfcl/check/check.h", '#include "dfcl/data/trial.h"\n')
    write(tmp_path, "cli/main.cpp", '#include "dfcl/check/check.h"\n#include "dfcl/io/reader.h"\n')
    return tmp_path


def write(root, path, text, licence=LICENCE):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(licence + text)


def run(root):
    done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_house_in_order_passes(house):
    assert run(house) == (0, "layers, confined libraries and licence lines are in order\n")


@pytest.mark.parametrize(
    "path, text, complaint",
    [
        ("dfcl/core/up.h", '#include "dfcl/data/trial.h"\n', "dfcl/core/up.h:2: room 'core' may not use 'data'"),
        ("dfcl/check/side.cpp", '#include "dfcl/io/reader.h"\n', "room 'check' may not use 'io'"),
        ("dfcl/data/program.h", '#include "cli/session.h"\n', "room 'data' may not use 'cli'"),
        ("dfcl/check/arrow.cpp", "#include <arrow/table.h>\n", "only io may include <arrow/table.h>"),
        ("dfcl/data/toml.cpp", "  # include <toml++/toml.h>\n", "only io may include <toml++/toml.h>"),
        ("dfcl/utils/odds.h", "", "dfcl/utils: not a room of the layers"),
        ("cli/odd.cpp", '#include "dfcl/utils/odds.h"\n', "'utils' is not a room of the layers"),
    ],
)
def test_a_forbidden_include_fails(house, path, text, complaint):
    write(house, path, text)
    code, output = run(house)
    assert code == 1
    assert complaint in output


@pytest.mark.parametrize(
    "line, complaint",
    [
        ("dfcl_room(simulate USES core io)", "room 'simulate' may not use 'io'"),
        ("dfcl_room(utils USES core)", "room 'utils' is not in the layers"),
        ("dfcl_room(loss USES core helper)", "room 'loss' uses 'helper', which is not in the layers"),
    ],
)
def test_a_forbidden_use_in_cmake_fails(house, line, complaint):
    with (house / "CMakeLists.txt").open("a") as file:
        file.write(line + "\n")
    code, output = run(house)
    assert code == 1
    assert complaint in output


def test_an_include_that_cmake_does_not_declare_fails(house):
    text = (house / "CMakeLists.txt").read_text()
    (house / "CMakeLists.txt").write_text(text.replace("dfcl_room(check USES core data)", "dfcl_room(check USES core)"))
    code, output = run(house)
    assert code == 1
    assert "'data' is not in the USES list of room 'check'" in output


def test_a_missing_licence_line_fails(house):
    write(house, "dfcl/core/bare.cpp", "int x;\n", licence="")
    code, output = run(house)
    assert code == 1
    assert "dfcl/core/bare.cpp:1: no line 'SPDX-License-Identifier: Apache-2.0' on top" in output
