# SPDX-License-Identifier: Apache-2.0
"""The exceptions of dfcl, one for each kind of problem, with the text and hint of the command line."""

from __future__ import annotations

import re

from . import _dfcl

__all__ = [
    "DfclWarning",
    "Error",
    "Stopped",
    "InternalError",
    "UsageError",
    "DataError",
    "FileError",
    "UnavailableError",
    "InfeasibleError",
    "UnfitError",
]


class Error(Exception):
    """Ends an operation and says why.

    ``what`` is the problem in a sentence; ``field`` the argument or study key it is about; ``where``, ``found``, ``expected`` and ``hint`` are "" where there is nothing to
    say. ``exit_code`` is the exit code of the command line for the same problem.
    """

    exit_code: int = 1
    field: str = ""
    what: str = ""
    where: str = ""
    found: str = ""
    expected: str = ""
    hint: str = ""


class InternalError(Error, RuntimeError):
    """A bug in dfcl."""

    exit_code = 1


class UsageError(Error, ValueError):
    """An argument or a key of the study."""

    exit_code = 2


class DataError(Error, ValueError):
    """The contents of an input."""

    exit_code = 3


class FileError(Error, OSError):
    """A file or folder that cannot be read or written."""

    exit_code = 4


class UnavailableError(Error, NotImplementedError):
    """Not available on this machine or in this build."""

    exit_code = 5


class InfeasibleError(Error, ValueError):
    """The budget cannot be met."""

    exit_code = 6


class UnfitError(Error, ValueError):
    """The trial is unfit to learn from."""

    exit_code = 7


class Stopped(Error):
    """The progress function returned True."""

    exit_code = 130


class DfclWarning(UserWarning):
    """What a user should know of a run that goes on. Also sent to ``logging.getLogger("dfcl")``."""


_KINDS: dict[int, type[Error]] = {
    kind.exit_code: kind
    for kind in (InternalError, UsageError, DataError, FileError, UnavailableError, InfeasibleError, UnfitError)
}


# Key of the study -> keyword of ``dfcl.Study``.
_KEYWORDS: dict[str, str] = {key["name"]: key["keyword"] for key in _dfcl.study_keys() if key["keyword"]}


def in_python(text: str) -> str:
    """A message in Python's words: "[arms] share" is share=."""

    def keyword(found: re.Match[str]) -> str:
        word = _KEYWORDS.get(f"{found[1]}.{found[2]}")
        return found[0] if word is None else f"{word}="

    return re.sub(r"\[(\w+)\] (\w+)", keyword, text)


def usage_error(field: str, message: str, hint: str = "") -> UsageError:
    """A wrong argument, as the library words it: ``field=: message``."""
    error = UsageError(f"{field}=: {message}" + (f"\nhint: {hint}" if hint else ""))
    error.field, error.what, error.hint = field, message, hint
    return error


def data_error(message: str, hint: str = "") -> DataError:
    """An input that cannot be used."""
    error = DataError(message + (f"\nhint: {hint}" if hint else ""))
    error.what, error.hint = message, hint
    return error


def _make(
    code: int, message: str, field: str, what: str, where: str, found: str, expected: str, hint: str
) -> BaseException:
    """Called by the extension module."""
    if code == 130:
        return KeyboardInterrupt(message)
    if ".toml" not in where:  # of a study file its own words are said
        message, what, expected, hint = (in_python(words) for words in (message, what, expected, hint))
    error = _KINDS.get(code, InternalError)(message)
    error.field, error.what, error.where = field, what, where
    error.found, error.expected, error.hint = found, expected, hint
    return error
