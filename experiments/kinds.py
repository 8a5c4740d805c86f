# SPDX-License-Identifier: Apache-2.0
"""Nine kinds of trials with known truth, none of which a preset of dfcl makes. Decisions 147 and 148 had draws (seeds) 1 and 2 in view.

They differ in what is paid (0/1, counts, money with heavy tails, money less returns), in the share of control (10 to 90 %), in the
number of arms (two to six) and in whether prices are known or costs have to be learned. Effects follow rules, a few features, a smooth
surface, or nothing (`alike`: one effect for all). Customers are alike in all of them: skewed counts and money, an informative hole, a hole at random,
30 cities, and numbers that matter to nothing.
"""

import dataclasses
import pathlib

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet


@dataclasses.dataclass
class Outcomes:
    """Of every unit under every arm (units x arms): the expected revenue and cost, and one draw of both."""

    revenue: np.ndarray
    cost: np.ndarray
    seen_revenue: np.ndarray
    seen_cost: np.ndarray


def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


class Customers:
    """Features of units. What is missing to the learner is known to the truth."""

    def __init__(self, rows, draw):
        self.rows, self.draw = rows, draw
        self.taste = draw.normal(size=rows)  # behind orders, spend and sessions, never seen
        self.orders = draw.poisson(np.exp(0.5 + 0.6 * self.taste))
        self.spend = (self.orders > 0) * draw.lognormal(3.0 + 0.4 * self.taste, 0.7)
        self.sessions = draw.poisson(np.exp(1.5 + 0.3 * self.taste))
        self.recency = draw.exponential(60.0, rows)
        self.tenure = draw.gamma(2.0, 400.0, rows)
        self.age = draw.normal(42.0, 14.0, rows).clip(18.0, 90.0)
        self.income = draw.lognormal(10.3, 0.5, rows)
        self.score = draw.random(rows)
        self.city = draw.zipf(1.6, rows).clip(1, 30) - 1
        self.channel = draw.choice(4, rows, p=[0.5, 0.25, 0.15, 0.1])
        self.device = draw.choice(3, rows)
        self.noise = draw.normal(size=(rows, 6))

    def columns(self):
        seen = {name: getattr(self, name).astype(np.float32) for name in ("orders", "spend", "sessions", "tenure", "age", "score")}
        seen["recency"] = np.where(self.orders > 0, self.recency, np.nan).astype(np.float32)
        seen["income"] = np.where(self.draw.random(self.rows) < 0.8, self.income, np.nan).astype(np.float32)
        seen.update({f"noise_{place}": self.noise[:, place].astype(np.float32) for place in range(self.noise.shape[1])})
        texts = {"city": [f"city {level:02d}" for level in range(30)], "channel": ["search", "social", "mail", "partner"],
                 "device": ["phone", "tablet", "desk"]}  # fmt: skip
        return {**seen, **{name: np.asarray(levels)[getattr(self, name)] for name, levels in texts.items()}}

    def bought(self, chance):
        """Units x arms, one draw a unit: who buys at a chance buys at any higher one."""
        return self.draw.random(self.rows)[:, None] < chance

    def money(self, mean, spread):
        return mean[:, None] * self.draw.lognormal(-0.5 * spread**2, spread, (self.rows, 1))


def priced(revenue, seen, prices):
    cost = np.broadcast_to(np.asarray(prices, dtype=float), revenue.shape)
    return Outcomes(revenue, cost, seen, cost)


CITY = np.random.default_rng(17).normal(size=30)


def coupons(u):
    """Coupons of 5, 10, 15: money where one buys; a coupon costs its value where it is used."""
    value = np.asarray([0.0, 5.0, 10.0, 15.0])
    ready = -1.9 + 0.5 * np.log1p(u.orders) + 0.3 * CITY[u.city] + 0.5 * (u.channel == 2)
    moved = 0.03 + 0.10 * (u.recency > 60) * (u.orders > 0) + 0.06 * (u.score > 0.6)
    chance = logistic(ready[:, None] + moved[:, None] * value)
    basket = 20.0 + 0.5 * u.spend.clip(0, 120)
    buys = u.bought(chance)
    return Outcomes(chance * basket[:, None], chance * value, buys * u.money(basket, 0.6), buys * value)


