# SPDX-License-Identifier: Apache-2.0
"""Results as HTML tables for notebooks."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

__all__ = ["definitions", "notes", "number", "table", "title"]

_NUMBER = ' style="text-align: right"'
_TEXT = ' style="text-align: left"'
_TABLE = '<table cellpadding="4" style="border-collapse: collapse; white-space: nowrap">'


def _is_interval(value: object) -> TypeGuard[Mapping[str, float]]:
    return isinstance(value, Mapping) and value.keys() >= {"value", "low", "high"}


def number(value: object) -> str:
    """A figure as people read it: four digits that count, thousands apart; an interval as "1.2 (0.9 to 1.5)"."""
    if value is None:
        return ""
    if _is_interval(value):
        return _interval(value["value"], value["low"], value["high"])
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {number(entry)}" for name, entry in value.items())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    low, high = getattr(value, "low", None), getattr(value, "high", None)
    if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
        return _interval(float(value), low, high)
    if isinstance(value, int) or abs(value) >= 10_000:
        return f"{value:,.0f}"
    digits = 4 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(digits, 8)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _interval(value: float, low: float, high: float) -> str:
    """As many decimals as the width of the interval is worth: three digits of its half."""
    half = (high - low) / 2
    if not (math.isfinite(value) and math.isfinite(half) and half > 0):
        return f"{number(value)} ({number(low)} to {number(high)})"
    decimals = min(8, max(0, 2 - math.floor(math.log10(half))))
    return f"{value:,.{decimals}f} ({low:,.{decimals}f} to {high:,.{decimals}f})"


def _is_number(value: object) -> bool:
    return value is None or _is_interval(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def table(rows: Sequence[Mapping[str, object]], caption: str = "", most: int = 30) -> str:
    """Rows with the same names as a table; columns of numbers are aligned to the right."""
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row))
    style = {name: _NUMBER if all(_is_number(row.get(name)) for row in rows) else _TEXT for name in names}
    heads = "".join(f'<th{style[name]}>{html.escape(name.replace("_", " "))}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(f'<td{style[n]}>{html.escape(number(row.get(n)))}</td>' for n in names) + "</tr>"
        for row in rows[:most]
    )
    more = f"<p>{len(rows) - most:,} more rows</p>" if len(rows) > most else ""
    above = f"<caption{_TEXT}>{html.escape(caption)}</caption>" if caption else ""
    whole = f"{_TABLE}{above}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x: auto">{whole}</div>{more}'


def definitions(entries: Mapping[str, object]) -> str:
    """Names beside their figures."""
    style = _NUMBER if all(_is_number(value) for value in entries.values()) else _TEXT
    body = "".join(
        f'<tr><th{_TEXT}>{html.escape(name.replace("_", " "))}</th><td{style}>{html.escape(number(value))}</td></tr>'
        for name, value in entries.items()
    )
    return f"{_TABLE}<tbody>{body}</tbody></table>" if body else ""


def title(text: str) -> str:
    return f"<p><b>{html.escape(text)}</b></p>" if text else ""


def notes(texts: Iterable[str]) -> str:
    """A list of remarks."""
    body = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f"<ul>{body}</ul>" if body else ""
