"""The checks that every reranker has to pass."""

from collections.abc import Sequence
from math import isfinite

from refdesk.documents import Chunk, Hit, chunk_id, document_id
from refdesk.reranking import Reranker

QUESTION = "How many days of leave are granted?"
ANSWER = "Thirty days of leave are granted every year."
FILLER = "The old river runs slowly past quiet stone mills and empty meadows in the valley. "
TEXTS = (
    ANSWER,
    "Erlang processes share no memory.",
    "The library opens at nine.",
    "Leave has to be asked for two weeks ahead.",
    "",
    "图书馆九点开门。",
)


def sample_hit(text: str, *, source_id: str, title: str = "", rank: int = 0) -> Hit:
    """Make a hit of a document that is a single chunk."""
    document = document_id("samples", source_id)
    chunk = Chunk(
        chunk_id=chunk_id(document, 0, text),
        document_id=document,
        collection="samples",
        position=0,
        start=0,
        end=len(text),
        text=text,
    )
    return Hit(chunk=chunk, title=title, url=None, source_id=source_id, rank=rank)


def sample_hits(texts: Sequence[str] = TEXTS) -> tuple[Hit, ...]:
    """Make one hit per text."""
    return tuple(sample_hit(text, source_id=f"{rank}.txt", rank=rank) for rank, text in enumerate(texts, 1))


async def check_reranker(reranker: Reranker, *, trained: bool = True, words: int = 1500) -> None:
    """Check what refdesk relies on in a reranker; raise `AssertionError` with a sentence where it fails.

    `trained=False` is for models with random weights, whose scores mean nothing. `words` is a length that the
    model cannot read at once.
    """
    assert reranker.name, "The reranker has no name."
    assert await reranker.rerank(QUESTION, ()) == (), "No hits became some."
    await check_order(reranker)
    if trained:
        await check_nothing_is_cut(reranker, words)
        await check_relevance(reranker, words)


async def check_order(reranker: Reranker) -> None:
    """Check that hits are only reordered and scored, always alike, whatever order they come in."""
    hits = sample_hits()
    ranked = await reranker.rerank(QUESTION, hits)
    assert _names(ranked, in_order=False) == _names(hits, in_order=False), "Hits were lost, added or doubled."
    assert [hit.rank for hit in ranked] == list(range(1, len(hits) + 1)), "Ranks do not run from 1 to n."
    for hit in ranked:
        assert hit.rerank_score is not None, f"{hit.chunk.text!r} was not scored."
        assert isfinite(hit.rerank_score), f"{hit.chunk.text!r} has the score {hit.rerank_score}."
    assert await reranker.rerank(QUESTION, hits) == ranked, "The second time, the result is another."
    turned = await reranker.rerank(QUESTION, hits[::-1])
    assert _names(turned) == _names(ranked), "The order of the input decides the order of the result."


async def check_nothing_is_cut(reranker: Reranker, words: int) -> None:
    """Check that the end of a long chunk makes a difference to its score."""
    long = (FILLER * words)[: 6 * words]
    ended = sample_hits([long + ANSWER, long + "Erlang processes share no memory."])
    scores = {hit.rerank_score for hit in await reranker.rerank(QUESTION, ended)}
    assert len(scores) == 2, "Two long chunks that differ at their end only score the same: they were cut."


async def check_relevance(reranker: Reranker, words: int) -> None:
    """Check that an answer comes first, also at the end of a long chunk."""
    ranked = await reranker.rerank(QUESTION, sample_hits())
    assert ranked[0].chunk.text == ANSWER, f"{ranked[0].chunk.text!r} was ranked before the answer."
    long = (FILLER * words)[: 6 * words]
    first = (await reranker.rerank(QUESTION, sample_hits([long, long + ANSWER])))[0]
    assert first.chunk.text.endswith(ANSWER), "The answer at the end of a long chunk was not found."


def _names(hits: Sequence[Hit], *, in_order: bool = True) -> list[str]:
    names = [hit.chunk.chunk_id for hit in hits]
    return names if in_order else sorted(names)
