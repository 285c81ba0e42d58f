"""`widen`: more of the text around a hit, exact and never twice."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.steps.services import document, id_of, ran, services_on

from refdesk.context import Context
from refdesk.documents import PUBLIC, Chunk, Document, Hit, Page
from refdesk.errors import StoreError
from refdesk.pipeline import Pipeline, Run, Services
from refdesk.results import Results, numbered
from refdesk.steps import Answer, Search, Widen
from refdesk.steps.widen import joined_up

pytestmark = pytest.mark.anyio

TEXT = "".join(f"Sentence number {n} is here. " for n in range(12)).strip()
SPANS = [(at * 24, at * 24 + 36) for at in range(12)]
"""Chunks of 36 characters, each 24 after the one before, so that they overlap by 12."""

Made = tuple[Document, tuple[Chunk, ...]]


def overlapping(source_id: str = "doc", **options: Any) -> Made:
    spans = [(start, min(end, len(TEXT))) for start, end in SPANS]
    return document(TEXT, spans, source_id=source_id, **options)


def on(*chunks: Chunk) -> Context:
    hits = [Hit(chunk=chunk, title="t", url=None, source_id="s", rerank_score=0.5) for chunk in chunks]
    return Context(question="?", results=(Results(question="?", hits=numbered(hits)),))


async def widened(folder: Path, step: Widen, made: Sequence[Made], context: Context) -> Context:
    async with services_on(folder / "library", *made) as services:
        return await ran(services, step, context)


def places(context: Context) -> list[tuple[int, int]]:
    return [(hit.chunk.start, hit.chunk.end) for hit in context.hits]


def assert_exact(context: Context) -> None:
    for hit in context.hits:
        assert TEXT[hit.chunk.start : hit.chunk.end] == hit.chunk.text
    spans = sorted((hit.chunk.document_id, hit.chunk.start, hit.chunk.end) for hit in context.hits)
    for (one, _, end), (other, start, _) in pairwise(spans):
        assert one != other or end <= start


async def test_overlapping_chunks_are_joined_without_repeating(tmp_path: Path) -> None:
    made = overlapping()
    context = await widened(tmp_path, Widen(), [made], on(made[1][5]))
    assert places(context) == [(4 * 24, 6 * 24 + 36)]
    assert_exact(context)
    assert context.hits[0].chunk.chunk_id == made[1][5].chunk_id
    assert (context.hits[0].rank, context.hits[0].rerank_score) == (1, 0.5)
    assert context.warnings == ()


@pytest.mark.parametrize(
    ("before", "behind", "place", "span"),
    [
        (0, 0, 5, (120, 156)),
        (2, 0, 5, (72, 156)),
        (0, 2, 5, (120, 204)),
        (3, 0, 0, (0, 36)),
        (20, 20, 5, (0, 300)),
    ],
)
async def test_how_far_it_reaches(
    tmp_path: Path, before: int, behind: int, place: int, span: tuple[int, int]
) -> None:
    made = overlapping()
    context = await widened(tmp_path, Widen(before=before, behind=behind), [made], on(made[1][place]))
    assert places(context) == [(span[0], min(span[1], len(TEXT)))]
    assert_exact(context)


async def test_the_better_hit_stands_for_both_and_bridges_join_all(tmp_path: Path) -> None:
    made = overlapping()
    chunks = made[1]
    context = await widened(tmp_path, Widen(), [made], on(chunks[9], chunks[2], chunks[5], chunks[4]))
    assert [hit.chunk.chunk_id for hit in context.hits] == [chunks[9].chunk_id, chunks[2].chunk_id]
    assert places(context)[1] == (24, 6 * 24 + 36)
    assert context.trace[-1].measures["joined"] == 2
    assert_exact(context)


async def test_a_hit_behind_the_widened_ones_repeats_nothing(tmp_path: Path) -> None:
    made, other = overlapping(), overlapping("other")
    chunks = made[1]
    before = on(chunks[5], chunks[7], chunks[6], other[1][5], chunks[10])
    context = await widened(tmp_path, Widen(hits=1), [made, other], before)
    assert [hit.chunk.chunk_id for hit in context.hits] == [
        chunks[5].chunk_id,
        other[1][5].chunk_id,
        chunks[10].chunk_id,
    ]
    assert places(context)[0] == (4 * 24, 7 * 24 + 36)
    assert places(context)[1] == (120, 156)
    assert_exact(context)


async def test_hits_of_several_collections(tmp_path: Path) -> None:
    one, two = overlapping(), overlapping(collection="pumps")
    context = await widened(tmp_path, Widen(), [one, two], on(one[1][3], two[1][3]))
    assert [hit.chunk.collection for hit in context.hits] == ["default", "pumps"]
    assert places(context) == [(48, 132)] * 2
    assert_exact(context)


async def test_the_page_is_that_of_the_new_start(tmp_path: Path) -> None:
    stored, chunks = overlapping()
    paged = Document(
        collection=stored.collection,
        source_id=stored.source_id,
        title=stored.title,
        text=TEXT,
        pages=(Page(1, 0, 110), Page(2, 110, len(TEXT))),
        acl=(PUBLIC,),
    )
    context = await widened(tmp_path, Widen(), [(paged, chunks)], on(chunks[5]))
    assert (context.hits[0].chunk.start, context.hits[0].chunk.page) == (96, 1)


def elsewhere(chunk: Chunk, **changes: Any) -> dict[str, Any]:
    return {"id": "outside", "document_id": chunk.document_id, "text": "Not of this document.", **changes}


@pytest.mark.parametrize("collection", ["default", "wiki"])
async def test_hits_from_elsewhere_pass_with_a_warning(tmp_path: Path, collection: str) -> None:
    """Also those that name a stored document and whose text is not in it, or is no chunk of it."""
    made = overlapping()
    found = [
        {"id": "w1", "document_id": "w", "text": "From the wiki."},
        elsewhere(made[1][0]),
        elsewhere(made[1][0], id="part", text=TEXT[3:9], start=3),
    ]
    search = Search(searcher=lambda query, name: found, collection=collection)
    async with services_on(tmp_path / "library", made) as services:
        before = await ran(services, search, on())
        context = await ran(services, Widen(), before)
    assert context.error is None
    assert context.hits == before.hits
    assert context.warnings == ("widen: 3 of 3 hits are in no collection and were not widened.",)


async def test_stored_hits_are_widened_beside_hits_from_elsewhere(tmp_path: Path) -> None:
    made = overlapping()
    outside = Chunk(
        chunk_id="w", document_id=id_of("doc"), collection="wiki", position=0, start=0, end=4, text="Wiki"
    )
    context = await widened(tmp_path, Widen(hits=2), [made], on(outside, made[1][1], outside, made[1][8]))
    assert [hit.chunk.chunk_id for hit in context.hits] == ["w", made[1][1].chunk_id, made[1][8].chunk_id]
    assert places(context) == [(0, 4), (0, 84), (192, 228)]
    assert "1 of 2 hits" in context.warnings[0]


async def test_a_document_that_was_removed_passes(tmp_path: Path) -> None:
    gone = document("It was here.\nIt is gone.", source_id="gone")
    context = await widened(tmp_path, Widen(), [overlapping()], on(gone[1][1]))
    assert places(context) == [(13, 24)]
    assert "1 of 1 hits" in context.warnings[0]


async def test_it_can_be_answered_with_exact_quotes(tmp_path: Path) -> None:
    made = overlapping()
    async with services_on(tmp_path / "library", made) as services:
        steps = Search(top_k=2) | Widen() | Answer()
        context = await ran(services, steps, Context(question="Where is sentence number 5?"))
    assert context.answer is not None
    assert context.answer.citations
    for citation in context.answer.citations:
        assert TEXT[citation.start : citation.end] == citation.quote


class Broken:
    """Services whose store fails."""

    def __init__(self, services: Services, wait: bool = False) -> None:
        self._services = services
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        return getattr(self._services, name)

    async def reader(self, collections: Sequence[str]) -> Any:
        if self._wait:
            await anyio.sleep_forever()
        raise StoreError("The store cannot be read.")


@pytest.mark.parametrize("wait", [False, True])
async def test_a_store_that_fails_leaves_the_hits(tmp_path: Path, wait: bool) -> None:
    made = overlapping()
    before = on(made[1][3])
    async with services_on(tmp_path / "library", made) as services:
        run = Run(services=Broken(services, wait))
        context = await run.step(Widen(timeout=0.05), before)
        assert (context.results, context.trace[-1].outcome) == (before.results, "continued")
        assert context.warnings
        assert (await run.step(Widen(timeout=0.05, on_error="stop"), before)).error is not None


@pytest.mark.parametrize("options", [{"before": -1}, {"behind": 21}, {"hits": 0}])
def test_wrong_options_are_found_before_anything_runs(options: Any) -> None:
    assert Pipeline((Search(), Widen(**options), Answer())).problems()


cuts = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=10)


@given(cuts)
def test_joined_hits_hold_all_text_once(given: list[tuple[int, int]]) -> None:
    spans = [(start, min(start + length, len(TEXT))) for start, length in given]
    stored, chunks = document(TEXT, spans)
    hits = on(*chunks).hits
    joined = joined_up(hits, {stored.document_id: stored})
    covered = [place for hit in joined for place in range(hit.chunk.start, hit.chunk.end)]
    assert len(covered) == len(set(covered))
    assert set(covered) == {place for start, end in spans for place in range(start, end)}
    assert all(TEXT[hit.chunk.start : hit.chunk.end] == hit.chunk.text for hit in joined)
    assert joined[0].chunk.chunk_id == hits[0].chunk.chunk_id


@settings(max_examples=15, deadline=None)
@given(
    picked=st.lists(st.integers(0, 11), min_size=1, max_size=8, unique=True),
    before=st.integers(0, 3),
    behind=st.integers(0, 3),
    hits=st.integers(1, 9),
)
async def test_what_is_widened_is_exact_and_loses_nothing(
    picked: list[int], before: int, behind: int, hits: int
) -> None:
    made = overlapping()
    context = on(*(made[1][place] for place in picked))
    with TemporaryDirectory() as folder:
        step = Widen(before=before, behind=behind, hits=hits)
        wide = await widened(Path(folder), step, [made], context)
    assert wide.warnings == ()
    for hit in wide.hits:
        assert TEXT[hit.chunk.start : hit.chunk.end] == hit.chunk.text
    for old in context.hits:
        assert any(new.chunk.start <= old.chunk.start and old.chunk.end <= new.chunk.end for new in wide.hits)
    if hits >= len(picked):
        assert_exact(wide)
