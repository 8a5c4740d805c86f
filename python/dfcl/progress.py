# SPDX-License-Identifier: Apache-2.0
"""Progress on a terminal, in a notebook or through a function; warnings through ``warnings`` and ``logging``."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Union

from .errors import DfclWarning, Stopped, in_python, usage_error

__all__ = ["Progress", "Step", "teller"]

log: logging.Logger = logging.getLogger("dfcl")
log.addHandler(logging.NullHandler())  # warnings are shown by ``warnings``, logged where the caller asks for it

_HERE = os.path.dirname(os.path.abspath(__file__))


class Step(NamedTuple):
    """News of a run: one for each epoch, tree, fold or piece of work.

    Attributes
    ----------
    task : str
        What is being done: "reading", "training", "growing trees".
    done, total : int
        How much of it; ``total`` is 0 where the end is not known.
    unit : str
        What is counted: "rows", "trees", "fits".
    detail : str
        A figure of the step, "loss 0.41", or "".
    """

    task: str
    done: int
    total: int
    unit: str
    detail: str

    @property
    def loss(self) -> float | None:
        """The training loss of the latest epoch, where the step says it."""
        found = re.match(r"loss (\S+?),?(?: |$)", self.detail)
        return None if found is None else float(found.group(1))


#: None: shown on a terminal and in a notebook. False: not shown. A function is called with a :class:`Step`; where it
#: returns True, the run ends with :class:`dfcl.Stopped`; where it returns "enough", ``train`` ends the fit at hand after its
#: epoch or a few trees and returns the model as it is (a forest and "auto" go on to their end).
Progress = Union[None, bool, Callable[[Step], object]]
Teller = Callable[[str, str, int, int, str], Union[str, None]]


def warn(text: str) -> None:
    """A warning that points at the line of the caller's code."""
    text = in_python(text)
    log.warning("%s", text)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, DfclWarning, stacklevel=level)


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
        self._detail = ""
        self._started = 0.0

    def __call__(self, kind: str, text: str, done: int, total: int, unit: str) -> None:
        if kind == "warning":
            self._display.wipe()
            warn(text)
        elif kind == "finished":
            self._display.wipe()
            self._task = self._detail = ""
        elif kind == "detail":
            self._detail = f"  {text}"
        else:
            if text != self._task:
                self._task, self._started = text, time.monotonic()
            shown = _text(text, done, total, unit, time.monotonic() - self._started)
            self._display.show(shown + self._detail)


class _Called:
    """Passes steps to a function of the caller's."""

    def __init__(self, function: Callable[[Step], object]) -> None:
        self._function = function
        self._step = Step("", 0, 0, "", "")

    def __call__(self, kind: str, text: str, done: int, total: int, unit: str) -> str | None:
        if kind == "warning":
            warn(text)
            return None
        if kind == "finished":
            self._step = Step("", 0, 0, "", "")
            return None
        if kind == "detail":
            self._step = self._step._replace(detail=text)
        else:
            self._step = Step(text, done, total, unit, self._step.detail)
        answer = self._function(self._step)
        if answer is True:
            message = f"stopped by the progress function while {self._step.task or 'starting'}"
            raise Stopped(message)
        return "enough" if isinstance(answer, str) and answer == "enough" else None


def _warn_only(kind: str, text: str, done: int, total: int, unit: str) -> None:
    if kind == "warning":
        warn(text)


def teller(progress: Progress) -> Teller:
    """What the extension module calls with news of a run."""
    if progress is None or isinstance(progress, bool):
        if progress is not False and _in_notebook():
            return _Shown(NotebookLine())
        if progress is True or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
            return _Shown(TerminalLine())
        return _warn_only
    if not callable(progress):
        raise usage_error("progress", f"a value of the wrong type: found {progress!r}, expected None, a bool or a function")
    return _Called(progress)
