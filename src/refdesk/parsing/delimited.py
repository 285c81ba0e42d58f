"""CSV and TSV: one line per row, each value with its column's name."""

import csv
import io
from collections.abc import Iterator

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.normalise import clean, read_text
from refdesk.parsing.tables import rows_as_text

SAMPLE = 64 * 1024
DELIMITERS = ",;\t|"

csv.field_size_limit(16 * 1024 * 1024)


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the rows; the delimiter is told by the text."""
    read = read_text(data)
    text = "\n".join(rows_as_text(_rows(read.text)))
    return Parsed(text=clean(text).text, warnings=read.warnings)


def _rows(text: str) -> Iterator[list[str]]:
    delimiter = _delimiter(text[:SAMPLE])
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(sample: str) -> str:
    """Return the delimiter that splits most lines alike; a comma where there is none."""
    lines = [line for line in sample.split("\n")[:50] if line.strip()]
    counts = {mark: [line.count(mark) for line in lines] for mark in DELIMITERS}
    return max(DELIMITERS, key=lambda mark: _agreement(counts[mark]))


def _agreement(counts: list[int]) -> float:
    """Return how many lines have the most frequent number of delimiters, none of them counting nothing."""
    some = [count for count in counts if count]
    return max((some.count(count) * (1 + min(count, 50) / 1000) for count in set(some)), default=0.0)
