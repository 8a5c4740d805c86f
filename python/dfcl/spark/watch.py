# SPDX-License-Identifier: Apache-2.0
"""Jobs that say how far they are and can be stopped while they run."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..progress import Teller

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Watch"]

_LOOKS_EVERY = 0.5  # seconds
_WAITS_FOR_THE_END = 5.0


class Watch:
    """Tells the stages of a call, and rows once they are counted. While a job runs it asks twice a second whether to go on."""

    def __init__(self, tell: Teller | None) -> None:
        self._tell = tell
        self._stage = ""
        self._done = 0
        self._total = 0
        self._unit = "rows"

    def begin(self, stage: str, total: int = 0, unit: str = "rows") -> None:
        """A stage begins; total: 0 where it is not known."""
        self._stage, self._done, self._total, self._unit = stage, 0, total, unit
        self._say()

    def end(self, done: int) -> None:
        """It has ended, after so many rows."""
        self._done, self._total = done, max(done, self._total)
        self._say()
        if self._tell is not None:
            self._tell("finished", self._stage, 0, 0, self._unit)

    def _say(self) -> None:
        if self._tell is not None:
            self._tell("progress", self._stage, self._done, self._total, self._unit)

    def collect(self, frame: DataFrame) -> list[Any]:
        """The rows of a frame. Whoever follows the progress can stop the job."""
        kept: list[Any] = []
        if self._tell is None:
            kept.extend(frame.collect())
            return kept
        failed: list[BaseException] = []
        tag = f"dfcl-{uuid.uuid4().hex}"

        def run() -> None:
            try:
                with _tagged(frame, tag):
                    kept.extend(frame.collect())
            except BaseException as error:  # raised below, in the caller's thread
                failed.append(error)

        thread = _thread(run)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_LOOKS_EVERY)
                if thread.is_alive():
                    self._say()
        except BaseException:
            _interrupt(frame, tag)
            thread.join(_WAITS_FOR_THE_END)  # tasks that do not listen end on their own
            raise
        if failed:
            raise failed[0]
        return kept


def _thread(run: Any) -> threading.Thread:
    """A thread with what the caller has set for its jobs, as pools and groups."""
    try:
        from pyspark import InheritableThread

        thread: threading.Thread = InheritableThread(target=run, daemon=True)
        return thread
    except ImportError:  # pyspark without a JVM of its own
        return threading.Thread(target=run, daemon=True)


# Sessions have tags from Spark 4 on; before, their context has them, where it may be used.
@contextlib.contextmanager
def _tagged(frame: DataFrame, tag: str) -> Iterator[None]:
    session: Any = frame.sparkSession
    calls: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
        (lambda: session.addTag(tag), lambda: session.removeTag(tag)),
        (lambda: session.sparkContext.addJobTag(tag), lambda: session.sparkContext.removeJobTag(tag)),
    ]
    for add, remove in calls:
        try:
            add()
        except Exception:
            continue
        try:
            yield
        finally:
            remove()
        return
    yield


def _interrupt(frame: DataFrame, tag: str) -> None:
    session: Any = frame.sparkSession
    calls: list[Callable[[], Any]] = [lambda: session.interruptTag(tag), lambda: session.sparkContext.cancelJobsWithTag(tag)]
    for interrupt in calls:
        with contextlib.suppress(Exception):
            interrupt()
