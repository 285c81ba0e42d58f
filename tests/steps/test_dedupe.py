"""`dedupe`: what counts as a repetition, and which hit stays."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.context import Context
from refdesk.pipeline import Pipeline, Run, Services
from refdesk.results import Results
from refdesk.steps import Answer, Dedupe, Search
from refdesk.steps.outside import hits_of

pytestmark = pytest.mark.anyio

NOWHERE = cast(Services, None)
"""The step asks for no services."""
VALUES: Sequence[Any] = (1, 0, 1.0, True, False, "1", "", ("a", "b"), ["a", "b"], None)


def found(*metadata: Mapping[str, Any]) -> Context:
    passages = [
        {"id": f"h{place}", "document_id": one.get("doc", place), "text": "x", "metadata": one}
        for place, one in enumerate(metadata)
    ]
    hits = hits_of(passages, "default", Search())
    return Context(question="?", results=(Results(question="?", hits=hits),))


def ids(context: Context) -> list[str]:
    return [hit.chunk.chunk_id for hit in context.hits]


async def deduped(step: Dedupe, *metadata: Mapping[str, Any]) -> Context:
    return await Run(services=NOWHERE).step(step, found(*metadata))


async def test_the_best_hit_of_each_document_stays() -> None:
    assert ids(await deduped(Dedupe(), {"doc": 1}, {"doc": 2}, {"doc": 1}, {"doc": 2})) == ["h0", "h1"]


async def test_documents_of_different_collections_are_different() -> None:
    lists = [
        Results(question="?", hits=hits_of([{"id": name, "document_id": "d", "text": "x"}], name, Search()))
        for name in ("a", "b")
    ]
    context = await Run(services=NOWHERE).step(Dedupe(), Context(question="?", results=tuple(lists)))
    assert ids(context) == ["a", "b"]


@pytest.mark.parametrize("value", VALUES)
async def test_equal_values_repeat_each_other_where_they_say_something(value: Any) -> None:
    context = await deduped(Dedupe(by="topic"), {"topic": value}, {"topic": "other"}, {"topic": value})
    assert ids(context) == (["h0", "h1", "h2"] if value in ("", None) else ["h0", "h1"])


@pytest.mark.parametrize(
    ("one", "other", "same"), [(1, True, False), (0, False, False), (1, 1.0, True), (1, "1", False)]
)
async def test_what_is_equal(one: Any, other: Any, same: bool) -> None:
    context = await deduped(Dedupe(by="topic"), {"topic": one}, {"topic": other})
    assert len(context.hits) == (1 if same else 2)


async def test_hits_without_the_key_stay_in_their_places() -> None:
    context = await deduped(Dedupe(by="topic"), {}, {"topic": 1}, {}, {"topic": 1}, {})
    assert ids(context) == ["h0", "h1", "h2", "h4"]
    assert context.warnings == ()


async def test_a_key_that_no_hit_has_is_a_warning() -> None:
    context = await deduped(Dedupe(by="topik"), {"topic": 1}, {"topic": 1})
    assert ids(context) == ["h0", "h1"]
    assert context.warnings == (
        "dedupe: No hit has the metadata key 'topik', so none was taken for a repetition.",
    )


async def test_keep_and_per_value() -> None:
    rows = [{"doc": 1}, {"doc": 1}, {"doc": 1}, {"doc": 2}, {"doc": 3}]
    assert ids(await deduped(Dedupe(per_value=2), *rows)) == ["h0", "h1", "h3", "h4"]
    assert ids(await deduped(Dedupe(per_value=2, keep=3), *rows)) == ["h0", "h1", "h3"]
    assert ids(await deduped(Dedupe(keep=9), *rows)) == ["h0", "h3", "h4"]


async def test_nothing_to_do() -> None:
    context = await Run(services=NOWHERE).step(Dedupe(), Context(question="?"))
    assert context.trace[-1].measures == {"reason": "there are no hits"}


@pytest.mark.parametrize("options", [{"keep": 0}, {"per_value": 0}, {"by": 5}])
async def test_wrong_options_are_found_before_anything_runs(options: Any) -> None:
    assert Pipeline((Search(), Dedupe(**options), Answer())).problems()


topics = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=12)


@given(topics)
async def test_each_value_once_best_first_and_the_order_stays(given: list[str | None]) -> None:
    context = await deduped(Dedupe(by="topic"), *({"topic": topic} for topic in given))
    firsts = [n for n, topic in enumerate(given) if topic is None or given.index(topic) == n]
    assert ids(context) == [f"h{n}" for n in firsts]
    assert [hit.rank for hit in context.hits] == list(range(1, len(firsts) + 1))


async def test_of_several_keys_the_first_counts_that_a_hit_has() -> None:
    rows: list[dict[str, Any]] = [
        {"topic_id": "a", "doc": 1},
        {"topic_id": "a", "doc": 2},
        {"doc": 3},
        {"doc": 3},
        {"topic_id": ""},
    ]
    context = await deduped(Dedupe(by=("topic_id", "document")), *rows)
    assert ids(context) == ["h0", "h2", "h4"]
    assert context.warnings == ()


async def test_values_of_different_keys_do_not_repeat_each_other() -> None:
    rows = [{"topic": "a"}, {"thread": "a"}, {"thread": "a"}, {}]
    context = await deduped(Dedupe(by=("topic", "thread")), *rows)
    assert ids(context) == ["h0", "h1", "h3"]


async def test_several_keys_that_no_hit_has_are_a_warning() -> None:
    context = await deduped(Dedupe(by=("topik", "thred")), {"topic": 1})
    assert "the metadata key 'topik' or 'thred'" in context.warnings[0]


@pytest.mark.parametrize("by", [(), ("document", "topic_id")])
def test_keys_that_make_no_sense(by: Any) -> None:
    [problem] = Pipeline((Search(), Dedupe(by=by), Answer())).problems()
    assert problem.step == "dedupe"
