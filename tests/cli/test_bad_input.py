# SPDX-License-Identifier: Apache-2.0
"""Every bad input gets one clear message, the right exit code, and leaves no file behind."""

import gzip
import json
import os
import re
import resource
import signal
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet
import pytest

HEADER = "id,x,city,arm,revenue,cost"
STUDY = """format = 2
[data]
trial = "{trial}"
[columns]
id = "id"
arm = "arm"
revenue = "revenue"
cost = "cost"
[arms]
order = ["0", "5"]
"""

USAGE, DATA, FILE, INTERRUPTED = 2, 3, 4, 130


def good_rows(count=200):
    return [f"{i},{i % 7},{'Ulm' if i % 3 else 'Bern'},{5 * (i % 2)},1.5,0.25" for i in range(count)]


def csv(rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


def changed(line, text):
    rows = good_rows()
    rows[line] = text
    return csv(rows)


def gz_cut(text):
    import random

    noise = random.Random(1)
    rows = [f"{i},{noise.random()},Ulm,{5 * (i % 2)},{noise.random()},0" for i in range(20_000)]
    return gzip.compress(csv(rows).encode())[:-20_000]


def parquet_bytes():
    table = pa.table(
        {
            "id": list(range(200)),
            "x": [float(i) for i in range(200)],
            "city": ["Ulm"] * 200,
            "arm": [5 * (i % 2) for i in range(200)],
            "revenue": [1.0] * 200,
            "cost": [0.0] * 200,
        }
    )
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    return sink.getvalue().to_pybytes()


# what, file name, its bytes or text (None: no file), study (None: the plain one), exit code, what the message must say
BAD_TRIALS = [
    ("missing file", "t.csv", None, None, FILE, r"t\.csv.*no such file"),
    ("empty file", "t.csv", "", None, DATA, r"t\.csv.*empty"),
    ("header only", "t.csv", HEADER + "\n", None, DATA, r"no rows"),
    ("header only, no line end", "t.csv", HEADER, None, DATA, r"no rows"),
    ("truncated gzip", "t.csv.gz", gz_cut("x"), None, FILE, r"t\.csv\.gz.*cannot read"),
    ("truncated parquet", "t.parquet", parquet_bytes()[:-300], None, FILE, r"t\.parquet.*cannot read"),
    ("damaged parquet", "t.parquet", parquet_bytes()[:40] + b"\x00" * 40 + parquet_bytes()[80:], None, FILE, r"t\.parquet"),
    ("not a table", "t.csv", b"\x00\x01\x02\x03\x04\x05\x06\x07", None, FILE, r"t\.csv.*unknown kind of file"),
    ("too few fields", "t.csv", changed(40, "40,1,Ulm"), None, DATA, r"t\.csv:42: .*wrong number of fields.*found 3 fields, expected 6"),
    ("text in a numeric column", "t.csv", changed(40, "40,oops,Ulm,0,1,0"), "x_number", DATA, r"t\.csv:42, column 'x'.*'oops'.*a number"),
    ("text as revenue", "t.csv", changed(40, "40,1,Ulm,0,much,0"), None, DATA, r"t\.csv:42, column 'revenue'.*'much'"),
    ("infinite revenue", "t.csv", changed(40, "40,1,Ulm,0,inf,0"), None, DATA, r"t\.csv:42, column 'revenue'.*inf"),
    ("NaN revenue", "t.csv", changed(40, "40,1,Ulm,0,nan,0"), None, DATA, r"t\.csv:42, column 'revenue'.*nan"),
    ("infinite cost", "t.csv", changed(40, "40,1,Ulm,0,1,-inf"), None, DATA, r"t\.csv:42, column 'cost'.*-inf"),
    ("no id", "t.csv", changed(40, ",1,Ulm,0,1,0"), None, DATA, r"t\.csv:42, column 'id'.*without an id"),
    ("null arm", "t.csv", changed(40, "40,1,Ulm,,1,0"), None, DATA, r"t\.csv:42, column 'arm'.*no arm"),
    ("unknown arm", "t.csv", changed(40, "40,1,Ulm,50,1,0"), None, DATA, r"t\.csv:42, column 'arm'.*'50'.*one of 0, 5"),
    ("one arm only", "t.csv", csv([row.replace(",5,1.5", ",0,1.5") for row in good_rows()]), "no_order", DATA, r"one arm only"),
    ("few units in an arm", "t.csv", csv(good_rows(50)), None, DATA, r"too few units in arm.*25.*at least 30"),
    ("duplicated column", "t.csv", csv(good_rows(), HEADER.replace("city", "x")), None, DATA, r"t\.csv.*duplicated column name.*'x'"),
    ("a quote never closed", "t.csv", changed(40, '40,1,"Ulm,0,1,0'), None, DATA, r"t\.csv:42: a quote that is never closed"),
    ("a quote never closed in the header", "t.csv", '"' + csv(good_rows()), None, DATA, r"t\.csv.*quote in the header"),
    ("line ends of an old kind", "t.csv", csv(good_rows()).replace("\n", "\r"), None, DATA, r"t\.csv.*carriage return"),
    ("a column name that is not UTF-8", "t.csv", csv(good_rows()).encode().replace(b"city", b"caf\xe9"), None, DATA, r"t\.csv.*column name that is not UTF-8"),
    ("too many columns", "t.csv", "," * 2_000_000 + "\n", None, DATA, r"t\.csv.*too many columns: found 2000001"),
    ("a zero byte", "t.csv", changed(40, "40,1,U\0m,0,1,0"), None, FILE, r"t\.csv.*zero byte"),
    ("bad row after blank lines and a line end in a value", "t.csv", "\n\n" + changed(40, '40,1,"U\nm",0,1,0\n41,1,Ulm'), None, DATA, r"t\.csv:46: .*found 3 fields"),
    ("gzip with something after it", "t.csv.gz", gzip.compress(csv(good_rows()).encode()) + b"more", None, FILE, r"t\.csv\.gz.*cannot read"),
    ("not UTF-8", "t.csv", changed(40, "40,1,@@,0,1,0").encode().replace(b"@@", b"\xff\xfe"), None, DATA, r"t\.csv:42.*UTF-8"),
]

STUDIES = {
    None: STUDY,
    "no_order": STUDY.replace("[arms]", "").replace('order = ["0", "5"]', ""),
    "x_number": STUDY + "[split]\ntrain = 0.6\n",
}


@pytest.mark.parametrize("what,name,contents,study,code,message", BAD_TRIALS, ids=[case[0] for case in BAD_TRIALS])
def test_bad_trial(dfcl, tmp_path, what, name, contents, study, code, message):
    if contents is not None:
        (tmp_path / name).write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    if what == "text in a numeric column":  # the column must look numeric from its first megabyte on
        rows = good_rows(60_000)
        rows[50_000] = "50000,oops,Ulm,0,1,0"
        (tmp_path / name).write_text(csv(rows))
        message = message.replace(":42", ":50002")
    (tmp_path / "study.toml").write_text(STUDIES[study].replace("{trial}", name))
    before = sorted(path.name for path in tmp_path.iterdir())
    result = dfcl("check", "study.toml")
    assert result.code == code, result.stderr
    assert re.search(message, result.stderr, re.S), result.stderr
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) <= 2, "one message and one hint"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


