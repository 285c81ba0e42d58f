"""What filters mean."""

from datetime import UTC, datetime

import pytest

from refdesk.documents import Document, Metadata
from refdesk.errors import InputError
from refdesk.filters import And, Compare, Equals, Exists, Filter, In, Not, Or, matches
from refdesk.filters.values import instant, typed


def document(metadata: Metadata, *, url: str | None = None) -> Document:
    return Document(collection="c", source_id="a.md", title="A", text="", url=url, metadata=metadata)


@pytest.mark.parametrize(
    ("filter", "metadata", "expected"),
    [
        (Equals("n", 1), {"n": 1.0}, True),
        (Equals("n", 1), {"n": "1"}, False),
        (Equals("n", 1), {"n": True}, False),
        (Equals("n", 1), {"n": (3, 2, 1)}, True),
        (Equals("n", 1), {}, False),
        (Not(Equals("n", 1)), {}, True),
        (In("n", (1, 2)), {"n": (2, 9)}, True),
        (In("n", ()), {"n": 1}, False),
        (Compare("n", ">", 1), {"n": 2}, True),
        (Compare("n", ">", 1), {"n": "2"}, False),
        (Compare("n", ">", 1), {"n": (0, 2)}, True),
        (Compare("n", "<", "b"), {"n": "a"}, True),
        (Compare("d", ">=", "2025-01-01"), {"d": "2025-01-01T00:00:00"}, True),
        (Compare("d", ">=", "2025-01-01"), {"d": datetime(2025, 1, 1)}, True),
        (Compare("d", ">", datetime(2025, 1, 1, tzinfo=UTC)), {"d": "2025-01-01 00:00:00.5Z"}, True),
        (Equals("d", "2025-01-01T01:00:00+01:00"), {"d": "2025-01-01"}, True),
        (Equals("source_id", "a.md"), {}, True),
        (Exists("url"), {}, False),
        (Exists("n"), {"n": ()}, True),
        (And(()), {}, True),
        (Or(()), {}, False),
        (And((Exists("n"), Not(Equals("n", 2)))), {"n": 1}, True),
        (Or((Equals("n", 2), Equals("n", 1))), {"n": 1}, True),
    ],
)
def test_a_filter_matches(filter: Filter, metadata: Metadata, expected: bool) -> None:
    assert matches(filter, document(metadata)) is expected


@pytest.mark.parametrize(
    "filter",
    [
        Compare("n", ">", True),
        Compare("n", "~", 1),  # type: ignore[arg-type]
        Equals("n", float("nan")),
        Equals("n", 2**63),
        In("n", (1, "\ud800")),
        Equals("n", None),  # type: ignore[arg-type]
    ],
)
def test_values_without_meaning_are_refused(filter: Filter) -> None:
    with pytest.raises(InputError):
        matches(filter, document({}))


def test_nesting_has_a_limit() -> None:
    filter: Filter = Exists("n")
    for _ in range(100_000):
        filter = Not(filter)
    with pytest.raises(InputError, match="nested"):
        matches(filter, document({}))


@pytest.mark.parametrize(
    "text", ["2025", "2025-13-01", "20250101", "2025-1-1", "2025-01-01T25:00", "٢٠٢٥-٠١-٠١", ""]
)
def test_other_texts_are_no_dates(text: str) -> None:
    assert instant(text) is None
    assert typed(text).kind == "text"