def levels(u):
    """Six graded discounts on counts of orders: concave, smooth in three numbers; the discount costs by the order."""
    rate = np.asarray([0.0, 0.02, 0.05, 0.08, 0.12, 0.2])
    base = np.exp(0.2 + 0.35 * u.taste + 0.3 * np.sin(u.age / 9.0))
    lift = 0.9 * logistic(2.0 * np.sin(4.0 * u.score) - 0.004 * u.tenure + 0.5 * CITY[u.city])
    mean = base[:, None] * (1.0 + lift[:, None] * (1.0 - np.exp(-12.0 * rate)))
    seen = u.draw.poisson(mean)
    return Outcomes(mean, mean * rate * 4.0, seen, seen * rate * 4.0)


def mailing(u):
    """Two mailings of known price; few buy; 20 % in control. One moves the young, the other those who have been away."""
    ready = -3.6 + 0.35 * np.log1p(u.orders) + 0.25 * CITY[u.city]
    first = 0.25 + 0.7 * (u.age < 35)
    second = 0.15 + 0.9 * ((u.recency > 90) & (u.orders > 1))
    chance = logistic(np.stack([ready, ready + first, ready + second], 1))
    return priced(chance, u.bought(chance).astype(float), [0.0, 0.01, 0.012])


def money(u):
    """One offer, 70 % in control: few respond, and their money has a heavy tail."""
    chance0 = logistic(-2.2 + 0.4 * np.log1p(u.orders))
    moved = 0.12 * ((u.score > 0.8) & (u.sessions > 4)) + 0.004
    chance = np.stack([chance0, (chance0 + moved).clip(0, 0.95)], 1)
    basket = 30.0 + 0.8 * u.spend.clip(0, 200)
    return priced(chance * basket[:, None], u.bought(chance) * u.money(basket, 1.0), [0.0, 1.0])


def alike(u):
    """Counts; an offer adds the same to everyone, and costs more where it is used more."""
    base = np.exp(0.8 + 0.4 * u.taste + 0.2 * CITY[u.city])
    mean = np.stack([base, base + 0.25, base + 0.4], 1)
    used = logistic(-0.5 + 0.02 * (u.age - 42.0) + 0.6 * (u.device == 0))
    cost = used[:, None] * np.asarray([0.0, 0.1, 0.2])
    return Outcomes(mean, cost, u.draw.poisson(mean), (u.draw.random((u.rows, 1)) < used[:, None]) * np.asarray([0.0, 0.1, 0.2]))


def push(u):
    """Three messages, visits as 0/1, 10 % in control; rules over channel, device and a hole."""
    ready = -1.4 + 0.4 * u.taste + 0.3 * (u.channel == 0)
    phone = 0.1 + 0.8 * (u.device == 0) * (u.channel < 2)
    fresh = 0.2 + 0.9 * (u.recency < 20) * (u.orders > 0)
    chance = logistic(ready[:, None] + np.stack([0 * ready, phone, 0.3 + 0.6 * (u.orders == 0), fresh], 1))
    return priced(chance, u.bought(chance).astype(float), [0.0, 0.02, 0.02, 0.03])


def rare(u):
    """One unit in ten is treated. Counts; effects follow one number and the city; costs are learned."""
    base = np.exp(0.1 + 0.5 * u.taste)
    lift = 0.6 * logistic(6.0 * (u.score - 0.5)) * logistic(CITY[u.city] * 1.5)
    mean = np.stack([base, base * (1.0 + lift)], 1)
    chance = logistic(-0.6 + 0.3 * np.log1p(u.orders))
    cost = np.stack([0 * base, 0.5 * chance], 1)
    return Outcomes(mean, cost, u.draw.poisson(mean), 0.5 * u.bought(np.stack([0 * base, chance], 1)))


