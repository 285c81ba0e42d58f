"""Search one published state by meaning, by words, or both."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from refdesk.documents import MODES, Hit, Mode
from refdesk.embedding import Embedder
from refdesk.errors import InputError
from refdesk.filters import Filter
from refdesk.results import FUSIONS, EmptyReason, Explanation, Fusion, Results, numbered
from refdesk.retrieval.arms import Asked, Found, ask
from refdesk.retrieval.fusion import rrf, zscore
from refdesk.stores import Reader

CANDIDATES = 150
"""Hits of each arm that fusion sees: docs/benchmarks.md has what fewer cost."""


async def search(
    reader: Reader,
    embedder: Embedder | Exception,
    question: str,
    *,
    mode: Mode = "hybrid",
    top_k: int = 10,
    candidates: int = CANDIDATES,
    filter: Filter | None = None,
    fusion: Fusion = "zscore",
    lenient: bool = False,
    arm_seconds: float | None = None,
) -> Results:
    """Find the `top_k` best chunks for a question, which may have any length.

    `hybrid` asks both arms at once for `candidates` hits each and joins them. With `zscore`, chunks that only
    the keyword arm found get their exact cosine from the stored vectors, and chunks that it did not find
    count as BM25 0. The best n of a search are the first n of a deeper one, as long as both stay within
    `candidates`. A blank question gives no hits, with the reason. Errors: `InputError`, `StoreError`, and
    those of the embedder; a failing arm is never an empty list. One that takes longer than `arm_seconds` has
    failed.

    With `lenient`, the hits of a hybrid search are those of the other arm where one fails, and the failed one
    has its `error`; `embedder` may then be the error for which there is none. Where both fail it is a
    `StoreError`.
    """
    _check(mode, fusion, top_k, candidates)
    began = time.perf_counter()
    joining = fusion if mode == "hybrid" else None
    if not question.strip():
        return _empty(question, Explanation(mode=mode, fusion=joining), "blank_query")
    depth = max(top_k, candidates) if joining else top_k
    asked = Asked(reader, embedder, question, filter, depth, lenient and mode == "hybrid", arm_seconds)
    found = await ask(asked, mode)
    working = [one for one in found if not one.arm.error]
    joining = joining if len(working) == len(found) else None
    hits = numbered((await _joined(asked, working, joining))[:top_k])
    explanation = replace(await _explained(asked, found, mode, joining), seconds=time.perf_counter() - began)
    if hits:
        return Results(question=question, mode=mode, hits=hits, explanation=explanation)
    return _empty(question, explanation, _why_empty(explanation))


def _check(mode: Mode, fusion: Fusion, top_k: int, candidates: int) -> None:
    for name, value, allowed in (("mode", mode, MODES), ("fusion", fusion, FUSIONS)):
        if value not in allowed:
            raise InputError(f"Cannot search with {name}={value!r}; allowed: {', '.join(allowed)}.")
    for name, number in (("top_k", top_k), ("candidates", candidates)):
        if number < 1:
            raise InputError(f"Cannot search with {name}={number!r}; 1 or more are allowed.")


async def _joined(asked: Asked, found: Sequence[Found], fusion: Fusion | None) -> tuple[Hit, ...]:
    if fusion is None:
        return found[0].hits
    by_vector, by_keyword = found
    if fusion == "rrf":
        return rrf([by_vector.hits, by_keyword.hits])
    completed = await _completed(asked.reader, by_vector, by_keyword.hits)
    return zscore([completed, by_keyword.hits], floors=[None, 0.0])


async def _completed(reader: Reader, by_vector: Found, others: Sequence[Hit]) -> list[Hit]:
    """Return the vector arm's hits, and after them the hits that it lacks with their exact cosine."""
    known = {hit.chunk.chunk_id for hit in by_vector.hits}
    lacking = [hit for hit in others if hit.chunk.chunk_id not in known]
    vectors = await reader.vectors([hit.chunk.chunk_id for hit in lacking]) if lacking else {}
    assert by_vector.vector is not None
    query = by_vector.vector
    cosines = [float(np.clip(vectors[hit.chunk.chunk_id] @ query, -1.0, 1.0)) for hit in lacking]
    extra = [
        replace(hit, vector_score=cosine, keyword_score=None)
        for hit, cosine in zip(lacking, cosines, strict=True)
    ]
    return [*by_vector.hits, *extra]


async def _explained(asked: Asked, found: Sequence[Found], mode: Mode, fusion: Fusion | None) -> Explanation:
    documents, chunks = await asked.reader.count()
    left = await asked.reader.count(asked.filter) if asked.filter is not None else (documents, chunks)
    names = [{hit.chunk.chunk_id for hit in each.hits} for each in found]
    return Explanation(
        mode=mode,
        fusion=fusion,
        tokens=tuple(token for each in found for token in each.tokens),
        languages=asked.reader.languages,
        arms=tuple(each.arm for each in found),
        shared=len(names[0] & names[1]) if len(names) > 1 else 0,
        documents=documents,
        chunks=chunks,
        matching_documents=left[0],
        matching_chunks=left[1],
    )


def _why_empty(explanation: Explanation) -> EmptyReason:
    if not explanation.chunks:
        return "no_documents"
    if not explanation.matching_chunks:
        return "filtered_out"
    by_words = explanation.mode == "keyword" or any(arm.error for arm in explanation.arms)
    if by_words and not explanation.tokens:
        return "no_tokens"
    return "no_match"


def _empty(question: str, explanation: Explanation, reason: EmptyReason) -> Results:
    messages: dict[EmptyReason, str] = {
        "blank_query": "The query is blank.",
        "no_documents": "The collections asked hold no text.",
        "filtered_out": f"The filter leaves none of {explanation.documents} documents.",
        "no_tokens": "The query has no words to search for; modes vector and hybrid search by meaning.",
        "no_match": f"None of {explanation.matching_chunks} chunks has a word of the query.",
    }
    explained = replace(explanation, reason=reason, message=messages[reason])
    return Results(question=question, mode=explanation.mode, hits=(), explanation=explained)
