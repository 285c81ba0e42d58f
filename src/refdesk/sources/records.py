"""Records in JSON and JSON lines as a source: every record is a document."""

import itertools
import json
import os
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any

from anyio import to_thread

from refdesk.errors import ParseError, SourceError
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.fields import Fields, item_from
from refdesk.sources.files import existing

BATCH = 256
"""Records that are read at once."""

_LINES = (".jsonl", ".ndjson")


class Records:
    """List the records of a `.jsonl` file, line by line, or of the array in a `.json` file.

    A record's `source_id` is `prefix` and its id. Only with a prefix can this source tell its records from
    others in the collection, so only then `--prune` removes those that are gone; while a record cannot be
    read it removes none, since any of them may be that one. A file that cannot be read is one failure.
    Errors: `SourceError` where there is no such file.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        fields: Fields | None = None,
        *,
        prefix: str = "",
        media_type: str = "text/plain",
    ) -> None:
        self._path = existing(Path(path))
        if self._path.is_dir():
            raise SourceError(f"{str(path)!r} is a folder.", remedy="Name a .json or .jsonl file.")
        self._fields = fields or Fields()
        self._prefix = prefix
        self._media_type = media_type

    def count(self) -> int:
        try:
            if self._has_lines:
                with self._path.open("rb") as lines:
                    return sum(1 for line in lines if line.strip())
            return len(self._array())
        except (OSError, ParseError):
            return 1  # the failure that `items` lists

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        """Read the records in order; one that is broken is a `SourceFailure` with its line or position."""
        with closing(self._records()) as records:
            while batch := await to_thread.run_sync(lambda: list(itertools.islice(records, BATCH))):
                for found in batch:
                    yield found

    def covers(self, source_id: str, url: str | None) -> bool:
        return bool(self._prefix) and source_id.startswith(self._prefix)

    @property
    def _has_lines(self) -> bool:
        return self._path.suffix.lower() in _LINES

    def _records(self) -> Generator[SourceItem | SourceFailure, None, None]:
        try:
            yield from self._from_lines() if self._has_lines else self._from_array()
        except OSError as error:
            message = f"The file cannot be read: {error.strerror or error}."
            yield self._failure(self._name, "unreadable", message)
        except ParseError as error:
            yield self._failure(self._name, error.reason, str(error))

    def _from_lines(self) -> Iterator[SourceItem | SourceFailure]:
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield self._line(line, number)

    def _from_array(self) -> Iterator[SourceItem | SourceFailure]:
        for number, record in enumerate(self._array(), 1):
            yield self._item(record, number)

    def _line(self, line: bytes, number: int) -> SourceItem | SourceFailure:
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            return self._failure(self._place(number), "damaged", f"Line {number} is not JSON: {error}.")
        return self._item(record, number)

    def _item(self, record: Any, number: int) -> SourceItem | SourceFailure:
        try:
            return item_from(record, self._fields, prefix=self._prefix, media_type=self._media_type)
        except (SourceError, RecursionError) as error:
            reason = error.reason if isinstance(error, ParseError) else "incomplete"
            return self._failure(self._place(number), reason, str(error))

    def _failure(self, place: str, reason: str, message: str) -> SourceFailure:
        return SourceFailure(self._prefix + place, reason, message, hides=self._prefix)

    def _place(self, number: int) -> str:
        return f"{self._name}:{number}"

    @property
    def _name(self) -> str:
        return os.fsencode(self._path.name).decode("utf-8", "replace")

    def _array(self) -> list[Any]:
        try:
            value = json.loads(self._path.read_bytes().decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ParseError(f"{self._name!r} is not readable JSON: {error}.", reason="damaged") from error
        if isinstance(value, list):
            return value
        raise ParseError(
            f"{self._name!r} holds {type(value).__name__}, not an array of records.",
            reason="damaged",
            remedy="Give an array, or one record per line in a .jsonl file.",
        )
