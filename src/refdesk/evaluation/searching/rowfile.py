"""Rows that are kept in a file, so that what was broken off goes on where it was.

JSON lines: the first says what the rows depend on, each other one is a row.
"""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TextIO, TypeVar

from refdesk.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

About = Mapping[str, str | int]
"""What rows depend on: data, collection, settings."""

Key = TypeVar("Key")
Row = TypeVar("Row", bound="DataclassInstance")


class RowFile(ABC, Generic[Key, Row]):
    """Opened for adding to it; `known` is what it held."""

    what: ClassVar[str]
    """What the rows are, for messages."""

    def __init__(self, path: str | os.PathLike[str], about: About) -> None:
        """Read what is there and go on after it. Errors: `InputError` for rows of something else."""
        self._path = Path(path)
        self.known: Mapping[Key, Row] = self._read(about) if self._path.exists() else {}
        self._file = self._rewritten(about)

    @abstractmethod
    def key(self, row: Row) -> Key:
        """Return what a later row has in common with the one that it replaces."""

    @abstractmethod
    def row(self, record: dict[str, Any]) -> Row:
        """Return the row that a line holds. Errors: `TypeError` where it is none."""

    def add(self, row: Row) -> None:
        """Keep a row, at once."""
        if self.known.get(self.key(row)) != row:
            self._line(self._file, asdict(row))
            self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _read(self, about: About) -> Mapping[Key, Row]:
        try:
            # splitlines() would also split at the line separators that a text may hold.
            first, *rest = self._path.read_text("utf-8").rstrip("\n").split("\n")
            there = json.loads(first)
            rows = [self.row(record) for record in map(_record, rest) if record is not None]
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise self._refused(f"cannot be read: {error}") from error
        if not isinstance(there, dict) or there != dict(about):
            keys = [key for key in about if not isinstance(there, dict) or there.get(key) != about[key]]
            differing = ", ".join(keys) or "other fields"
            raise self._refused(f"holds {self.what} of something else: {differing} differs")
        return {self.key(row): row for row in rows}

    def _rewritten(self, about: About) -> TextIO:
        """Open the file with what is known in it; a last line that was cut off is gone."""
        try:
            fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            with fresh.open("w", encoding="utf-8") as file:
                self._line(file, dict(about))
                for row in self.known.values():
                    self._line(file, asdict(row))
            fresh.replace(self._path)
            return self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._refused(f"cannot be written: {error}") from error

    def _line(self, file: TextIO, record: Mapping[str, Any]) -> None:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def _refused(self, why: str) -> InputError:
        return InputError(
            f"The file of {self.what} {str(self._path)!r} {why}.",
            remedy="Name another file, or remove this one.",
        )


def _record(line: str) -> dict[str, Any] | None:
    """Read a line; None where it was cut off. Errors: `TypeError` for what is no object."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict):
        raise TypeError(f"{line:.40} is no object")
    return record
