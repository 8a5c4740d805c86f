# SPDX-License-Identifier: Apache-2.0
"""`serve`: its numbers are those of `allocate`, and nothing but its own page gets anything from it."""

import http.client
import json
import random
import signal
import socket
import subprocess
import threading
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import DISCOUNTS, answer, good

UNITS = 1500
SEED = 20


class Served:
    """A running `dfcl serve`; `post` and `get` go through its token."""

    def __init__(self, dfcl, *arguments):
        self.process = dfcl.start(
            "serve", *arguments, "--no-browser", "--threads", 2, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        line = self.process.stdout.readline()
        assert line.startswith("http://127.0.0.1:"), (line, self.process.stderr.read() if not line else "")
        parts = urlsplit(line.strip())
        self.host, self.port, self.base = parts.hostname, parts.port, parts.path

    def request(self, method, path, body=None, headers=None, timeout=30):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return reply.status, reply.read(), dict(reply.getheaders())
        finally:
            connection.close()

    def get(self, what, **options):
        return self.request("GET", self.base + what, **options)

    def solve(self, **settings):
        status, body, _ = self.request(
            "POST", self.base + "solve", json.dumps(settings), {"Content-Type": "application/json"}
        )
        return status, json.loads(body)

    def raw(self, data, timeout=5):
        """What comes back for these bytes; b"" where the connection is closed."""
        with socket.create_connection((self.host, self.port), timeout=timeout) as one:
            try:
                one.sendall(data)
                return one.recv(65536)
            except (ConnectionError, socket.timeout):
                return b""

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(timeout=20)
        finally:
            self.process.kill()
            self.process.stdout.close()
            self.process.stderr.close()


@pytest.fixture(scope="module")
def world(run_in, tmp_path_factory):
    """Predictions with a segment column, who may get what, and a second resource."""
    dfcl = run_in(tmp_path_factory.mktemp("serve"))
    good(dfcl("simulate", "--preset", "marketing", "--rows", UNITS, "--seed", 3, "-o", "trial.parquet", "--truth", "truth.parquet"))
    table = pq.read_table(dfcl.folder / "truth.parquet")
    draw = random.Random(SEED)
    table = table.append_column("region", pa.array([draw.choice(["north", "south", "<b>west</b>"]) for _ in range(UNITS)]))
    pq.write_table(table, dfcl.folder / "predictions.parquet")
    ids = table["id"]
    eligible = {f"eligible_{arm}": [int(draw.random() < 0.8) for _ in range(UNITS)] for arm in DISCOUNTS[1:]}
    pq.write_table(pa.table({"id": ids, **eligible}), dfcl.folder / "eligible.parquet")
    second = {f"cost_{arm}": [place * draw.random() for _ in range(UNITS)] for place, arm in enumerate(DISCOUNTS)}
    pq.write_table(pa.table({"id": ids, **second}), dfcl.folder / "second.parquet")
    return dfcl


@pytest.fixture(scope="module")
def served(world):
    one = Served(world, "predictions.parquet", "--segment", "region", "--eligible", "eligible.parquet", "--second-cost", "second.parquet")
    yield one
    assert one.end() == 0


def random_settings(draw):
    settings = {"budget": round(draw.uniform(0, 800), 2), "worth": round(draw.uniform(0.1, 3), 2), "objective": draw.choice(["revenue", "profit"])}
    if draw.random() < 0.3:
        settings["min_roi"] = round(draw.uniform(0, 5), 2)
    if draw.random() < 0.3:
        settings["keep_eligibility"] = False
    kind = draw.random()
    if kind < 0.12:
        settings["max_units"] = [None, draw.randrange(400), None, draw.randrange(300), None]
    elif kind < 0.2:
        settings["min_units"] = [None, None, draw.randrange(1, 40), None, None]
    elif kind < 0.3:
        settings["segment_budgets"] = [round(draw.uniform(0, 300), 2), None, round(draw.uniform(0, 300), 2)]
    elif kind < 0.38:
        settings["second_budget"] = round(draw.uniform(50, 800), 2)
    return settings


def allocate_words(folder, settings):
    words = ["predictions.parquet", "--budget", settings["budget"], "--per-revenue", settings["worth"], "--objective", settings["objective"]]
    if "min_roi" in settings:
        words += ["--min-roi", settings["min_roi"]]
    if settings.get("keep_eligibility", True):
        words += ["--eligible", "eligible.parquet"]
    for key, flag in (("max_units", "--max-units"), ("min_units", "--min-units")):
        for arm, units in zip(DISCOUNTS, settings.get(key, [])):
            words += [flag, f"{arm}={units}"] if units is not None else []
    if "segment_budgets" in settings:
        segments = ["<b>west</b>", "north", "south"]
        rows = [(name, budget) for name, budget in zip(segments, settings["segment_budgets"]) if budget is not None]
        pq.write_table(pa.table({"segment": [row[0] for row in rows], "budget": [row[1] for row in rows]}), folder / "budgets.parquet")
        words += ["--segment", "region", "--segment-budgets", "budgets.parquet"]
    if "second_budget" in settings:
        words += ["--second-cost", "second.parquet", "--second-budget", settings["second_budget"]]
    return words


def test_numbers_are_those_of_allocate_for_200_random_settings(world, served):
    draw = random.Random(SEED)
    for _ in range(200):
        settings = random_settings(draw)
        status, reply = served.solve(**settings)
        assert status == 200, (SEED, settings, reply)
        told = world("allocate", *allocate_words(world.folder, settings), "--json", "--quiet")
        assert told.code in (0, 6), told.stderr
        wanted = json.loads(told.stdout)
        for key in ("seconds", "evaluated"):
            wanted.pop(key, None)
            reply["plan"].pop(key, None)
        assert reply["plan"] == wanted, (SEED, settings)


def test_who_changes_is_counted_from_the_pinned_plan(served):
    assert served.solve(budget=100, pin=True)[0] == 200
    plan = served.solve(budget=100)[1]
    arms = plan["plan"]["units_per_arm"]
    assert plan["moves"] == [[arms[to] if to == arm else 0 for to in DISCOUNTS] for arm in DISCOUNTS]
    more = served.solve(budget=700)[1]
    assert [sum(row) for row in more["moves"]] == list(arms.values())
    assert [sum(column) for column in zip(*more["moves"])] == list(more["plan"]["units_per_arm"].values())


def test_a_plan_downloads_as_allocate_writes_it(world, served):
    reply = served.solve(budget=300, keep_eligibility=False)[1]
    good(world("allocate", "predictions.parquet", "--budget", 300, "-o", "plan.csv", "--quiet"))
    status, body, headers = served.get(f"plan/{reply['id']}.csv")
    assert status == 200 and headers["Content-Disposition"] == 'attachment; filename="plan.csv"'
    assert body == (world.folder / "plan.csv").read_bytes()
    status, body, _ = served.get(f"plan/{reply['id']}.parquet")
    assert status == 200
    table = pq.read_table(pa.BufferReader(body))
    assert table.num_rows == UNITS and table.column_names == ["id", "arm", "revenue", "cost"]
    assert served.get("plan/999999.csv")[0] == 404


def test_a_budget_that_cannot_be_met_is_an_answer(served):
    status, reply = served.solve(budget=0, min_units=[None, None, None, None, 1400])
    assert status == 200 and reply["plan"]["status"] == "cannot be met" and "spend" not in reply["plan"]


def test_the_page_says_what_a_browser_must_not_do(served):
    status, body, headers = served.get("")
    assert status == 200 and b"<!doctype html>" in body[:200]
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store" and "Access-Control-Allow-Origin" not in headers
    assert b"<b>west</b>" not in body and b"http://" not in body.replace(b"http://www.w3.org/", b"")


def hostile_requests(served, draw):
    """Bytes that must not be served; some endless, some cut, some nearly right."""
    base, host = served.base, f"{served.host}:{served.port}"
    head = f"Host: {host}\r\n"
    post = f"POST {base}solve HTTP/1.1\r\n{head}Content-Type: application/json\r\n"

    def posted(body, more=""):
        return f"{post}{more}Content-Length: {len(body)}\r\n\r\n{body}".encode()

    deep = "[" * 30000
    kinds = [
        lambda: f"GET /{draw.randbytes(16).hex()}/ HTTP/1.1\r\n{head}\r\n".encode(),
        lambda: f"GET {base[:-2]}/ HTTP/1.1\r\n{head}\r\n".encode(),
        lambda: f"GET / HTTP/1.1\r\n{head}\r\n".encode(),
        lambda: f"GET {base} HTTP/1.1\r\nHost: evil.example:{served.port}\r\n\r\n".encode(),
        lambda: f"GET {base} HTTP/1.1\r\n\r\n".encode(),
        lambda: f"GET {base} HTTP/1.1\r\n{head}{head}\r\n".encode(),
        lambda: f"GET {base} HTTP/1.1\r\n{head}Origin: http://evil.example\r\n\r\n".encode(),
        lambda: f"POST {base}solve HTTP/1.1\r\n{head}Origin: null\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode(),
        lambda: f"POST {base}solve HTTP/1.1\r\n{head}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}".encode(),
        lambda: f"{draw.choice(['PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'HEAD', 'CONNECT'])} {base} HTTP/1.1\r\n{head}\r\n".encode(),
        lambda: f"GET {base}{draw.choice(['../etc/passwd', 'plan/../../etc/passwd', 'plan/1.csv/..', '%2e%2e/x', 'plan/-1.csv', 'plan/1', 'index.html', 'solve'])} HTTP/1.1\r\n{head}\r\n".encode(),
        lambda: f"{post}Content-Length: 1000000000\r\n\r\n{{".encode(),
        lambda: f"{post}Content-Length: -5\r\n\r\n{{}}".encode(),
        lambda: posted("{" * draw.randrange(1, 60000)),
        lambda: posted(deep),
        lambda: posted('{"budget": "1"}'),
        lambda: posted('{"budget": 1e999}'),
        lambda: posted('{"worth": -1}'),
        lambda: posted('{"min_units": [1,2]}'),
        lambda: posted('{"max_units": [null,1.5,null,null,null]}'),
        lambda: posted('{"segment_budgets": [1,2,3,4,5,6,7,8]}'),
        lambda: posted('{"predictions": "/etc/passwd"}'),
        lambda: posted('{"budget": 1'),
        lambda: posted("\x00" * 20),
        lambda: f"GET {base} HTTP/1.1\r\n{head}X: {'a' * 20000}\r\n\r\n".encode(),
        lambda: f"GET {base}{'a' * 20000} HTTP/1.1\r\n{head}\r\n".encode(),
        lambda: draw.randbytes(200) + b"\r\n\r\n",
        lambda: f"GET {base} HTTP/9.9\r\n{head}\r\n".encode(),
        lambda: f"{post}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n".encode(),
    ]
    return kinds


def test_1000_hostile_requests_are_refused_and_it_still_serves(world, served):
    draw = random.Random(SEED)
    kinds = hostile_requests(served, draw)
    before = {file.name for file in world.folder.iterdir()}
    for number in range(1000):
        data = kinds[number % len(kinds)]()
        if number % 9 == 0:
            data = data[: draw.randrange(1, len(data))]  # cut
            with socket.create_connection((served.host, served.port), timeout=5) as one:
                one.sendall(data)
            continue
        reply = served.raw(data, timeout=0.5 if b"chunked" in data or b"1000000000" in data else 5)
        assert not reply.startswith(b"HTTP/1.1 2"), (SEED, number, data[:200], reply[:200])
    assert served.get("")[0] == 200
    assert served.solve(budget=5)[0] == 200
    assert {file.name for file in world.folder.iterdir()} == before


def test_slow_requests_do_not_keep_others_waiting(served):
    slow = [socket.create_connection((served.host, served.port), timeout=5) for _ in range(50)]
    try:
        for one in slow:
            one.sendall(b"GET / HT")
        assert served.get("", timeout=5)[0] == 200
    finally:
        for one in slow:
            one.close()


def test_the_newest_of_many_moves_is_answered(served):
    """Every request gets an answer or a word that a newer one came; the last is answered."""
    replies = []
    threads = [threading.Thread(target=lambda budget=budget: replies.append(served.solve(budget=budget))) for budget in range(40)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(replies) == 40
    assert all(status == 200 and ("plan" in reply or reply == {"stale": True}) for status, reply in replies)
    assert "plan" in served.solve(budget=41)[1]


def test_a_folder_with_results_is_a_report(world, tmp_path):
    (tmp_path / "results.json").write_text('{"format": "dfcl-results", "format_version": 1, "report": {"title": "Finished"}}')
    one = Served(world, tmp_path)
    try:
        status, body, headers = one.get("")
        assert status == 200 and b"<title>Finished</title>" in body
        assert "script-src 'sha256-" in headers["Content-Security-Policy"]
        assert one.request("POST", one.base + "solve", "{}", {"Content-Type": "application/json"})[0] in (404, 405)
    finally:
        assert one.end() == 0


def test_a_model_with_units_is_served(world, tmp_path):
    good(world("simulate", "--preset", "marketing", "--rows", 1500, "--seed", 4, "-o", "again.parquet", "--study", "again.toml"))
    good(world("train", "again.toml", "--method", "tsm", "--epochs", 1, "--quiet", "-o", "model.safetensors"))
    one = Served(world, "model.safetensors", "again.parquet", "--segment", "brand_type")
    try:
        status, reply = one.solve(budget=100)
        assert status == 200
        wanted = answer(world("allocate", "model.safetensors", "again.parquet", "--budget", 100, "--json", "--quiet"))
        assert reply["plan"]["spend"] == wanted["spend"] and reply["plan"]["value"] == wanted["value"]
    finally:
        assert one.end() == 0


def test_other_machines_are_let_in_only_with_a_token(world):
    refused = world("serve", "predictions.parquet", "--listen", "0.0.0.0", "--seconds", 0)
    assert refused.code == 2 and "--token" in refused.stderr
    everywhere = world("serve", "predictions.parquet", "--listen", "0.0.0.0", "--token", "a" * 16, "--seconds", 0)
    assert everywhere.code == 2 and "one address" in everywhere.stderr
    own = good(world("serve", "predictions.parquet", "--listen", "127.0.0.2", "--token", "a" * 16, "--seconds", 0))
    assert own.stdout.startswith("http://127.0.0.2:") and own.stdout.strip().endswith("/" + "a" * 16 + "/")
    assert good(world("serve", "predictions.parquet", "--seconds", 0)).stdout.startswith("http://127.0.0.1:")


def test_downloads_wait_their_turn_whatever_moves_come(served):
    plan = served.solve(budget=250)[1]["id"]
    wanted = served.get(f"plan/{plan}.csv")[1]
    downloads, moves = [], []
    threads = []
    for number in range(8):
        threads.append(threading.Thread(target=lambda: downloads.append(served.get(f"plan/{plan}.csv")[:2])))
        threads.append(threading.Thread(target=lambda budget=number: moves.append(served.solve(budget=budget))))
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert downloads == [(200, wanted)] * 8
    assert len(moves) == 8 and all(status == 200 for status, _ in moves)


def test_a_served_plan_says_what_the_plan_of_allocate_says(world, tmp_path):
    """Prices, currency, unit, model and the columns that travel: readout needs nothing more."""
    study = tmp_path / "study.toml"
    good(world("simulate", "--preset", "marketing", "--rows", 1500, "--seed", 5, "-o", tmp_path / "trial.parquet", "--study", study))
    words = '[arms]\ncost = {{ {} }}\n'.format(", ".join(f'"{arm}" = {place / 10}' for place, arm in enumerate(DISCOUNTS)))
    text = study.read_text()
    text = text.replace("[arms]\n", words) if "[arms]\n" in text else text + words
    text = text.replace('cost = "subsidy"', 'exclude = ["subsidy"]')
    study.write_text(text + '\n[report]\ncurrency = "EUR"\nunit = "shop"\nsegments = ["brand_type"]\n')
    good(world("train", study, "--method", "tsm", "--epochs", 1, "--quiet", "-o", tmp_path / "model.safetensors"))
    good(world("predict", tmp_path / "model.safetensors", tmp_path / "trial.parquet", "-o", tmp_path / "predictions.parquet"))
    good(world("allocate", tmp_path / "predictions.parquet", "--budget", 90, "--per-revenue", 2, "--max-units", f"{DISCOUNTS[2]}=40", "-o", tmp_path / "plan.parquet"))
    wanted = pq.read_table(tmp_path / "plan.parquet")
    one = Served(world, tmp_path / "predictions.parquet")
    try:
        limits = [40 if arm == DISCOUNTS[2] else None for arm in DISCOUNTS]
        number = one.solve(budget=90, worth=2, max_units=limits)[1]["id"]
        served = pq.read_table(pa.BufferReader(one.get(f"plan/{number}.parquet")[1]))
        assert "EUR" in one.get("")[1].decode()
    finally:
        assert one.end() == 0
    assert served.equals(wanted) and "brand_type" in served.column_names

    def facts(table):
        said = {key.decode(): value.decode() for key, value in table.schema.metadata.items() if b"ARROW" not in key}
        made = json.loads(said.pop("dfcl"))
        assert made.pop("verb") in ("allocate", "serve")
        return {**said, **made}

    assert facts(served) == facts(wanted)
    assert facts(served)["options"]["currency"] == "EUR" and facts(served)["options"][f"price_{DISCOUNTS[1]}"] == "0.1"
