"""Search by keyword: BM25 from the postings of the tokens asked for, counted as the reader sees them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from refdesk.filters import Filter
from refdesk.stores import bm25
from refdesk.stores.postgres.arrays import binary
from refdesk.stores.postgres.connecting import Connection
from refdesk.stores.postgres.selecting import Selection, selected
from refdesk.stores.postgres.texts import term
from refdesk.stores.postgres.vectors import TIES, Found
from refdesk.stores.postgres.view import Part, View, live

FIRST = 200
PER_HIT = 4
"""Candidates per hit that are looked up first; more where too few of them may be read."""
WIDEN = 4
ALIKE = 1e-9
"""How far sums of the same numbers may differ, relatively, by their order."""

Integers = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Postings:
    """The chunks that hold a token, how often each does, and how many tokens each has; ids ascend."""

    ids: Integers
    times: Integers
    lengths: Integers


async def worded(
    connection: Connection, view: View, tokens: Sequence[str], *, top_k: int, filter: Filter | None
) -> list[tuple[Part, Found]]:
    """Return the best chunks of each part. Scores follow from all chunks of the parts, seen or not."""
    held = {part.key: await _held(connection, part, tokens) for part in view.parts if part.chunk_set}
    statistics = _statistics(view, list(held.values()))
    known = [token for token in tokens if statistics.containing.get(token)]
    if not known:
        return []
    weighed = bm25.weights(known, statistics)
    return [
        (chosen.part, await _best(connection, chosen, held[chosen.part.key], weighed, statistics, top_k))
        for chosen in await selected(connection, view, filter)
    ]


async def _held(connection: Connection, part: Part, tokens: Sequence[str]) -> dict[str, Postings]:
    """Return the postings of tokens, without chunks that came later or were gone before."""
    terms = {term(token): token for token in tokens}
    statement = (
        "SELECT term, ids, tfs, lengths FROM {} WHERE term = ANY(%s) AND block < %s ORDER BY term, block"
    )
    query = sql.SQL(statement).format(part.postings)
    blocks: dict[str, list[tuple[Integers, ...]]] = {}
    for found, *columns in await binary(connection, query, (list(terms), part.next_id)):
        blocks.setdefault(terms[found], []).append(tuple(columns))
    there = await _there(connection, part)
    return {token: _postings(parts, there) for token, parts in blocks.items()}


async def _there(connection: Connection, part: Part) -> NDArray[np.bool_]:
    """Return for every id whether the reader sees a chunk of it."""
    there = np.ones(part.next_id, bool)
    statement = sql.SQL("SELECT array_agg(id) FROM {} WHERE died <= %s").format(part.dead)
    ((gone,),) = await binary(connection, statement, (part.generation,))
    if gone is not None:
        there[gone[gone < part.next_id]] = False
    return there


def _postings(blocks: Sequence[tuple[Integers, ...]], there: NDArray[np.bool_]) -> Postings:
    ids, times, lengths = (np.concatenate(column) for column in zip(*blocks, strict=True))
    order = np.argsort(ids, kind="stable")
    kept = order[there[np.minimum(ids[order], len(there) - 1)] & (ids[order] < len(there))]
    return Postings(ids[kept], times[kept], lengths[kept])


def _statistics(view: View, held: Sequence[Mapping[str, Postings]]) -> bm25.Statistics:
    containing: dict[str, int] = {}
    for some in held:
        for token, postings in some.items():
            containing[token] = containing.get(token, 0) + len(postings.ids)
    return bm25.Statistics(
        chunks=sum(part.chunks for part in view.parts),
        tokens=sum(part.tokens for part in view.parts),
        containing=containing,
    )


async def _best(
    connection: Connection,
    selection: Selection,
    held: Mapping[str, Postings],
    weighed: Mapping[str, float],
    statistics: bm25.Statistics,
    top_k: int,
) -> Found:
    """Return the best chunks of a part that may be read."""
    added = {token: addends(held[token], weighed[token], statistics) for token in weighed if token in held}
    scores = summed(held, added, selection.part.next_id)
    if selection.keys is not None:
        scores = _only(scores, await _chunks_of(connection, selection))
    wanted = max(FIRST, PER_HIT * top_k)
    while True:
        candidates = top(scores, wanted)
        found = await _readable(connection, selection, candidates) if len(candidates) else []
        if len(found) >= top_k or len(candidates) < wanted:
            break
        wanted *= WIDEN
    summed_up = exactly(held, added, [key for key, _, _ in found])
    ordered = sorted(zip(summed_up, found, strict=True), key=lambda each: (-each[0], each[1][1], each[1][2]))
    return [(score, key) for score, (key, _, _) in ordered[:top_k]]


def addends(postings: Postings, weight: float, statistics: bm25.Statistics) -> Scores:
    """Return what a token adds to the score of each chunk that holds it, as `bm25.score` has it."""
    relative = postings.lengths * statistics.chunks / statistics.tokens
    saturation = bm25.K1 * (1 - bm25.B + bm25.B * relative)
    added: Scores = weight * postings.times / (postings.times + saturation)
    return added


def summed(held: Mapping[str, Postings], addends: Mapping[str, Scores], ids: int) -> Scores:
    """Return the score of every id."""
    scores = np.zeros(ids)
    for token, added in addends.items():
        scores[held[token].ids] += added
    return scores


def _only(scores: Scores, ids: Integers) -> Scores:
    """Return the scores of just these ids."""
    kept = np.zeros_like(scores)
    kept[ids] = scores[ids]
    return kept


def top(scores: Scores, count: int) -> Integers:
    """Return the ids of the best scores above 0, with those that score as the last, up to `TIES` of them."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) <= count:
        return positive
    least = np.partition(scores[positive], -count)[-count]
    alike = positive[scores[positive] >= least * (1 - ALIKE)]
    above = alike[scores[alike] > least * (1 + ALIKE)]
    level = alike[scores[alike] <= least * (1 + ALIKE)]
    return np.concatenate([above, level[: max(TIES, count - len(above))]])


