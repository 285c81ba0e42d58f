"""`invite`: what the house says below an answer, such as where to ask people."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import ClassVar

from refdesk.answering import MODEL_UNAVAILABLE
from refdesk.answering.showing import shown
from refdesk.citations.templates import METADATA
from refdesk.context import SCREENED, Answer, Context
from refdesk.documents import Metadata
from refdesk.events import Invitation
from refdesk.pipeline import Kind, OnError, Run, Step

LONGEST_VALUE = 100
"""Characters of what a placeholder becomes."""


@dataclass(frozen=True, kw_only=True)
class Invite(Step):
    """Put a text of yours below the answer, by how that came out. No model writes or changes any of it.

    It is the answer's `invitation` and no part of its text, so nothing of it is cited, grounded or shown to a
    model later. `{metadata.NAME}` stands for what most of the cited sources have there, or where none is
    cited most of the evidence; without a value it is `missing`, and where that is blank the text is left out.
    Below the reply to a screened question nothing is said.
    """

    kind: ClassVar[Kind] = "closing"
    reads: ClassVar[frozenset[str]] = frozenset({"answer", "evidence"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer"})
    after: ClassVar[tuple[Kind, ...]] = ("answer_generator",)
    leaves: ClassVar[str] = "The answer without an invitation."

    text: str = ""
    """Said below an answer, such as `Ask in [the forum](https://forum.example/new)`."""
    weak: str | None = None
    """Said where the zone is `weak`, else `text`; blank for nothing."""
    refused: str | None = None
    """Said below a refusal, else `text`; blank for nothing."""
    unavailable: str = ""
    """Said where no model could write an answer."""
    missing: str = ""
    """What a placeholder becomes for which no source has a value."""
    on_error: OnError = "continue"

    def problems(self) -> Iterator[tuple[str, str]]:
        given = {
            "text": self.text,
            "weak": self.weak,
            "refused": self.refused,
            "unavailable": self.unavailable,
        }
        texts = {name: text for name, text in given.items() if isinstance(text, str)}
        if not any(text.strip() for text in texts.values()):
            yield "It says nothing.", "Write its `text`."
        for name, text in texts.items():
            for wrong in _wrong(text):
                yield (
                    f"Its `{name}` {wrong}.",
                    f"A placeholder is {{{METADATA}NAME}}; write {{{{ for a bracket.",
                )

    def skips(self, context: Context) -> str:
        if context.answer is None:
            return "there is no answer"
        if context.answer.refusal == SCREENED:
            return "the question was screened"
        return "" if self._template(context.answer).strip() else "nothing is said below such an answer"

    async def __call__(self, context: Context, run: Run) -> Context:
        assert context.answer is not None
        text = self._filled(self._template(context.answer), _sources(context, context.answer))
        run.measure(invited=bool(text))
        if not text:
            return context
        run.emit(Invitation(text))
        return context.evolve(answer=replace(context.answer, invitation=text))

    def _template(self, answer: Answer) -> str:
        if answer.refusal == MODEL_UNAVAILABLE:
            return self.unavailable
        other = self.refused if answer.refusal else self.weak if answer.zone == "weak" else None
        return self.text if other is None else other

    def _filled(self, template: str, sources: Sequence[Metadata]) -> str:
        """Return the text, empty where a placeholder has no value."""
        done = ""
        for literal, name, _, _ in Formatter().parse(template):
            value = _most(sources, name.removeprefix(METADATA)) or self.missing if name is not None else ""
            if name is not None and not value:
                return ""
            done += literal + value
        return done.strip()


def _wrong(text: str) -> Iterator[str]:
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as error:
        yield f"cannot be read: {error}"
        return
    for _, name, form, conversion in pieces:
        if name is not None and (form or conversion or name == METADATA or not name.startswith(METADATA)):
            yield f"has the placeholder {{{name}}}, which is none"


def _sources(context: Context, answer: Answer) -> list[Metadata]:
    """Return the metadata of what the answer cites, else of the evidence."""
    cited = {one.chunk_id for one in answer.citations}
    evidence = answer.evidence or context.evidence
    hits = [item.hit for item in evidence if item.hit.chunk.chunk_id in cited or not cited]
    return [hit.metadata for hit in hits]


def _most(sources: Sequence[Mapping[str, object]], key: str) -> str:
    """Return what most sources have under a key, the first of equals, as plain text on one line."""
    found = [
        value[0] if isinstance(value, tuple) and value else value
        for one in sources
        if (value := one.get(key))
    ]
    counts = Counter(text for one in found if (text := shown(str(one))[:LONGEST_VALUE].strip()))
    return counts.most_common(1)[0][0] if counts else ""
