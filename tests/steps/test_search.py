"""`search`: what is searched, where, and by whom."""

from collections.abc import Sequence
from typing import Any

import pytest

import refdesk
from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import NotFound, StepError
from refdesk.pipeline import Pipeline
from refdesk.steps import Search

pytestmark = pytest.mark.anyio


async def searched(desk: refdesk.Desk, step: Search, **changes: Any) -> Context:
    context = await desk.start("How many days of leave?")
    return await desk.step(step, context.evolve(**changes))


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.source_id for hit in hits]


async def test_one_list_per_query_and_collection_in_order(desk: refdesk.Desk) -> None:
    context = await searched(
        desk, Search(top_k=2), sub_questions=("leave", "pump", "leave"), collections=("default", "pumps")
    )
    assert [(one.question, one.collection) for one in context.results] == [
        ("leave", "default"),
        ("leave", "pumps"),
        ("pump", "default"),
        ("pump", "pumps"),
    ]
    assert all(len(one.hits) <= 2 and one.explanation.mode == "hybrid" for one in context.results)
    assert context.queries_tried == ("leave", "pump")
    assert [hit.rank for hit in context.hits] == list(range(1, len(context.hits) + 1))
    assert len({hit.chunk.chunk_id for hit in context.hits}) == len(context.hits)


@pytest.mark.parametrize("changes", [{"rewritten_query": "X200"}, {"expanded_query": "X200"}])
async def test_the_rewritten_query_is_searched_with_and_without_expansion(
    desk: refdesk.Desk, changes: dict[str, str]
) -> None:
    context = await searched(desk, Search(collection="pumps"), **changes)
    assert [one.question for one in context.results] == ["X200"]
    assert ids(context.hits)[0] == "x200"


async def test_option_before_context_before_default(desk: refdesk.Desk) -> None:
    assert (await searched(desk, Search())).collections == ("default",)
    assert (await searched(desk, Search(), collections=("pumps",))).collections == ("pumps",)
    option = await searched(desk, Search(collection="default"), collections=("pumps",))
    assert option.collections == ("default",)
    assert (await searched(desk, Search(collection="all"))).collections == ("default", "pumps")


async def test_no_collection_on_purpose(desk: refdesk.Desk) -> None:
    for context in (
        await searched(desk, Search(collection=())),
        await searched(desk, Search(), collections=()),
    ):
        assert (context.error, context.results, context.collections) == (None, (), ())


@pytest.mark.parametrize("named", ["pump", ("default", "pump")])
async def test_an_unknown_collection_is_an_error(desk: refdesk.Desk, named: Any) -> None:
    context = await searched(desk, Search(collection=named))
    assert isinstance(context.error, NotFound)
    assert "pumps" in str(context.error)


async def test_skipped_retrieval_empties_the_results(desk: refdesk.Desk) -> None:
    found = await searched(desk, Search())
    context = await desk.step(Search(), found.evolve(skip_retrieval=True))
    assert context.results == ()
    assert context.hits == ()


async def test_a_threshold_is_a_cosine(desk: refdesk.Desk) -> None:
    context = await searched(desk, Search())
    best = max(hit.vector_score or 0 for hit in context.hits)
    kept = await searched(desk, Search(threshold=best - 1e-6))
    assert len(kept.hits) == 1 < len(context.hits)
    assert (await searched(desk, Search(threshold=0.9999))).hits == ()


async def test_the_filter_of_the_call_holds(desk: refdesk.Desk) -> None:
    context = await desk.start("leave kitchen trains", filters={"topic": 1})
    assert ids((await desk.step(Search(), context)).hits) == ["kitchen"]


class Elsewhere:
    def __init__(self, count: int = 2) -> None:
        self.count = count

    async def search(self, question: str, collection: str) -> list[dict[str, Any]]:
        return [
            {"id": f"{collection}-{n}", "text": f"{question} {n}", "document_id": "d", "score": 1.0 / (n + 1)}
            for n in range(self.count)
        ]


@pytest.mark.parametrize("searcher", [Elsewhere(), Elsewhere, (Elsewhere, {"count": 2})])
async def test_a_searcher_of_ones_own(desk: refdesk.Desk, searcher: Any) -> None:
    context = await searched(desk, Search(searcher=searcher), collections=("a",))
    assert [(hit.chunk.chunk_id, hit.rank) for hit in context.hits] == [("a-0", 1), ("a-1", 2)]
    assert context.hits[0].chunk.text == "How many days of leave? 0"
    assert context.hits[0].chunk.document_id == "d"


async def test_a_function_gives_hits_of_the_library(desk: refdesk.Desk) -> None:
    found = (await desk.search("leave")).hits
    context = await searched(desk, Search(searcher=lambda question, collection: found[:1]))
    assert context.hits == found[:1]


@pytest.mark.parametrize("nonsense", [None, "text", {"id": 1, "text": "x"}, [{"id": 1}], [5], 7])
async def test_nonsense_is_an_error_not_an_empty_list(desk: refdesk.Desk, nonsense: Any) -> None:
    context = await searched(desk, Search(searcher=lambda question, collection: nonsense))
    assert isinstance(context.error, StepError)
    assert "allowed is a list of hits" in str(context.error)


async def test_a_failing_searcher_is_an_error_or_a_warning(desk: refdesk.Desk) -> None:
    def broken(question: str, collection: str) -> list[Any]:
        raise ConnectionError("refused")

    stopped = await searched(desk, Search(searcher=broken))
    assert "ConnectionError: refused" in str(stopped.error)
    passed = await searched(desk, Search(searcher=broken, on_error="continue"))
    assert passed.error is None
    assert "ConnectionError" in passed.warnings[0]
    assert passed.results == ()


async def test_keyword_search_has_no_cosine() -> None:
    [problem, *_] = Pipeline((Search(mode="keyword", threshold=0.4),)).problems()
    assert "threshold" in problem.reason
