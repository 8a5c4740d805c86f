# SPDX-License-Identifier: Apache-2.0
"""`init` looks at the data: made-up trials whose right study is known, and real ones where the user has them."""

import csv
import json
import random

import pytest
from test_real_trials import find_trial

import tomllib


def write_trial(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0])
        writer.writeheader()
        writer.writerows(rows)


def shop(numbers, arm):
    """A customer whose features go together, and who buys more with an offer. Names say little, and mislead."""
    wealth = numbers.gauss(0, 1)
    bought = numbers.random() < 0.15 + 0.15 * (arm != "none") + 0.05 * (wealth > 0)
    amount = round(numbers.expovariate(0.05), 2) if bought else 0
    return {
        "income": round(30_000 + 9_000 * wealth + 4_000 * numbers.gauss(0, 1)),
        "cost_sensitive": int(wealth + numbers.gauss(0, 1) < 0),
        "loyal": "yes" if wealth + numbers.gauss(0, 1) > 0.5 else "no",
        "tier": numbers.choice("abc"),
        "age": -999 if numbers.random() < 0.1 else 40 + round(10 * wealth),
        "arm_x": arm,
        "bought": int(bought),
        "basket": amount,
        "granted": round(0.1 * amount + 1, 2) if bought and arm == "b" else round(0.3 * amount, 2) if arm == "c" else 0,
        "opened": int(arm != "none" and numbers.random() < 0.6),
        "score": round(0.1 + 0.01 * wealth, 4),  # whose model, and fitted to what?
        "credit_score": round(600 + 50 * wealth),
    }


@pytest.fixture
def made_up(tmp_path):
    numbers = random.Random(3)
    write_trial(tmp_path / "t.csv", [shop(numbers, numbers.choice(["none", "b", "c"])) for _ in range(6000)])
    return tmp_path


def init(dfcl, tmp_path, trial, *arguments):
    done = dfcl("init", trial, "-o", "study.toml", "--overwrite", "--json", *arguments)
    assert done.code == 0, done.stderr
    study = tomllib.loads((tmp_path / "study.toml").read_text())
    return json.loads(done.stdout), study, (tmp_path / "study.toml").read_text()


def test_the_data_decide_before_the_names(dfcl, made_up):
    """Income is no revenue, a flag from before no cost, and what happened after is no feature."""
    found, study, text = init(dfcl, made_up, "t.csv")
    assert (found["arm"], found["control"]) == ("arm_x", "none")
    assert found["revenue"] == "basket"
    assert found["cost"] == "granted"
    assert set(study["columns"]["exclude"]) == {"bought", "opened", "score"}
    assert study["columns"]["missing"] == [-999]
    assert "opened: always 0 in control, not elsewhere" in text
    assert dfcl("check", "study.toml").code == 0


def test_a_column_without_a_name_is_the_arm_because_it_goes_with_nothing(dfcl, tmp_path):
    numbers = random.Random(5)
    rows = []
    for _ in range(5000):
        latent = numbers.gauss(0, 1)
        given = numbers.random() < 0.5
        rows.append(
            {
                **{f"q{i}": int(latent + numbers.gauss(0, 0.7) > 0) for i in range(5)},
                "q5": "Yes" if given else "No",
                "q6": round(latent + numbers.gauss(0, 1), 3),
                "q7": int(numbers.random() < 0.2 + 0.2 * given + 0.05 * (latent > 0)),
            }
        )
    write_trial(tmp_path / "t.csv", rows)
    found, _, text = init(dfcl, tmp_path, "t.csv")
    assert (found["arm"], found["control"], found["revenue"]) == ("q5", "No", "q7")
    # The names say nothing, so nothing is certain.
    assert "columns.arm" in found["unsure"] and "columns.revenue" in found["unsure"]
    assert 'arm = "q5"  # unsure: ' in text
    # No cost is to be seen: prices to fill in.
    assert found["cost"] == "" and found["arm_cost"] == {"Yes": 1.0} and "arms.cost" in found["unsure"]


def test_nothing_is_revenue_where_nothing_differs_and_no_name_speaks(dfcl, tmp_path):
    numbers = random.Random(6)
    rows = [{"treatment": numbers.choice([0, 1]), **{f"q{i}": round(numbers.gauss(0, 1), 3) for i in range(20)}} for _ in range(3000)]
    write_trial(tmp_path / "t.csv", rows)
    found, _, _ = init(dfcl, tmp_path, "t.csv")
    assert found["arm"] == "treatment" and found["revenue"] == ""
    assert "name the column" in found["unsure"]["columns.revenue"]
    assert found["exclude"] == []


