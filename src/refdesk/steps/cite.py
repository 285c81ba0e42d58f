"""`cite`: every citation checked against the stored document."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Protocol

from refdesk.citations.build import link_to
from refdesk.citations.templates import source_of
from refdesk.context import Answer, Citation, Context, Evidence
from refdesk.documents import Document, Hit, page_at
from refdesk.errors import NotFound, StepError
from refdesk.events import Citations
from refdesk.pipeline import Kind, Run, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.steps.claims import is_claimed


class Citer(Protocol):
    """Return the citations of an answer, given its text with markers and the numbered evidence."""

    def cite(
        self, answer: Answer, evidence: Sequence[Evidence]
    ) -> Sequence[Citation] | Awaitable[Sequence[Citation]]: ...


CiteFunction = Callable[[Answer, Sequence[Evidence]], Any]


@dataclass(frozen=True, kw_only=True)
class Cite(Step):
    """Check each citation: its quote has to stand in the stored document where it says, and gets its page.

    One that does not is dropped with a warning; its marker stays in the text, since the text may have been
    shown. A hit from a searcher of one's own that no collection holds is checked against its own text.
    """

    kind: ClassVar[Kind] = "citation"
    reads: ClassVar[frozenset[str]] = frozenset({"answer", "evidence"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer", "citations"})
    after: ClassVar[tuple[Kind, ...]] = ("answer_generator",)
    worker: ClassVar[str] = "citer"
    method: ClassVar[str] = "cite"
    leaves: ClassVar[str] = "The answer with citations that were not checked; `citations` stays empty."

    citer: Annotated[
        Citer | type[Citer] | tuple[Any, Mapping[str, Any]] | CiteFunction | None, WorkerOption("cite")
    ] = None
    """An implementation of your own; what it returns is checked like any other citation."""

    def skips(self, context: Context) -> str:
        return "" if context.answer is not None else "there is no answer"

    async def __call__(self, context: Context, run: Run) -> Context:
        assert context.answer is not None
        given = context.answer.citations
        if self.citer is not None:
            given = _citations(await self.work(context.answer, context.evidence), self)
        documents: dict[str, Document | None] = {}
        checked = []
        for citation in given:
            found = await self._checked(citation, context.evidence, documents, run)
            if found is None:
                run.warn(
                    f"Citation [{citation.marker}] was dropped: its quote is not in the document. "
                    "Its marker stays in the text."
                )
            else:
                checked.append(found)
        run.measure(citations=len(checked), dropped=len(given) - len(checked))
        run.emit(Citations(tuple(checked)))
        answer = replace(context.answer, citations=tuple(checked))
        return context.evolve(answer=answer, citations=tuple(checked))

    async def _checked(
        self,
        citation: Citation,
        evidence: Sequence[Evidence],
        documents: dict[str, Document | None],
        run: Run,
    ) -> Citation | None:
        """Return the citation with its page and link, None where its quote is not there."""
        hit = next((one.hit for one in evidence if one.hit.chunk.chunk_id == citation.chunk_id), None)
        if hit is None or not _of_hit(citation, hit):
            return None
        name = citation.document_id
        if name not in documents:
            documents[name] = await _document(citation, run)
        document = documents[name]
        if document is None and is_claimed(
            hit
        ):  # taken away from those who ask, or deleted, since it was found
            return None
        text, at = (hit.chunk.text, hit.chunk.start) if document is None else (document.text, 0)
        if citation.start < at or text[citation.start - at : citation.end - at] != citation.quote:
            return None
        pages = document.pages if document is not None else ()
        page = page_at(pages, citation.start) or citation.page
        template = run.services.settings.links.get(citation.collection, "")
        url = link_to(source_of(hit), page, template)
        return replace(citation, page=page, url=url, title=hit.title, source_id=hit.source_id)


async def _document(citation: Citation, run: Run) -> Document | None:
    """Return the stored document, None where no collection holds it."""
    try:
        return await (await run.services.reader([citation.collection])).document(citation.document_id)
    except NotFound:
        return None


def _of_hit(citation: Citation, hit: Hit) -> bool:
    """Tell whether a citation names the hit's own document, and quotes as many characters as it says."""
    chunk = hit.chunk
    same = (citation.document_id, citation.collection) == (chunk.document_id, chunk.collection)
    return same and bool(citation.quote) and citation.end - citation.start == len(citation.quote)


def _citations(returned: Any, step: Step) -> tuple[Citation, ...]:
    if isinstance(returned, list | tuple) and all(isinstance(one, Citation) for one in returned):
        return tuple(returned)
    raise StepError(
        f"The citer returned {returned!r:.80}; allowed is a list of citations.",
        step=step.label,
        remedy="Return `Citation`s, an empty list for none.",
    )