BAD_STUDIES = [
    ("unknown column", 'revenue = "revenue"', 'revenue = "revenu"', DATA, r"no column 'revenu', named by \[columns\] revenue.*did you mean 'revenue'"),
    ("unknown key", 'arm = "arm"', 'arm = "arm"\nrevenues = "x"', USAGE, r"study\.toml:7.*unknown key 'revenues' in \[columns\].*did you mean 'revenue'"),
    ("unknown section", "[arms]", "[armss]", USAGE, r"unknown section \[armss\].*did you mean 'arms'"),
    ("features match nothing", 'id = "id"', 'id = "id"\nfeatures = ["nope_*"]', DATA, r"no features.*nope_\*"),
    ("mistyped exclude", 'id = "id"', 'id = "id"\nexclude = ["citty"]', DATA, r"no column 'citty', named by \[columns\] exclude.*did you mean 'city'"),
    ("not TOML", "[arms]", "[arms", USAGE, r"study\.toml:9"),
    ("wrong type", 'arm = "arm"', "arm = true", USAGE, r"study\.toml:6, \[columns\] arm.*wrong type"),
    ("two roles", 'cost = "cost"', 'cost = "revenue"', USAGE, r"two roles"),
    ("no cost", 'cost = "cost"', "", USAGE, r"cost must be said in one way"),
    ("split does not add up", "[arms]", "[split]\ntrain = 0.9\n[arms]", USAGE, r"shares do not add up"),
    ("designed shares do not add up", "[arms]", '[arms]\nshare = { "0" = 0.5, "5" = 0.4 }', USAGE, r"shares do not add up"),
    ("control not an arm", "[arms]", '[arms]\ncontrol = "1"', USAGE, r"arm '1' is not in \[arms\] order"),
]


