"""Questions that were asked, kept in a file, so that what was broken off goes on where it was.

JSON lines: the first says what the scores depend on, each other one is a question.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from refdesk.desk import Desk
from refdesk.errors import InputError
from refdesk.evaluation.asking import Asked, Known

About = Mapping[str, str | int]
"""What scores depend on: data, collection, settings."""


class ScoreFile:
    """Opened for adding to it; `known` is what it held."""

    def __init__(self, path: str | os.PathLike[str], about: About) -> None:
        """Read what is there and go on after it. Errors: `InputError` for scores of something else."""
        self._path = Path(path)
        self.known: Known = self._read(about) if self._path.exists() else {}
        self._file = self._rewritten(about)

    def add(self, asked: Asked) -> None:
        """Keep a question, at once."""
        if self.known.get((asked.on_topic, asked.query_id)) != asked:
            self._line(self._file, asdict(asked))
            self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _read(self, about: About) -> Known:
        try:
            first, *rest = self._path.read_text("utf-8").splitlines() or [""]
            there = json.loads(first)
            rows = [_asked(line) for line in rest]
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise self._refused(f"cannot be read: {error}") from error
        if not isinstance(there, dict) or there != dict(about):
            keys = [key for key in about if not isinstance(there, dict) or there.get(key) != about[key]]
            raise self._refused(
                f"holds scores of something else: {', '.join(keys) or 'other fields'} differs"
            )
        return {(one.on_topic, one.query_id): one for one in rows if one is not None}

    def _rewritten(self, about: About) -> TextIO:
        """Open the file with what is known in it; a last line that was cut off is gone."""
        try:
            fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            with fresh.open("w", encoding="utf-8") as file:
                self._line(file, dict(about))
                for one in self.known.values():
                    self._line(file, asdict(one))
            fresh.replace(self._path)
            return self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise self._refused(f"cannot be written: {error}") from error

    def _line(self, file: TextIO, record: Mapping[str, Any]) -> None:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def _refused(self, what: str) -> InputError:
        return InputError(
            f"The file of scores {str(self._path)!r} {what}.", remedy="Name another file, or remove this one."
        )


def _asked(line: str) -> Asked | None:
    """Read a question; None for a line that was cut off."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return Asked(**{**record, "documents": tuple(record.get("documents", ()))})


async def about(desk: Desk, *, data: str, split: str, collection: str) -> About:
    """Return what the scores of a desk depend on, besides the reranker, whose name each score has."""
    settings = desk.settings
    stored = await desk.collection(collection)
    return {
        "data": data,
        "split": split,
        "collection": collection,
        "chunks": stored.chunks,
        "embedding": stored.fingerprint,
        "mode": settings.mode,
        "fusion": settings.fusion,
        "candidates": settings.candidates,
        "rerank_depth": settings.rerank_depth,
        "evidence": settings.evidence,
    }
