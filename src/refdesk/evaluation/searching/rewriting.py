"""How near a rewriting of follow-up questions comes to what people wrote, on topics of TREC CAsT.

Dalton, Xiong and Callan, TREC CAsT 2019-2022: a turn has what was said and, by hand, a question that stands
alone; some years have one by a model, too.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from refdesk.context import Turn
from refdesk.desk import Desk
from refdesk.errors import SourceError
from refdesk.evaluation.searching.metrics import percentile
from refdesk.pipeline import LLMValue, Step

RAW, SHIPPED = "as said", "shipped"
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A turn of a conversation, and the question that a person made of it."""

    turn_id: str
    said: str
    before: tuple[str, ...]
    """What the same person said before, oldest first."""
    reference: str
    shipped: str = ""
    """What the data set's own model made of it; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """One turn, rewritten in one way."""

    turn_id: str
    text: str
    seconds: float = 0.0
    failed: str = ""
    """Why it was left as it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritingReport:
    """All turns, rewritten in one way; means over turns, 0 to 1."""

    name: str
    turns: int
    f1: float
    """Of words, with the reference."""
    exact: float
    """Share of turns with the reference's words in their order."""
    recalled: float
    """Share of the words that a person added that were added here, too."""
    failed: int = 0
    p50: float = 0.0
    """Seconds of half of the turns that were rewritten."""


def read_cast(path: str | PathLike[str]) -> tuple[FollowUp, ...]:
    """Read topics with rewritings by hand: a JSON list of topics with turns. Errors: `SourceError`."""
    file = Path(path)
    try:
        topics = json.loads(file.read_text("utf-8"))
        return tuple(one for topic in topics for one in _turns(topic))
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(
            f"{file} holds no topics of TREC CAsT: {type(error).__name__}: {error}.",
            remedy="Name a file such as 2020_manual_evaluation_topics_v1.0.json.",
        ) from error


def _turns(topic: Mapping[str, Any]) -> Iterator[FollowUp]:
    before: list[str] = []
    for turn in topic["turn"]:
        said = turn["raw_utterance"].strip()
        yield FollowUp(
            turn_id=f"{topic['number']}_{turn['number']}",
            said=said,
            before=tuple(before),
            reference=turn["manual_rewritten_utterance"].strip(),
            shipped=turn.get("automatic_rewritten_utterance", "").strip(),
        )
        before.append(said)


Rewrite = Callable[[FollowUp], Awaitable[Rewritten]]


def step_rewriter(desk: Desk, step: Step, *, llm: LLMValue = None) -> Rewrite:
    """Return what a step, such as `condense`, makes of a turn: the query of its context."""

    async def rewrite(turn: FollowUp) -> Rewritten:
        history = [Turn("user", text) for text in turn.before]
        context = await desk.start(turn.said, history=history, collections=())
        began = time.perf_counter()
        context = (await desk.step(step, context, llm=llm)).raise_for_error()
        failed = context.warnings[0] if context.warnings else ""
        seconds = time.perf_counter() - began
        return Rewritten(turn_id=turn.turn_id, text=context.standalone, seconds=seconds, failed=failed)

    return rewrite


def as_they_are(turns: Sequence[FollowUp]) -> Mapping[str, tuple[Rewritten, ...]]:
    """Return what is there without any work: what was said, and what the data set ships."""
    found = {RAW: tuple(Rewritten(turn_id=turn.turn_id, text=turn.said) for turn in turns)}
    if all(turn.shipped for turn in turns):
        found[SHIPPED] = tuple(Rewritten(turn_id=turn.turn_id, text=turn.shipped) for turn in turns)
    return found


def scored(name: str, turns: Sequence[FollowUp], rewritten: Sequence[Rewritten]) -> RewritingReport:
    """Hold rewritings against what people wrote."""
    pairs = list(zip(turns, rewritten, strict=True))
    recalls = [one for turn, done in pairs if (one := recalled(turn, done.text)) is not None]
    count = max(len(pairs), 1)
    return RewritingReport(
        name=name,
        turns=len(pairs),
        f1=sum(word_f1(done.text, turn.reference) for turn, done in pairs) / count,
        exact=sum(words(done.text) == words(turn.reference) for turn, done in pairs) / count,
        recalled=sum(recalls) / max(len(recalls), 1),
        failed=sum(bool(done.failed) for done in rewritten),
        p50=percentile([done.seconds for done in rewritten], 0.5) if rewritten else 0.0,
    )


def words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def word_f1(text: str, reference: str) -> float:
    """Return the harmonic mean of precision and recall of words, each as often as it stands there."""
    ours, theirs = Counter(words(text)), Counter(words(reference))
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def recalled(turn: FollowUp, text: str) -> float | None:
    """Return the share of the words a person added that a rewriting has; None where none was added."""
    said = set(words(turn.said))
    added = set(words(turn.reference)) - said
    return len(added & set(words(text))) / len(added) if added else None
