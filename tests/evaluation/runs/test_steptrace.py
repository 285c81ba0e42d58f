"""Traces as lines."""

from refdesk.context import Trace
from refdesk.evaluation.runs.steptrace import LONGEST, trace_lines


def test_a_line_for_each_step_in_the_order_they_began() -> None:
    inner = Trace(
        path=("repeat", "1", "search"),
        kind="retriever",
        outcome="done",
        started=0.2,
        seconds=0.0124,
        measures={"hits": 3, "queries": ("a b", "c"), "score": 0.123456, "reason": "", "best": None},
    )
    outer = Trace(
        path=("repeat",),
        kind="control",
        outcome="continued",
        started=0.1,
        seconds=1.5,
        warnings=("search: slow\nvery",),
        error="x" * 500,
    )
    first, second = trace_lines([inner, outer])
    assert first == f"repeat  1500 ms  continued  warning: search: slow very  error: {'x' * (LONGEST - 1)}…"
    assert second == "repeat/1/search  12 ms  hits=3  queries=a b | c  score=0.123"
