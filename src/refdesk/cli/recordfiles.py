"""Which of the paths of `refdesk ingest` are files of records, whose every record is a document."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from refdesk.errors import InputError, SourceError
from refdesk.sources import Source
from refdesk.sources.fields import Fields, item_from
from refdesk.sources.files import identity
from refdesk.sources.records import Records

LINES = (".jsonl", ".ndjson")


def sources(paths: Sequence[str], given: Mapping[str, str], *, root: str) -> list[str | Source]:
    """Return the paths, files of records as sources of their own.

    JSON files are taken as records where fields are given; files of JSON lines also where their first
    record has the usual fields. Their ids begin with the file's, so that files with the same ids do not meet
    and `--prune` knows which records were a file's.
    Errors: `InputError` where fields are given and no path is such a file.
    """
    fields = Fields(**given)  # type: ignore[arg-type]
    found = [
        Records(path, fields, prefix=_prefix(path, root)) if _has_records(Path(path), given) else path
        for path in paths
    ]
    if given and not any(isinstance(one, Records) for one in found):
        raise InputError(
            f"Fields of records were given, and none of {', '.join(paths)} is a .json or .jsonl file.",
            remedy="Name the file itself, not its folder.",
        )
    return list(found)


def _prefix(path: str, root: str) -> str:
    return identity(Path(os.path.abspath(path)), Path(root)) + "#"


def _has_records(path: Path, given: Mapping[str, str]) -> bool:
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (*LINES, ".json"):
        return False
    return bool(given) or (suffix in LINES and _recognised(path))


def _recognised(path: Path) -> bool:
    try:
        item_from(json.loads(next(_lines(path))), Fields(), prefix="", media_type="")
    except (ValueError, StopIteration, SourceError):
        return False
    return True


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8-sig") as lines:
        yield from (line for line in lines if line.strip())
