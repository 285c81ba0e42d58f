"""Ask questions that a collection answers, and others that it does not, and note how the best hit scores."""

import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from refdesk.desk import Desk
from refdesk.errors import InputError
from refdesk.evaluation.datasets.beir import Beir, Grades
from refdesk.steps import Rerank, Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one question found."""

    reranker: str
    score: float | None
    """The best score of its hits; None where nothing was found."""
    documents: tuple[str, ...]
    """Source ids of the evidence, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and how its best hit scores."""

    query_id: str
    question: str
    on_topic: bool
    score: float | None
    right: bool
    """Whether a relevant document is in the evidence; never for questions off topic."""
    reranker: str = ""
    """What gave the score; empty where nothing was found."""
    documents: tuple[str, ...] = ()
    """Source ids of the evidence, best first."""


Ask = Callable[[str], Awaitable[Found]]
Known = Mapping[tuple[bool, str], Asked]
"""Whether it is on topic, and its id, to a question that was asked before."""


def desk_ask(desk: Desk, *, collection: str, rerank: Rerank | None = None) -> Ask:
    """Return what asks a desk as its default pipeline does; another `rerank` for a reranker of your own.

    Errors come when it is used: `InputError` where no reranker gives scores, and those of the steps.
    """
    search, order = Search(on_error="stop"), rerank or Rerank(on_error="stop")

    async def ask(question: str) -> Found:
        context = await desk.step(search, await desk.start(question, collections=collection))
        context = (await desk.step(order, context.raise_for_error())).raise_for_error()
        hits = context.hits
        scores = [hit.rerank_score for hit in hits if hit.rerank_score is not None]
        if hits and not (scores and context.reranker):
            raise InputError(
                "The hits have no reranker scores, so there is nothing to calibrate.",
                remedy="Name a reranker, such as `maxsim`, with the setting `reranker`.",
            )
        evidence = hits[: desk.settings.evidence]
        documents = tuple(dict.fromkeys(hit.source_id for hit in evidence))
        return Found(reranker=context.reranker, score=max(scores, default=None), documents=documents)

    return ask


def sample(questions: Mapping[str, str], most: int | None, seed: int) -> Mapping[str, str]:
    """Return at most so many questions, drawn by chance, in their order."""
    if most is None or len(questions) <= most:
        return questions
    drawn = set(random.Random(seed).sample(sorted(questions), most))
    return {name: text for name, text in questions.items() if name in drawn}


async def ask_all(
    data: Beir,
    off_topic: Mapping[str, str],
    ask: Ask,
    *,
    known: Known | None = None,
    on_asked: Callable[[Asked], None] = lambda asked: None,
) -> tuple[Asked, ...]:
    """Ask all questions, one after the other; what is `known` is not asked again.

    Errors: those of asking; a question that fails ends the run.
    """
    asked = []
    for on_topic, questions in ((True, data.queries), (False, off_topic)):
        for name, question in questions.items():
            one = (known or {}).get((on_topic, name))
            if one is None or one.question != question:
                grades = data.judgements[name] if on_topic else {}
                one = _asked(name, question, on_topic, grades, await ask(question))
            on_asked(one)
            asked.append(one)
    return tuple(asked)


def _asked(name: str, question: str, on_topic: bool, grades: Grades, found: Found) -> Asked:
    return Asked(
        query_id=name,
        question=question,
        on_topic=on_topic,
        score=found.score,
        right=any(grades.get(document, 0) > 0 for document in found.documents),
        reranker=found.reranker,
        documents=found.documents,
    )


def reranker_of(asked: Iterable[Asked]) -> str:
    """Return the name of the one reranker that scored. Errors: `InputError` where it is none, or several."""
    names = sorted({one.reranker for one in asked} - {""})
    if len(names) == 1:
        return names[0]
    if not names:
        raise InputError("No question found anything.", remedy="Ask a collection that holds documents.")
    raise InputError(
        f"The scores are of several rerankers, {' and '.join(names)}, and do not compare.",
        remedy="Ask all questions anew, with one of them.",
    )
