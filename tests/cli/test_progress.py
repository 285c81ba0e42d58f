"""How far long work is, told where no terminal shows it."""

import io

import pytest
from rich.console import Console

from refdesk.cli.progress import LATEST, SOONEST, counting, ingest_progress
from refdesk.cli.session import Session
from refdesk.events import IngestStarted, Outcome, SourceFinished


def session(*, terminal: bool = False, json: bool = False) -> tuple[Session, io.StringIO]:
    stream = io.StringIO()
    err = Console(file=stream, force_terminal=terminal, markup=False, highlight=False, width=100)
    return Session(library=None, verbose=False, json=json, out=err, err=err), stream


class Clock:
    """A clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def ingested(clock: Clock, seconds: float, count: int = 12, **how: bool) -> list[str]:
    """Ingest sources that take so long each, and return what was told."""
    one, stream = session(**how)
    with ingest_progress(one, clock) as take:
        take(IngestStarted(collection="default", total=count))
        for number in range(count):
            clock.now += seconds
            outcome: Outcome = "failed" if number == 3 else "removed" if number == 5 else "added"
            take(SourceFinished(source_id=f"s{number}", outcome=outcome, chunks=0 if number == 3 else 100))
    return stream.getvalue().splitlines()


def test_a_long_ingestion_says_now_and_then_how_far_it_is() -> None:
    told = ingested(Clock(), SOONEST / 2)
    assert told[:2] == [
        "2 of 12 done, 200 chunks, after 0.5 min",
        "4 of 12 done, 300 chunks, 1 failed, after 1.0 min",
    ]
    assert len(told) == 5


def test_a_short_one_says_nothing_and_a_very_long_one_not_too_much() -> None:
    assert ingested(Clock(), SOONEST / 13) == []
    clock = Clock()
    assert 40 < len(ingested(clock, 10, count=1800)) < 90, "Five hours."
    assert len(ingested(Clock(), LATEST + 1, count=12)) == 11, "All but what was removed."


@pytest.mark.parametrize("how", [{"json": True}, {"terminal": True}])
def test_nothing_is_told_with_json_or_where_a_bar_shows_it(how: dict[str, bool]) -> None:
    assert not any("done" in line for line in ingested(Clock(), SOONEST * 2, **how))


def test_questions_are_counted_the_same_way() -> None:
    clock, (one, stream) = Clock(), session()
    with counting(one, 4, clock) as count:
        for _ in range(4):
            clock.now += 20
            count("a question")
    assert stream.getvalue().splitlines() == ["2 of 4 done, after 0.7 min", "4 of 4 done, after 1.3 min"]
