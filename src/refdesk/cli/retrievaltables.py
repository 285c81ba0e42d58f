"""What `refdesk eval retrieval` found, as tables."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.evaluation.searching.report import Report, WayReport


def show_report(session: Session, report: "Report") -> None:
    """Print a table of ways, another one of differences, and what failed."""
    name = ", ".join(filter(None, (report.data, report.split)))
    documents = f"{report.documents:,} documents, " if report.documents else ""
    say(session.out, f"{name}: {documents}{report.queries:,} queries")
    measures = tuple(report.ways[0].scores)
    asked = any(way.requests for way in report.ways)
    failed = any(way.failed for way in report.ways)
    headings = (*measures, "p50 ms", "p95 ms", *ASKED * asked, *FAILED * failed)
    table(session.out, ("way", *headings), [(way.name, *_row(way, asked, failed)) for way in report.ways])
    if differences := list(_differences(report.ways)):
        say(session.out, f"\nAbove {report.against}, with 95 % intervals:")
        table(session.out, ("way", *measures), differences)
    for warning in report.warnings:
        session.note(f"warning: {warning}")
    for way in report.ways:
        if way.failed:
            session.note(f"warning: {way.name}: {_failures(way)}")


ASKED = ("requests", "tokens")
FAILED = ("failed",)


def _row(way: "WayReport", asked: bool, failed: bool) -> Iterable[object]:
    yield from (*way.scores.values(), round(way.p50 * 1000), round(way.p95 * 1000))
    if asked:
        yield from (f"{way.requests:.1f}", round(way.tokens))
    if failed:
        yield way.failed


def _differences(ways: "Iterable[WayReport]") -> Iterator[tuple[str, ...]]:
    for way in ways:
        if way.differences is not None:
            cells = (
                f"{one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f})" for one in way.differences.values()
            )
            yield (way.name, *cells)


def _failures(way: "WayReport") -> str:
    """Say what failed, the most frequent first."""
    counted = Counter(failure for query in way.queries for failure in set(query.failures))
    parts = ", ".join(f"{name} in {count}" for name, count in counted.most_common(5))
    return f"something failed and was passed over for {way.failed} of {len(way.queries)} queries: {parts}."
