"""`search`: what is searched, where, and by whom."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

import refdesk
from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LimitReached, NotFound, StepError
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


async def test_all_as_the_only_name_of_a_list_is_all(desk: refdesk.Desk) -> None:
    assert (await searched(desk, Search(collection=("all",)))).collections == ("default", "pumps")
    context = await searched(desk, Search(collection=("all", "pumps")))
    assert isinstance(context.error, NotFound)


async def test_ranks_have_no_gaps_behind_a_threshold(desk: refdesk.Desk) -> None:
    whole = await searched(desk, Search(mode="hybrid"))
    cosines = sorted((hit.vector_score or 0 for hit in whole.hits), reverse=True)
    kept = await searched(desk, Search(threshold=cosines[1] - 1e-6))
    assert [hit.rank for hit in kept.results[0].hits] == [1, 2]


async def test_searches_run_at_once_and_results_keep_their_order(desk: refdesk.Desk) -> None:
    """No search ends before all have begun, and they end in reverse."""
    begun: list[str] = []
    ended = {f"q{n}": anyio.Event() for n in range(6)}

    async def waiting(query: str, collection: str) -> list[dict[str, Any]]:
        begun.append(query)
        if len(begun) == len(ended):
            ended["q5"].set()
        await ended[query].wait()
        if query != "q0":
            ended[f"q{int(query[1]) - 1}"].set()
        return [{"id": query, "text": query}]

    queries = tuple(ended)
    context = await searched(desk, Search(searcher=waiting, timeout=30), sub_questions=(*queries, "q3"))
    assert [one.question for one in context.results] == list(queries)
    assert sorted(begun) == sorted(queries)


async def test_a_searcher_of_ones_own_is_held_to_top_k_and_to_the_filter(desk: refdesk.Desk) -> None:
    def many(query: str, collection: str) -> list[dict[str, Any]]:
        return [{"id": n, "text": f"passage {n}", "metadata": {"topic": n % 2}} for n in range(10)]

    context = await desk.start("?", filters={"topic": 1})
    context = await desk.step(Search(searcher=many, top_k=3), context)
    assert [hit.chunk.chunk_id for hit in context.hits] == ["1", "3", "5"]


async def test_a_searcher_of_ones_own_knows_its_collections(desk: refdesk.Desk) -> None:
    context = await searched(desk, Search(searcher=Elsewhere()), collections=("wiki", "tickets"))
    assert context.error is None
    assert [one.collection for one in context.results] == ["wiki", "tickets"]
    assert {hit.chunk.collection for hit in context.hits} == {"wiki", "tickets"}


def test_what_a_searcher_of_ones_own_is_not_told_is_a_problem() -> None:
    step = Search(searcher=Elsewhere(), mode="vector", threshold=0.4, top_k=3)
    [problem, *_] = Pipeline((step,)).problems()
    assert "not told `mode`, `threshold`" in problem.reason


@pytest.mark.parametrize("policy", ["stop", "continue"])
async def test_a_searcher_that_takes_too_long(desk: refdesk.Desk, policy: Any) -> None:
    async def sleeping(question: str, collection: str) -> list[Any]:
        await anyio.sleep_forever()
        return []

    before = await searched(desk, Search())
    context = await desk.step(Search(searcher=sleeping, timeout=0.01, on_error=policy), before)
    assert isinstance(context.error, LimitReached) is (policy == "stop")
    assert context.results == before.results
    assert context.trace[-1].error


async def test_one_failing_search_of_several_is_not_passed_over(desk: refdesk.Desk) -> None:
    def broken(query: str, collection: str) -> list[Any]:
        if collection == "b":
            raise ConnectionError("refused")
        return [{"id": "1", "text": "x"}]

    context = await searched(desk, Search(searcher=broken), collections=("a", "b"))
    assert isinstance(context.error, StepError)
    assert context.results == ()


async def test_options_of_one_search_do_not_reach_another(desk: refdesk.Desk) -> None:
    first = await searched(desk, Search(top_k=1, mode="keyword", collection="pumps"), rewritten_query="X200")
    second = await desk.step(Search(), first.evolve(collections=("default",)))
    assert [one.mode for one in (*first.results, *second.results)] == ["keyword", "hybrid"]
    assert len(second.hits) == 3
