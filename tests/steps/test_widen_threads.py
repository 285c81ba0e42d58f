"""`widen: {by: topic_id}`: the posts around a post, each a hit of its own, and only what may be read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.steps.services import document, id_of, ran, services_on

from refdesk.context import Context
from refdesk.documents import Chunk, Document, Hit, Metadata, Scope
from refdesk.pipeline import Pipeline
from refdesk.results import Results, numbered
from refdesk.retrieval.threads import Thread, around
from refdesk.steps import Widen

pytestmark = pytest.mark.anyio

Made = tuple[Document, tuple[Chunk, ...]]
STEP = Widen(by="topic_id")


def post(topic: int, number: int, **options: Any) -> Made:
    text = options.pop("text", f"Post {number} of topic {topic}.")
    metadata: Metadata = {"topic_id": topic, "post_number": number, **options.pop("more", {})}
    made, chunks = document(text, source_id=f"{topic}-{number}", metadata=metadata, **options)
    return replace(made, url=f"https://forum.example/t/x/{topic}/{number}"), chunks


def hit(made: Made, **scores: Any) -> Hit:
    one, chunks = made
    return Hit(
        chunk=chunks[0],
        title=one.title,
        url=one.url,
        source_id=one.source_id,
        metadata=one.metadata,
        **scores,
    )


def on(*hits: Hit) -> Context:
    return Context(question="?", results=(Results(question="?", hits=numbered(hits)),))


async def widened(folder: Path, step: Widen, made: Sequence[Made], context: Context) -> Context:
    async with services_on(folder / "library", *made) as services:
        return await ran(services, step, context)


def ids(context: Context) -> list[str]:
    return [one.source_id for one in context.hits]


async def test_a_hit_is_followed_by_its_neighbours(tmp_path: Path) -> None:
    made = [post(1, number) for number in range(1, 6)] + [post(2, 3)]
    context = await widened(tmp_path, STEP, made, on(hit(made[2], rerank_score=0.8)))
    assert ids(context) == ["1-3", "1-2", "1-4"]
    assert [one.rank for one in context.hits] == [1, 2, 3]
    assert [one.rerank_score for one in context.hits] == [0.8, None, None]
    assert context.hits[1].url == "https://forum.example/t/x/1/2"
    assert context.hits[1].chunk.text == "Post 2 of topic 1."
    assert context.hits[1].found_by == ()
    assert context.trace[-1].measures == {"widened": 1, "added": 2, "hits": 3}


@pytest.mark.parametrize(
    ("before", "behind", "expected"),
    [
        (0, 0, []),
        (2, 0, ["1-1", "1-4"]),
        (0, 2, ["1-11", "1-12"]),
        (1, 1, ["1-4", "1-11"]),
        (20, 20, ["1-1", "1-4", "1-11", "1-12"]),
    ],
)
async def test_gaps_are_stepped_over(tmp_path: Path, before: int, behind: int, expected: list[str]) -> None:
    made = [post(1, number) for number in (1, 4, 9, 11, 12)]
    step = Widen(by="topic_id", before=before, behind=behind)
    context = await widened(tmp_path, step, made, on(hit(made[2])))
    assert ids(context) == ["1-9", *expected]


async def test_no_document_comes_twice_and_the_rest_stays_behind(tmp_path: Path) -> None:
    made = [post(1, number) for number in range(1, 8)]
    context = on(hit(made[2]), hit(made[4]), hit(made[5]))
    after = await widened(tmp_path, Widen(by="topic_id", hits=2), made, context)
    assert ids(after) == ["1-3", "1-2", "1-4", "1-5", "1-6"]


async def test_what_may_not_be_read_is_no_neighbour(tmp_path: Path) -> None:
    made = [post(1, 1), post(1, 2), post(1, 3), post(1, 4)]
    made[2] = (replace(made[2][0], acl=("group:staff",)), made[2][1])
    thread = Thread(by="topic_id", order="post_number")
    async with services_on(tmp_path / "library", *made) as services:
        public = await ran(services, STEP, on(hit(made[1])))
        reader = await services.desk.reader(Scope(("default",), ("group:staff",)))
        staff = await around(reader, hit(made[1]), thread)
    assert ids(public) == ["1-2", "1-1", "1-4"]
    assert [one.source_id for one in staff or ()] == ["1-1", "1-3"]


async def test_threads_of_another_collection_are_others(tmp_path: Path) -> None:
    made = [post(1, 1), post(1, 2), post(1, 3, collection="pumps")]
    assert ids(await widened(tmp_path, STEP, made, on(hit(made[1])))) == ["1-2", "1-1"]


async def test_of_a_long_neighbour_its_beginning(tmp_path: Path) -> None:
    made = [post(1, 1, text="It begins here.\nIt goes on.\nIt ends."), post(1, 2)]
    context = await widened(tmp_path, STEP, made, on(hit(made[1])))
    assert [one.chunk.text for one in context.hits][1:] == ["It begins here."]


async def test_a_hit_without_a_thread_stays_with_a_warning(tmp_path: Path) -> None:
    plain = document("No thread at all.", source_id="plain")
    unnumbered = document("No number.", source_id="odd", metadata={"topic_id": 1, "post_number": "two"})
    made = [post(1, 1), post(1, 2), plain, unnumbered]
    context = await widened(tmp_path, STEP, made, on(hit(plain), hit(made[0]), hit(unnumbered)))
    assert ids(context) == ["plain", "1-1", "1-2", "odd"]
    assert context.warnings == ("widen: 2 of 3 hits have no 'topic_id' or no number in 'post_number'.",)


async def test_a_removed_hit_still_has_its_thread(tmp_path: Path) -> None:
    gone = post(1, 2)
    context = await widened(tmp_path, STEP, [post(1, 1), post(1, 3)], on(hit(gone)))
    assert ids(context) == ["1-2", "1-1", "1-3"]
    assert id_of("1-2") not in {one.chunk.document_id for one in context.hits[1:]}


def test_it_can_be_written_in_a_pipeline() -> None:
    assert Pipeline((Widen(by="topic_id", before=0),)).steps[0] == Widen(by="topic_id", before=0)
