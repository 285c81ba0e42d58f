"""A text that has a vector keeps it: what changed is embedded, and nothing else."""

import numpy as np
import pytest
from tests.ingest.conftest import Bench
from tests.ingest.renewals import Renewal, chunk_ids

from refdesk.documents import Scope
from refdesk.ingest import Recipe
from refdesk.ingest.rehearsal import Rehearsal
from refdesk.sources.text import Text
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

SECTIONS = [
    f"# Part {part}\n\n" + " ".join(f"Sentence {each} of part {part} speaks of leave." for each in range(20))
    for part in range(6)
]
"""Each fills a chunk."""


def text(*sections: str, title: str = "Handbook") -> Text:
    return Text("\n\n".join(sections), source_id="handbook", title=title, media_type="text/markdown")


async def test_only_the_changed_chunk_is_embedded(bench: Bench) -> None:
    first = await bench.ingest(text(*SECTIONS))
    assert first.embedded == first.chunks == len(SECTIONS)
    changed = [*SECTIONS[:2], SECTIONS[2].replace("Sentence 9", "The ninth"), *SECTIONS[3:]]
    again = await bench.ingest(text(*changed))
    assert (again.counts, again.embedded, again.chunks) == ({"updated": 1}, 1, len(SECTIONS))
    await assert_vectors_fit(bench)


async def test_chunks_that_move_keep_their_vectors(bench: Bench) -> None:
    await bench.ingest(text(*SECTIONS))
    again = await bench.ingest(text(*SECTIONS[3:], "# New\n\nA new beginning.", *SECTIONS[:2]))
    assert (again.embedded, again.chunks) == (1, 5), "the new part is in a chunk with the one behind it"
    await assert_vectors_fit(bench)


async def test_another_title_is_another_text(bench: Bench) -> None:
    await bench.ingest(text(*SECTIONS))
    assert (await bench.ingest(text(*SECTIONS, title="Manual"))).embedded == len(SECTIONS)
    await assert_vectors_fit(bench)


async def test_equal_texts_of_a_batch_are_embedded_once(bench: Bench) -> None:
    sources = [Text("The same.", source_id=str(number), title="Same") for number in range(5)]
    summary = await bench.ingest(*sources)
    assert (summary.embedded, summary.chunks) == (1, 5)
    await assert_vectors_fit(bench)


async def test_vectors_of_tokens_come_along(bench: Bench) -> None:
    await bench.ingest(text(*SECTIONS))
    bench.token_vectors = True
    assert (await bench.ingest(text(*SECTIONS))).embedded == len(SECTIONS), "they had none"
    again = await bench.ingest(text(*SECTIONS[1:]))
    assert (again.embedded, again.chunks) == (0, len(SECTIONS) - 1)
    await assert_vectors_fit(bench)
    bench.token_vectors = False
    assert (await bench.ingest(text(*SECTIONS))).embedded == 1, "with them or without, a vector is the same"
    reader = await bench.store.reader(Scope(("c",), upkeep=True))
    (ids,) = (await chunk_ids(bench.store)).values()
    assert await reader.token_vectors(ids) == {}


async def test_reembedding_in_the_same_space_keeps_what_stays(bench: Bench) -> None:
    await bench.ingest(Text("A short text.", source_id="short"), text(*SECTIONS))
    smaller = Renewal(bench, bench.embedder, chunk_size=40)
    summary = await smaller.reembed()
    assert summary.counts == {"updated": 2}
    assert summary.embedded == summary.chunks - 1
    await assert_vectors_fit(bench, smaller.recipe)


async def test_another_space_keeps_nothing(bench: Bench) -> None:
    await bench.ingest(text(*SECTIONS))
    assert (await Renewal(bench, HashingEmbedder(dimension=32)).reembed()).embedded == len(SECTIONS)


async def test_a_rehearsal_counts_what_would_be_embedded(bench: Bench) -> None:
    await bench.ingest(text(*SECTIONS))
    run = bench.run(text(*SECTIONS[1:], "# New\n\nA new end."))
    rehearsal = Rehearsal(bench.store, fingerprint=str(bench.embedder.fingerprint))
    run.store = run.writer = rehearsal
    assert (await run.run()).embedded == 1


async def assert_vectors_fit(bench: Bench, recipe: Recipe | None = None) -> None:
    """Every vector is that of its own text."""
    reader = await bench.store.reader(Scope(("c",), upkeep=True))
    for record in await reader.documents():
        document, chunks = await reader.document(record.document_id), await reader.chunks(record.document_id)
        prepared = (recipe or bench.run().recipe).prepare(document)
        expected = await HashingEmbedder().embed_documents(prepared.texts)
        vectors = await reader.vectors([chunk.chunk_id for chunk in chunks])
        tokens = await reader.token_vectors([chunk.chunk_id for chunk in chunks])
        assert len(chunks) == len(expected)
        for chunk, text, vector in zip(chunks, prepared.texts, expected, strict=True):
            np.testing.assert_array_equal(vectors[chunk.chunk_id], vector)
            if tokens:
                assert len(tokens[chunk.chunk_id]) == bench.embedder.count_tokens(text)