@pytest.mark.parametrize("label", ["No", "none", "control", "0", "placebo", "No E-Mail", "no_mail", "Control group"])
def test_words_for_control(dfcl, tmp_path, label):
    numbers = random.Random(7)
    rows = []
    for _ in range(2000):
        arm = numbers.choice([label, "mail", "call"])
        rows.append({"variant": arm, "age": round(numbers.gauss(40, 9)), "sales": int(numbers.random() < 0.2 + 0.2 * (arm != label))})
    write_trial(tmp_path / "t.csv", rows)
    found, _, _ = init(dfcl, tmp_path, "t.csv")
    assert found["control"] == label and "arms.control" not in found["unsure"]
    assert found["revenue"] == "sales"


def test_arms_drawn_by_household_are_found_and_weigh_less(dfcl, tmp_path):
    numbers = random.Random(8)
    rows = []
    for house in range(1500):
        arm = numbers.choice(["control", "mail"])
        street = numbers.gauss(0, 1)  # the same for all of a household
        for _ in range(numbers.choice([1, 2, 3])):
            rows.append({"house": house, "treatment": arm, "street": round(street, 2), "voted": "Yes" if numbers.random() < 0.3 + 0.15 * (arm == "mail") else "No"})
    write_trial(tmp_path / "t.csv", rows)
    found, study, text = init(dfcl, tmp_path, "t.csv")
    assert found["cluster"] == "house" and "0.0 % of them mixed" in text
    assert found["revenue"] == "voted"
    assert found["exclude"] == []


def test_averages_of_the_outcome_are_no_features(dfcl, tmp_path):
    numbers = random.Random(9)
    rows = []
    for _ in range(6000):
        arm = numbers.choice([0, 1])
        state = numbers.randrange(40)
        rows.append({"treatment": arm, "state": f"s{state}", "urban": numbers.gauss(0, 1), "donated": int(numbers.random() < 0.05 + 0.002 * state + 0.06 * arm)})
    for name, chosen in (("staterate", [0, 1]), ("staterate_mailed", [1])):
        for state in {row["state"] for row in rows}:
            own = [row for row in rows if row["state"] == state]
            counted = [row["donated"] for row in own if row["treatment"] in chosen]
            for row in own:
                row[name] = round(sum(counted) / len(counted), 8)
    write_trial(tmp_path / "t.csv", rows)
    found, _, text = init(dfcl, tmp_path, "t.csv")
    assert found["revenue"] == "donated"
    assert found["exclude"] == ["staterate", "staterate_mailed"]
    assert "staterate: an average of 'donated' over groups of these rows" in text


def test_a_cost_that_follows_from_the_revenue_is_said_to(dfcl, tmp_path):
    numbers = random.Random(10)
    rows = []
    for _ in range(4000):
        match = numbers.choice([0, 1, 2])
        gift = numbers.choice([0, 0, 0, 10, 25]) if numbers.random() < 0.4 + 0.1 * match else 0
        rows.append({"match": match, "age": numbers.randrange(20, 90), "gift_amount": gift, "topped_up": match * gift})
    write_trial(tmp_path / "t.csv", rows)
    found, _, text = init(dfcl, tmp_path, "t.csv")
    assert (found["arm"], found["revenue"], found["cost"]) == ("match", "gift_amount", "topped_up")
    assert '{ "0" = 0, "1" = 1, "2" = 2 } is the cost exactly' in text
    # Without the column, the arm's name is all there is.
    write_trial(tmp_path / "u.csv", [{key: row[key] for key in row if key != "topped_up"} for row in rows])
    found, _, _ = init(dfcl, tmp_path, "u.csv")
    assert found["cost_per_revenue"] == {"1": 1.0, "2": 2.0} and "arms.cost_per_revenue" in found["unsure"]


def test_what_is_known_already_is_taken(dfcl, made_up):
    found, _, _ = init(dfcl, made_up, "t.csv", "--arm", "tier", "--control", "b", "--revenue", "income", "--cost", "basket")
    assert [found[key] for key in ("arm", "control", "revenue", "cost")] == ["tier", "b", "income", "basket"]
    assert not {"columns.arm", "arms.control", "columns.revenue", "columns.cost"} & set(found["unsure"])
    for arguments, word in ((("--arm", "tierr"), "--arm"), (("--control", "d"), "--control"), (("--revenue", "tier"), "--revenue"), (("--cost", "no"), "--cost")):
        done = dfcl("init", "t.csv", "-o", "other.toml", *arguments)
        assert done.code == 2 and word in done.stderr