def retention(u):
    """Customers who stay, 0/1; a call drives some away; a discount is paid to those who stay."""
    stay = 1.0 + 0.5 * u.taste - 0.01 * u.recency.clip(0, 200) * (u.orders > 0) + 0.0006 * u.tenure
    call = np.where(u.tenure > 900, -0.8, 0.3 + 0.4 * (u.sessions < 4))
    discount = 0.2 + 0.9 * (u.spend > 40) * (u.recency > 40)
    chance = logistic(np.stack([stay, stay + call, stay + discount], 1))
    stays = u.bought(chance)
    return Outcomes(chance, chance * np.asarray([0.0, 0.0, 0.1]) + np.asarray([0.0, 0.05, 0.0]), stays.astype(float),
                    stays * np.asarray([0.0, 0.0, 0.1]) + np.asarray([0.0, 0.05, 0.0]))  # fmt: skip


def returns(u):
    """Money less what is sent back: negative for some; four arms, 15 % in control; a smooth effect of two numbers."""
    chance0 = -1.2 + 0.5 * np.log1p(u.orders)
    pull = np.asarray([0.0, 0.3, 0.5, 0.8])
    lift = 1.2 * np.exp(-(((u.age - 35.0) / 12.0) ** 2)) + 0.2 * CITY[u.city] + 0.2
    chance = logistic(chance0[:, None] + lift[:, None] * pull)
    basket = 25.0 + 0.6 * u.spend.clip(0, 150)
    back = (0.15 + 0.25 * (u.device == 0))[:, None]
    buys, sent = u.bought(chance), u.draw.random((u.rows, 1)) < back
    kept = np.where(sent, -6.0, u.money(basket, 0.7))
    mean = chance * ((1.0 - back) * basket[:, None] - 6.0 * back)
    fee = np.asarray([0.0, 1.0, 2.0, 4.0])
    return Outcomes(mean, chance * fee, buys * kept, buys * fee)


# kind: (outcomes, shares of the arms, known prices)
KINDS = {
    "coupons": (coupons, (0.1, 0.3, 0.3, 0.3), False),
    "levels": (levels, (1 / 6,) * 6, False),
    "mailing": (mailing, (0.2, 0.4, 0.4), True),
    "money": (money, (0.7, 0.3), True),
    "alike": (alike, (0.5, 0.25, 0.25), False),
    "push": (push, (0.1, 0.3, 0.3, 0.3), True),
    "rare": (rare, (0.9, 0.1), False),
    "retention": (retention, (0.5, 0.25, 0.25), False),
    "returns": (returns, (0.15, 0.25, 0.3, 0.3), False),
}
ROLES = ("unit", "arm", "revenue", "cost")


def write(stem, kind, rows, seed):
    """`stem`.parquet, .truth.parquet and .toml: a trial, the expected outcomes of its units, its study."""
    outcomes_of, shares, known = KINDS[kind]
    units = Customers(rows, np.random.default_rng([list(KINDS).index(kind), seed]))
    columns, outcomes = units.columns(), outcomes_of(units)
    arm = units.draw.choice(len(shares), rows, p=shares)
    each, name = np.arange(rows), pathlib.Path(stem).name
    seen = {"revenue": outcomes.seen_revenue[each, arm].astype(float), "cost": outcomes.seen_cost[each, arm].astype(float)}
    parquet.write_table(arrow.table({"unit": each, **columns, "arm": arm, **seen}), f"{stem}.parquet")
    expected = {f"{what}_{j}": getattr(outcomes, what)[:, j].astype(np.float32) for j in range(len(shares)) for what in ("revenue", "cost")}
    parquet.write_table(arrow.table({"unit": each, **expected}), f"{stem}.truth.parquet")
    arms = ", ".join(f'"{j}" = {outcomes.cost[0, j]}' for j in range(len(shares)))
    roles = 'id = "unit"\narm = "arm"\nrevenue = "revenue"\n' + ('exclude = ["cost"]' if known else 'cost = "cost"')
    pathlib.Path(f"{stem}.toml").write_text(
        f'format = 2\n[data]\ntrial = "{name}.parquet"\n[columns]\n{roles}\n[arms]\ncontrol = "0"\n'
        + (f"cost = {{ {arms} }}\n" if known else "")
        + "[budgets]\nshare_of_max = [0.1, 0.3, 0.6]\n"
    )
