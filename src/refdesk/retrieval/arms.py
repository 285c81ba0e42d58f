"""The two searches of a question: by meaning and by words, and what is done where one of them fails."""

import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import anyio
import numpy as np
from numpy.typing import NDArray

from refdesk.analysis import analyse_query
from refdesk.documents import Hit, Mode
from refdesk.embedding import Embedder
from refdesk.embedding.parallel import in_order
from refdesk.errors import InputError, LimitReached, MissingExtra, NotFound, SettingsError, StoreError
from refdesk.filters import Filter
from refdesk.results import Arm, ArmName
from refdesk.stores import Reader

FINAL = (InputError, SettingsError, MissingExtra, NotFound)
"""What is wrong with a question or a desk: it would fail again, and is never passed over."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the arms are asked."""

    reader: Reader
    embedder: Embedder | Exception
    """The embedder, or why there is none."""
    question: str
    filter: Filter | None
    depth: int
    lenient: bool = False
    """Whether an arm may fail."""
    seconds: float | None = None
    """Time limit of each arm."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an arm found, and what it searched with."""

    arm: Arm
    hits: tuple[Hit, ...] = ()
    vector: NDArray[np.float32] | None = None
    tokens: tuple[str, ...] = ()


async def ask(asked: Asked, mode: Mode) -> tuple[Found, ...]:
    """Ask the arms of a mode at once. Errors: `StoreError` where all fail that may; else those of an arm."""
    arms: list[Callable[[], Awaitable[Found]]] = []
    if mode != "keyword":
        arms.append(partial(_tried, _by_vector, "vector", asked))
    if mode != "vector":
        arms.append(partial(_tried, _by_keyword, "keyword", asked))
    found = tuple(await in_order(lambda arm: arm(), arms, anyio.CapacityLimiter(len(arms))))
    if all(one.arm.error for one in found):
        said = "; ".join(f"{one.arm.name}: {one.arm.error.rstrip('.')}" for one in found)
        raise StoreError(f"Both arms of the search failed. {said}.")
    return found


@asynccontextmanager
async def within(seconds: float | None, what: str) -> AsyncIterator[None]:
    """Raise `LimitReached` where what is inside takes longer; None for no limit."""
    with anyio.move_on_after(math.inf if seconds is None else seconds) as scope:
        yield
    if scope.cancelled_caught:
        raise LimitReached(
            f"{what} took longer than {seconds:g} seconds.", kind="arm_seconds", limit=seconds or 0.0
        )


async def _tried(search: Callable[[Asked], Awaitable[Found]], name: ArmName, asked: Asked) -> Found:
    """Ask an arm; one that fails and may has found nothing and says why."""
    began = time.perf_counter()
    try:
        async with within(asked.seconds, f"The {name} arm of the search"):
            return await search(asked)
    except Exception as error:  # an embedder of the user's own may raise anything
        if not asked.lenient or isinstance(error, FINAL):
            raise
        return Found(replace(_arm(name, (), began), error=str(error) or type(error).__name__))


async def _by_vector(asked: Asked) -> Found:
    began = time.perf_counter()
    if isinstance(asked.embedder, Exception):
        raise asked.embedder
    vector = (await asked.embedder.embed_queries([asked.question]))[0]
    hits = await asked.reader.vector_search(vector, top_k=asked.depth, filter=asked.filter)
    scores = [hit.vector_score for hit in hits if hit.vector_score is not None]
    return Found(_arm("vector", scores, began), hits, vector=vector)


async def _by_keyword(asked: Asked) -> Found:
    began = time.perf_counter()
    tokens = tuple(analyse_query(asked.question, asked.reader.languages))
    hits: tuple[Hit, ...] = ()
    if tokens:
        hits = await asked.reader.keyword_search(tokens, top_k=asked.depth, filter=asked.filter)
    scores = [hit.keyword_score for hit in hits if hit.keyword_score is not None]
    return Found(_arm("keyword", scores, began), hits, tokens=tokens)


def _arm(name: ArmName, scores: Sequence[float], began: float) -> Arm:
    return Arm(
        name=name,
        found=len(scores),
        best=max(scores, default=None),
        worst=min(scores, default=None),
        seconds=time.perf_counter() - began,
    )