def test_the_same_bytes_on_any_number_of_threads(dfcl, made_up):
    texts = {init(dfcl, made_up, "t.csv", "--threads", str(threads))[2] for threads in (1, 2, 8)}
    assert len(texts) == 1


REAL = {
    "hillstrom.csv.gz": {"arm": "segment", "control": "No E-Mail", "revenue": "spend", "cost": "visit", "exclude": ["conversion"]},
    "charitable_match.csv.gz": {
        "arm": "match_ratio",
        "control": "0",
        "revenue": "out_amountgive",
        "cost_per_revenue": {"1": 1.0, "2": 2.0, "3": 3.0},
        "missing": [-999.0],
    },
    "social_pressure.csv.gz": {"arm": "treatment", "control": "Control", "revenue": "voted", "cluster": "hh_id", "exclude": ["cluster"], "cost": ""},
    "criteo_200k.parquet": {"arm": "treatment", "control": "0", "revenue": "conversion", "cost": "visit", "exclude": ["score"]},
    "criteo_first_1000_rows.csv": {"arm": "treatment", "revenue": "conversion", "cost": "visit", "exclude": ["exposure"]},
}


@pytest.mark.parametrize("name", REAL)
def test_real_trials(dfcl, tmp_path, name):
    trial = find_trial(name)
    found, _, _ = init(dfcl, tmp_path, trial)
    for key, value in REAL[name].items():
        assert found[key] == value, key
    if name.startswith("charitable"):
        after = ("out_gavedum", "out_changeamtgive", "stateresponse", "stateresponset", "stateresponsec", "stateresponsetminc", "treatment", "treat_size25")
        assert set(after) <= set(found["exclude"])
        assert not [column for column in found["exclude"] if not column.startswith(("out_", "state", "treat"))]
    assert dfcl("check", "study.toml").code in (0, 7)


def test_a_header_cannot_drive_the_terminal(dfcl, tmp_path):
    numbers = random.Random(1)
    rows = [shop(numbers, numbers.choice(["none", "b", "c"])) for _ in range(2000)]
    write_trial(tmp_path / "t.csv", [{("bas\x1b[31mket" if key == "basket" else key): value for key, value in row.items()} for row in rows])
    assert "\x1b" not in dfcl("init", "t.csv", "-o", "s.toml").stdout


def customers(seed, arms, labels, extra=None):
    """A made-up shop in any language: who buys depends on the arm, the amount on chance. labels: names of the columns."""
    numbers = random.Random(seed)
    rows = []
    for unit in range(6000):
        arm, lift, rate = numbers.choice(arms)
        bought = numbers.random() < 0.2 + lift
        orders = 1 + (numbers.random() < 0.3) if bought else 0
        amount = round(orders * numbers.uniform(10, 60), 2) if bought else 0
        row = {
            labels["id"]: 100_000 + unit,
            labels["age"]: numbers.randrange(18, 80),
            labels["past"]: round(numbers.expovariate(0.02), 2),
            labels["arm"]: arm,
            labels["orders"]: orders,
            labels["revenue"]: amount,
            labels["cost"]: round(rate * amount, 2),
        }
        row.update(extra(numbers, arm, bought) if extra else {})
        rows.append(row)
    return rows