@pytest.mark.parametrize("what,old,new,code,message", BAD_STUDIES, ids=[case[0] for case in BAD_STUDIES])
def test_bad_study(dfcl, tmp_path, what, old, new, code, message):
    (tmp_path / "t.csv").write_text(csv(good_rows()))
    assert old in STUDY
    (tmp_path / "study.toml").write_text(STUDY.replace(old, new).replace("{trial}", "t.csv"))
    result = dfcl("check", "study.toml")
    assert result.code == code, result.stderr
    assert re.search(message, result.stderr, re.S), result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2
    assert result.stdout == ""


@pytest.mark.parametrize("trial", ["/dev/null", "/dev/stdin", "t.csv\\u0000", "\\u0000"])
def test_what_is_no_plain_file_is_refused(dfcl, tmp_path, trial):
    (tmp_path / "t.csv").write_text(csv(good_rows()))
    (tmp_path / "study.toml").write_text(STUDY.replace("{trial}", trial))
    result = dfcl("check", "study.toml", stdin=subprocess.DEVNULL)
    assert result.code == FILE, result.stderr
    assert re.search("not a plain file|zero byte in the name", result.stderr)


GOOD_TEXTS = [
    ("mark of UTF-8", "\ufeff" + csv(good_rows())),
    ("line ends of Windows", csv(good_rows()).replace("\n", "\r\n")),
    ("blank lines", "\n\r\n" + csv(good_rows()).replace("\n", "\n\n")),
    ("inches", changed(40, '40,1,5" pipe,0,1,0')),
    ("quoted separators and line ends", csv(good_rows()).replace("Ulm", '"Ulm,\nD"')),
    ("a header over two lines", csv(good_rows(), HEADER.replace("city", '"city\nname"'))),
    ("separators in quoted names", csv(good_rows(), HEADER.replace("city", '"city; or ; town ; or ; village;"'))),
    ("a nameless column", csv(good_rows(), HEADER.replace("city", ""))),
]


@pytest.mark.parametrize("text", [text for _, text in GOOD_TEXTS], ids=[what for what, _ in GOOD_TEXTS])
def test_text_files_of_all_kinds_are_read(dfcl, tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    (tmp_path / "study.toml").write_text(STUDY.replace("{trial}", "t.csv"))
    result = dfcl("check", "study.toml", "--json")
    assert result.code == 0, result.stderr
    assert '"num_units": 200' in result.stdout or '"units": 200' in result.stdout


def test_a_header_of_megabytes_is_read_whole(dfcl, tmp_path):
    names = [f"a_feature_with_a_long_name_{i}" for i in range(60_000)]
    rows = [f"{i},{5 * (i % 2)},1,0," + ",".join(["1.5"] * len(names)) for i in range(2)]
    (tmp_path / "t.csv").write_text(csv(rows, ",".join(["id", "arm", "revenue", "cost", *names])))
    summary = json.loads(dfcl("info", "t.csv", "--json").stdout)
    assert len(summary["columns"]) == 60_004
    assert summary["columns"][-1]["name"] == names[-1]
    assert summary["columns"][-1]["type"] == "double"


def test_metadata_nested_without_end_does_no_harm(dfcl, tmp_path):
    depth = 200_000
    note = '{"kind": "trial", "verb": "x", "options": {"a": 1, "b": ' + "[" * depth + "]" * depth + "}}"
    table = pa.table({"x": [1.0]}).replace_schema_metadata({"dfcl": note})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    result = dfcl("info", "t.arrow")
    assert result.code == 0, result.stderr
    assert "a 1" in result.stdout


def test_a_trial_whose_outcomes_are_all_missing(dfcl, tmp_path):
    table = pa.table({"arm": [5 * (i % 2) for i in range(200)], "revenue": pa.nulls(200), "cost": [1.0] * 200, "x": [1.0] * 200})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "study.toml").write_text(STUDIES["no_order"].replace('id = "id"', "").replace("{trial}", "t.parquet"))
    result = dfcl("check", "study.toml")
    assert result.code == DATA, result.stderr


def test_bad_override(dfcl, tmp_path):
    (tmp_path / "t.csv").write_text(csv(good_rows()))
    (tmp_path / "study.toml").write_text(STUDY.replace("{trial}", "t.csv"))
    result = dfcl("check", "study.toml", "--set", "split.trian=0.7")
    assert result.code == USAGE
    assert "did you mean 'train'" in result.stderr
    assert dfcl("check", "study.toml", "--set", "split.train=0.7", "--set", "split.validation=0.0").code == 0


