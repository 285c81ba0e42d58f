"""`search` where an arm fails: what it warns of, and which options do not go together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.steps.services import document, ran, services_on

from refdesk.context import Context
from refdesk.embedding import Vectors
from refdesk.errors import NotFound, RemoteError
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Reason, Search
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

LENIENT = Search(on_arm_error="continue", fusion="rrf", mode="hybrid")


class Down(HashingEmbedder):
    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise RemoteError("It is down.", retryable=True)


async def searched(folder: Path, step: Any, context: Context, llm: Any = None) -> Context:
    documents = (
        document("Leave is 30 days.", source_id="leave"),
        document("The pump is loud.", source_id="pump", collection="pumps"),
    )
    async with services_on(folder, *documents, llm=llm) as services:
        services.desk.built["embedder"] = Down()
        return await ran(services, step, context)


async def test_several_lists_give_one_warning(tmp_path: Path) -> None:
    context = Context(question="?", sub_questions=("leave", "pump"), collections=("default", "pumps"))
    found = await searched(tmp_path, LENIENT, context)
    assert found.warnings == (
        "search: Only by words was searched in 'default', 'pumps', for the vector arm failed: It is down.",
    )
    assert found.degraded == ("search.vector",)
    assert {hit.source_id for hit in found.hits} == {"leave", "pump"}
    assert found.trace[-1].outcome == "done"


async def test_by_default_it_fails(tmp_path: Path) -> None:
    found = await searched(tmp_path, Search(), Context(question="leave"))
    assert isinstance(found.error, RemoteError)


async def test_an_unknown_collection_is_an_error_all_the_same(tmp_path: Path) -> None:
    found = await searched(tmp_path, LENIENT, Context(question="leave", collections=("defualt",)))
    assert isinstance(found.error, NotFound)


async def test_a_later_step_does_not_search_by_half_in_silence(tmp_path: Path) -> None:
    llm = ScriptedLLM(['{"sufficient": false, "follow_up_query": "days of holiday"}'])
    steps = Pipeline((LENIENT, Reason(max_iterations=1)))
    found = await searched(tmp_path, steps, Context(question="leave"), llm)
    assert found.degraded == ("search.vector", "reason")
    assert "reason: It is down." in found.warnings


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "vector"}, "`on_arm_error` is for `hybrid`"),
        ({"mode": "keyword"}, "`on_arm_error` is for `hybrid`"),
        ({"threshold": 0.5}, "without the vector arm there is none"),
        ({"arm_timeout": 0}, "arm_timeout"),
    ],
)
def test_options_that_do_not_go_together(options: Any, says: str) -> None:
    [problem] = Pipeline((Search(on_arm_error="continue", **options), Answer())).problems()
    assert says in problem.reason