def exactly(held: Mapping[str, Postings], addends: Mapping[str, Scores], ids: Sequence[int]) -> list[float]:
    """Return the scores of some chunks, each summed so that the order of its tokens does not matter."""
    wanted = np.asarray(ids, np.int64)
    found = np.zeros((len(addends), len(wanted)))
    for number, (token, added) in enumerate(addends.items()):
        of_token = held[token].ids
        places = np.minimum(np.searchsorted(of_token, wanted), max(0, len(of_token) - 1))
        if len(of_token):
            found[number] = np.where(of_token[places] == wanted, added[places], 0.0)
    return [math.fsum(column) for column in found.T.tolist()]


async def _chunks_of(connection: Connection, selection: Selection) -> Integers:
    among, there = selection.among("c.document"), live(selection.part)
    statement = f"SELECT array_agg(c.id) FROM {{}} AS c WHERE {among.text} AND {there.text}"
    query = sql.SQL(statement).format(selection.part.table)
    ((found,),) = await binary(connection, query, (*among.parameters, *there.parameters))
    return np.zeros(0, np.int64) if found is None else found


async def _readable(
    connection: Connection, selection: Selection, candidates: Integers
) -> list[tuple[int, str, int]]:
    """Return id, source and position of those candidates that match and may be read."""
    there, among = live(selection.part), selection.probed("c.document")
    statement = (
        "SELECT c.id, e.source_id, c.position FROM {} AS c JOIN documents AS e ON e.key = c.document"
        f" WHERE c.id = ANY(%s::integer[]) AND {there.text} AND {among.text}"
    )
    query = sql.SQL(statement).format(selection.part.table)
    parameters = (candidates.tolist(), *there.parameters, *among.parameters)
    return await binary(connection, query, parameters)
