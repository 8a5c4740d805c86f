# SPDX-License-Identifier: Apache-2.0
"""Progress on a terminal or in a notebook; warnings to ``logging.getLogger("dfcl")``."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, Union

from .errors import UsageError

__all__ = ["Progress", "teller"]

log = logging.getLogger("dfcl")

#: None: shown on a terminal and in a notebook. False: not shown. A function is called with (task, done, total, unit);
#: total is 0 where the end is not known, and done is total when the task ends.
Progress = Union[None, bool, Callable[[str, int, int, str], None]]
Teller = Callable[[str, str, int, int, str], None]


class Display(Protocol):
    def show(self, text: str) -> None: ...
    def wipe(self) -> None: ...


class TerminalLine:
    """One line of standard error that is rewritten and wiped."""

    def __init__(self) -> None:
        self._on_screen = False

    def show(self, text: str) -> None:
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        self._on_screen = True

    def wipe(self) -> None:
        if self._on_screen:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._on_screen = False


class NotebookLine:
    """One output of a notebook cell that is updated."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        data = {"text/plain": text}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call,unused-ignore]
        else:
            self._handle.update(data, raw=True)

    def wipe(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _count(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{number:.0f}"


def _text(task: str, done: int, total: int, unit: str, seconds: float) -> str:
    if total > 0:
        text = f"{task}  {100 * min(1.0, done / total):.0f} %  {_count(done)} of {_count(total)} {unit}"
    else:
        text = f"{task}  {_count(done)} {unit}"
    if seconds >= 0.5 and done > 0:  # a rate over less time is noise
        text += f"  {_count(done / seconds)} {unit}/s"
        if total > done:
            left = round((total - done) * seconds / done)
            text += f"  {left // 60}:{left % 60:02d} left"
    return text


class _Shown:
    def __init__(self, display: Display) -> None:
        self._display = display
        self._task = ""
        self._started = 0.0

    def __call__(self, kind: str, text: str, done: int, total: int, unit: str) -> None:
        if kind == "warning":
            self._display.wipe()
            log.warning("%s", text)
        elif kind == "finished":
            self._display.wipe()
            self._task = ""
        else:
            if text != self._task:
                self._task, self._started = text, time.monotonic()
            self._display.show(_text(text, done, total, unit, time.monotonic() - self._started))


def teller(progress: Progress) -> Teller:
    """What the extension module calls with news of a run."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        message = f"progress=: a value of the wrong type: found {progress!r}, expected None, a bool or a function"
        error = UsageError(message)
        error.field, error.what = "progress", "a value of the wrong type"
        raise error
    if callable(progress):

        def tell(kind: str, text: str, done: int, total: int, unit: str) -> None:
            if kind == "warning":
                log.warning("%s", text)
            elif kind == "progress":
                progress(text, done, total, unit)

        return tell
    if progress is not False and _in_notebook():
        return _Shown(NotebookLine())
    if progress is True or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
        return _Shown(TerminalLine())

    def warn(kind: str, text: str, done: int, total: int, unit: str) -> None:
        if kind == "warning":
            log.warning("%s", text)

    return warn
