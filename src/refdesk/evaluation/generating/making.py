"""A test set from the user's own documents: drafts are made, filtered, and kept until there are enough."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio.lowlevel

from refdesk.context import NO_USAGE, Usage
from refdesk.desk import Desk
from refdesk.errors import InputError
from refdesk.evaluation.datasets.cases import DataSet
from refdesk.evaluation.datasets.digests import data_digest
from refdesk.evaluation.generating.drafts import KINDS, Draft, Kind
from refdesk.evaluation.generating.extracting import Extracting
from refdesk.evaluation.generating.filtering import Doubles, difficulty, malformed, overlap, ranks
from refdesk.evaluation.generating.inventing import Inventing, key_of
from refdesk.evaluation.generating.surveying import Survey
from refdesk.evaluation.safety.plainwords import plain
from refdesk.llm import LLM
from refdesk.pipeline.metering import MeteredLLM

IN_VAIN = 25
"""Drafts of a model in a row that are left out, after which it is asked for no more of their kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What test set is wanted. Errors: `InputError`."""

    count: int = 50
    kinds: tuple[Kind, ...] = KINDS
    seed: int = 0
    round_trip: int = 20
    """Among how many chunks a search has to find what answers a question; 0 for no search."""
    max_overlap: float = 0.8
    """Share of the words of what answers it that a question may have."""
    max_requests: int | None = None
    max_cost: float | None = None
    """US dollars."""

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise InputError(
                f"There is no kind of question {unknown[0]!r:.40}.", remedy=f"Known are {', '.join(KINDS)}."
            )
        if not self.kinds or self.count < 1:
            raise InputError("No question is wanted.", remedy="Name at least one kind, and ask for one.")
        if not 0 < self.max_overlap <= 1:
            raise InputError(f"The overlap is {self.max_overlap!r}; it has to be above 0 and at most 1.")

    @property
    def quotas(self) -> Mapping[Kind, int]:
        """How many of each kind; the first kinds get what does not divide."""
        each, rest = divmod(self.count, len(self.kinds))
        return {kind: each + (place < rest) for place, kind in enumerate(self.kinds)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """What came of it."""

    wanted: Wanted
    survey: Survey
    drafts: tuple[Draft, ...]
    """Those that are kept, and those that were left out."""
    usage: Usage = NO_USAGE
    stopped: str = ""
    """Why it ended before there were enough; empty where it did not, or where nothing was left to try."""

    @property
    def kept(self) -> tuple[Draft, ...]:
        return tuple(one for one in self.drafts if not one.dropped)

    @property
    def dropped(self) -> Mapping[str, int]:
        """Reason to how many drafts were left out for it, the commonest first."""
        return dict(Counter(one.dropped for one in self.drafts if one.dropped).most_common())

    def data(self, name: str) -> DataSet:
        """Return the questions that are kept as a data set."""
        cases = tuple(one.case() for one in self.kept)
        return DataSet(name=name, cases=cases, digest=data_digest(cases, ()))

    def to_json(self) -> dict[str, Any]:
        kept = self.kept
        answerable = [one for one in kept if one.kind != "unanswerable"]
        return {
            "questions": len(kept),
            "kinds": {
                kind: {"wanted": count, "made": sum(one.kind == kind for one in kept)}
                for kind, count in self.wanted.quotas.items()
            },
            "languages": dict(Counter(one.language for one in kept)),
            "by": dict(Counter(one.by for one in kept)),
            "difficulty": dict(Counter(difficulty(one.overlap) for one in answerable)),
            "overlap": sum(one.overlap for one in answerable) / len(answerable) if answerable else None,
            "dropped": dict(self.dropped),
            "documents": self.survey.documents,
            "unusable": dict(self.survey.unusable),
            "not_read": self.survey.left_out,
            "requests": self.usage.requests,
            "tokens": self.usage.input_tokens + self.usage.output_tokens,
            "cost": self.usage.cost,
            "stopped": self.stopped,
        }


@dataclass(slots=True, kw_only=True)
class Generating:
    """One generation: makes drafts of a survey, and filters them."""

    desk: Desk
    collection: str
    survey: Survey
    wanted: Wanted
    llm: LLM | None = None
    known: Mapping[str, Draft] = field(default_factory=dict)
    """Drafts that were made before, by their keys; they are neither made nor filtered again."""
    drafts: list[Draft] = field(default_factory=list)
    usage: Usage = NO_USAGE
    stopped: str = ""
    _extracted: Extracting | None = None

    async def run(self, on_draft: Callable[[Draft], None] = lambda draft: None) -> Generated:
        """Make what is wanted, as far as the documents allow. Errors: `LLMError`, those of the search."""
        for kind, count in self.wanted.quotas.items():
            doubles, kept, vain = Doubles(await self.desk.services.embedder()), 0, 0
            async for made in self._made(kind):
                await (
                    anyio.lowlevel.checkpoint()
                )  # what is known needs no waiting, and could not be broken off
                draft = await self._filtered(made, doubles)
                self.drafts.append(draft)
                on_draft(draft)
                kept, vain = (kept, vain + 1) if draft.dropped else (kept + 1, 0)
                if kept >= count:
                    break
                if draft.by == "model" and vain >= IN_VAIN:
                    self._stop(
                        f"Of {kind!r} {vain} drafts in a row were left out, so no more were asked for."
                    )
                    break
        return self.so_far()

    def so_far(self) -> Generated:
        """Return what there is by now."""
        return Generated(
            wanted=self.wanted,
            survey=self.survey,
            drafts=tuple(self.drafts),
            usage=self.usage,
            stopped=self.stopped,
        )

    async def _made(self, kind: Kind) -> AsyncIterator[Draft]:
        if self.llm is None:
            for draft in self._extracting().drafts(kind):
                yield draft
            return
        inventing = self._inventing()
        for place in inventing.places(kind):
            known = self.known.get(key_of(kind, place))
            if known is None and (why := self._spent()):
                self._stop(why)
                return
            yield known or await inventing.draft(kind, place)

    def _extracting(self) -> Extracting:
        if self._extracted is None:
            wanted = self.wanted
            self._extracted = Extracting(self.survey, max_overlap=wanted.max_overlap, seed=wanted.seed)
        return self._extracted

    def _inventing(self) -> Inventing:
        assert self.llm is not None
        return Inventing(self.survey.passages, MeteredLLM(self.llm, self._count))

    def _count(self, usage: Usage, seconds: float, error: BaseException | None) -> None:
        self.usage += usage

    def _stop(self, why: str) -> None:
        if why not in self.stopped:
            self.stopped = f"{self.stopped} {why}".strip()

    def _spent(self) -> str:
        """Return which budget is used up, empty for none."""
        requests, cost = self.wanted.max_requests, self.wanted.max_cost
        if requests is not None and self.usage.requests >= requests:
            return f"{self.usage.requests} requests were made; at most {requests} may be."
        if cost is not None and self.usage.cost >= cost:
            return f"${self.usage.cost:.4f} were spent; at most ${cost:g} may be."
        return ""

    async def _filtered(self, draft: Draft, doubles: Doubles) -> Draft:
        known = self.known.get(draft.key)
        if known is not None:
            if not known.dropped:
                await doubles.like(known.question)
            return known
        if draft.dropped:
            return draft
        share = overlap(draft.query, [one.quote for one in draft.spans], draft.language)
        draft = replace(draft, overlap=round(share, 4))
        if reason := malformed(draft.question, draft.language):
            return replace(draft, dropped=reason)
        if any(plain(one.quote) in self.survey.repeated for one in draft.spans):
            return replace(draft, dropped="what answers it stands in several documents")
        if draft.spans and share > self.wanted.max_overlap:
            return replace(draft, dropped="the question repeats too much of what answers it")
        draft = await self._found_again(draft)
        if not draft.dropped and (same := await doubles.like(draft.question)):
            return replace(draft, dropped="another question says the same", question=draft.question or same)
        return draft

    async def _found_again(self, draft: Draft) -> Draft:
        """Search for a question: what answers it has to be found, or nothing that does where none should."""
        if draft.kind == "unanswerable":
            return await self._unanswered(draft)
        if not self.wanted.round_trip:
            return draft
        found = await ranks(self.desk, self.collection, draft.query, draft.golds, self.wanted.round_trip)
        places = [rank for rank in found.values() if rank is not None]
        if len(places) < len(found):
            return replace(draft, dropped=f"a search does not find it among {self.wanted.round_trip} chunks")
        return replace(draft, rank=max(places))

    async def _unanswered(self, draft: Draft) -> Draft:
        if draft.by != "model":
            return draft  # it is about what no document has
        found = await self.desk.search(draft.question, collections=self.collection)
        answered = await self._inventing().answered_by(draft.question, found.hits)
        if answered is None:
            return replace(draft, dropped="the model's reply could not be read")
        return replace(draft, dropped="the documents answer it") if answered else draft


def samples(generated: Generated, most: int = 2) -> Sequence[Draft]:
    """Return some of each kind that are kept, to be looked at."""
    seen: Counter[str] = Counter()
    shown = []
    for draft in generated.kept:
        seen[draft.kind] += 1
        shown += [draft] if seen[draft.kind] <= most else []
    return shown