LANGUAGES = {
    "German": (
        [("Kontrolle", 0, 0), ("Rabatt 5", 0.08, 0.05), ("Rabatt 10", 0.15, 0.1)],
        {"id": "kunde", "age": "alter", "past": "umsatz_vorjahr", "arm": "gruppe", "orders": "bestellungen", "revenue": "umsatz", "cost": "kosten"},
    ),
    "German, discount as cost": (
        [("Kontrollgruppe", 0, 0), ("Testgruppe", 0.15, 0.1)],
        {"id": "Kundennummer", "age": "Alter", "past": "Bestellwert_12m", "arm": "Gruppe", "orders": "Anzahl Bestellungen", "revenue": "Gesamtumsatz", "cost": "Rabatt"},
    ),
    "French": (
        [("Témoin", 0, 0), ("Remise 10%", 0.1, 0.1), ("Remise 20%", 0.2, 0.2)],
        {"id": "id_client", "age": "âge", "past": "ca_annee_precedente", "arm": "groupe", "orders": "commandes", "revenue": "chiffre_affaires", "cost": "remise_accordee"},
    ),
    "Spanish": (
        [("control", 0, 0), ("cupón", 0.15, 0.1)],
        {"id": "cliente_id", "age": "edad", "past": "ingresos", "arm": "grupo", "orders": "compras", "revenue": "ventas", "cost": "coste"},
    ),
    "English, counts before the amount": (
        [("0", 0, 0), ("5", 0.08, 0.05), ("10", 0.15, 0.1)],
        {"id": "customer_id", "age": "age", "past": "orders_90d", "arm": "discount_pct", "orders": "orders", "revenue": "revenue", "cost": "subsidy"},
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_in_other_languages_and_amounts_before_counts(dfcl, tmp_path, language):
    arms, names = LANGUAGES[language]
    write_trial(tmp_path / "t.csv", customers(11, arms, names))
    found, study, _ = init(dfcl, tmp_path, "t.csv")
    assert [found[key] for key in ("id", "arm", "control", "revenue", "cost")] == [names["id"], names["arm"], arms[0][0], names["revenue"], names["cost"]]
    assert names["orders"] in found["exclude"] and names["past"] not in found["exclude"]
    assert study["cost"] == {"control_is_free": True, "non_negative": True}
    assert dfcl("check", "study.toml").code == 0


def test_losses_are_guardrails_and_never_revenue(dfcl, tmp_path):
    """Churn differs most, and comes first; more of it is worse."""
    names = dict(LANGUAGES["German"][1], age="tenure", past="past_spend", arm="offer", orders="orders", revenue="revenue_90d", cost="cost", id="account_id")
    extra = lambda numbers, arm, bought: {"churned": int(numbers.random() < (0.3 if arm == "control" else 0.1)), "refunds": int(bought and numbers.random() < 0.2)}
    rows = customers(12, [("control", 0, 0), ("call", 0.15, 0.1)], names, extra)
    first = [{"churned": row["churned"], **row} for row in rows]
    write_trial(tmp_path / "t.csv", first)
    found, _, text = init(dfcl, tmp_path, "t.csv")
    assert found["revenue"] == "revenue_90d" and "taken for a time after the arms were drawn" in found["unsure"]["columns.revenue"]
    assert found["guardrails"] == ["churned", "refunds"] and "columns.guardrails" not in found["unsure"]
    assert "churned: differs between the arms" in text and "refunds: " in text
    assert dfcl("check", "study.toml").code == 0
    # Nothing else is there: what to make of it is said, and no plan buys churn.
    write_trial(tmp_path / "u.csv", [{key: row[key] for key in ("account_id", "tenure", "offer", "churned")} for row in first])
    found, _, _ = init(dfcl, tmp_path, "u.csv")
    assert found["revenue"] == "" and found["guardrails"] == ["churned"]
    assert "more of 'churned' is a loss" in found["unsure"]["columns.revenue"]


def test_propensities_and_weights(dfcl, tmp_path):
    numbers = random.Random(13)
    rows = []
    for unit in range(5000):
        p = numbers.choice([0.3, 0.6])
        mailed = numbers.random() < p
        rows.append(
            {
                "person_id": unit,
                "age": numbers.randrange(18, 80),
                "weight": numbers.choice([55, 70, 90]),
                "survey_weight": numbers.choice([0.5, 1, 2]),
                "propensity": p if mailed else 1 - p,
                "mailed": "Yes" if mailed else "No",
                "donation": round(numbers.expovariate(0.05), 2) if numbers.random() < 0.2 + 0.1 * mailed else 0,
            }
        )
    write_trial(tmp_path / "t.csv", rows)
    found, _, _ = init(dfcl, tmp_path, "t.csv")
    assert (found["arm"], found["revenue"], found["propensity"], found["weight"]) == ("mailed", "donation", "propensity", "survey_weight")
    assert "columns.propensity" not in found["unsure"] and "columns.weight" in found["unsure"]
    assert dfcl("check", "study.toml").code == 0


def test_decimal_commas_are_said(dfcl, tmp_path):
    arms, names = LANGUAGES["German"]
    rows = [{key: str(value).replace(".", ",") if isinstance(value, float) else value for key, value in row.items()} for row in customers(14, arms, names)]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:  # few values: these can be looked at
        row["laenge"] = f"{row['kunde'] % 40},5"
    with open(tmp_path / "u.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    assert "laenge: numbers with a decimal comma, read as text: write them with a point" in init(dfcl, tmp_path, "u.csv")[2]
    found, _, text = init(dfcl, tmp_path, "t.csv")
    assert "umsatz: text, by its name an amount: write its numbers with a decimal point" in text
    assert "umsatz (text" in found["unsure"]["columns.exclude"]