def test_missing_study(dfcl):
    result = dfcl("check", "nowhere.toml")
    assert result.code == FILE
    assert "nowhere.toml" in result.stderr


SIMULATE = ["simulate", "--preset", "criteo", "--seed", "1"]


def test_output_folder_absent(dfcl, tmp_path):
    result = dfcl(*SIMULATE, "--rows", "100", "-o", "nowhere/trial.parquet")
    assert result.code == FILE
    assert "the folder does not exist" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_output_folder_read_only(dfcl, tmp_path):
    if os.geteuid() == 0:
        folder = "/proc"  # root may write anywhere but here
    else:
        (tmp_path / "locked").mkdir(mode=0o555)
        folder = str(tmp_path / "locked")
    result = dfcl(*SIMULATE, "--rows", "100", "-o", f"{folder}/trial.parquet")
    assert result.code == FILE
    assert "cannot write" in result.stderr


def test_unknown_ending(dfcl, tmp_path):
    result = dfcl(*SIMULATE, "--rows", "100", "-o", "trial.xlsx")
    assert result.code == USAGE
    assert ".parquet" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["trial.csv", "trial.parquet", "trial.arrow"])
def test_disk_full_keeps_what_was_there(dfcl, tmp_path, name):
    # A limit on the size of a file fails a write as a full disk does.
    (tmp_path / name).write_text("what was there before")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    result = dfcl(*SIMULATE, "--rows", "200000", "-o", name, preexec_fn=limit)
    assert result.code == FILE, result.stderr
    assert "cannot write" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "what was there before"


def test_disk_full_for_real(dfcl, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting a small disk needs more rights")
    try:
        result = dfcl(*SIMULATE, "--rows", "200000", "-o", disk / "trial.parquet")
        assert result.code == FILE, result.stderr
        assert "No space left" in result.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_interrupt_leaves_nothing_behind(dfcl, tmp_path):
    process = dfcl.start(*SIMULATE, "--rows", "500000000", "-o", "trial.parquet", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size > 0 for path in tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert "interrupted" in stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_lies_about_its_rows_is_refused(dfcl, tmp_path):
    """Every flipped byte of a small Parquet and Arrow file is refused, or read with no crash."""
    table = pa.table({"arm": [5 * (i % 2) for i in range(200)], "revenue": [1.0] * 200, "cost": [0.0] * 200, "x": ["a"] * 200})
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    files = {"t.parquet": sink.getvalue().to_pybytes()}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    files["t.arrow"] = sink.getvalue().to_pybytes()
    for name, whole in files.items():
        (tmp_path / "study.toml").write_text(STUDIES["no_order"].replace('id = "id"', "").replace("{trial}", name))
        step = max(1, len(whole) // 60)
        for position in range(0, len(whole), step):
            damaged = bytearray(whole)
            damaged[position] ^= 0xFF
            (tmp_path / name).write_bytes(damaged)
            result = dfcl("check", "study.toml")
            assert result.code in (0, DATA, FILE, 7), (name, position, result.code, result.stderr)


@pytest.mark.parametrize("said", (1_100, 900))
def test_a_parquet_file_of_fewer_or_more_rows_than_it_says_is_refused(dfcl, tmp_path, said):
    """The file's own count of rows, not that of its parts, is changed: room is made by it before rows are read."""
    rows = 1_000
    numbers = {"arm": [5 * (i % 2) for i in range(rows)], "revenue": [1.0] * rows, "cost": [0.0] * rows}
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(numbers | {"x": [float(i) for i in range(rows)]}), sink)
    whole = sink.getvalue().to_pybytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    count = b"\x16" + varint(2 * rows)
    at = whole.index(count + b"\x19", footer)  # field 3, and the list of row groups after it
    damaged = whole[:at] + b"\x16" + varint(2 * said) + whole[at + len(count) :]
    (tmp_path / "t.parquet").write_bytes(damaged)
    (tmp_path / "study.toml").write_text(STUDIES["no_order"].replace('id = "id"', "").replace("{trial}", "t.parquet"))
    result = dfcl("check", "study.toml")
    assert result.code in (DATA, FILE)
    assert re.search(r"t\.parquet.*another number of rows than it says", result.stderr), result.stderr


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])
