"""Whether gold is where it should be: in a data set's own documents, or in a library."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from refdesk.desk import Desk
from refdesk.errors import NotFound
from refdesk.evaluation.datasets.cases import Case, DataSet, Gold
from refdesk.evaluation.datasets.gold import place, why_unusable


@dataclass(frozen=True, slots=True, kw_only=True)
class LostGold:
    """Gold that is not where it should be."""

    case_id: str
    gold: Gold
    missing: bool
    """Whether the document is missing; else it lacks the quote."""

    @property
    def reason(self) -> str:
        return why_unusable(self.gold, there=not self.missing)


def lost_gold(cases: Iterable[Case], texts: Mapping[str, str]) -> tuple[LostGold, ...]:
    """Return the gold that texts of documents lack; those without quotes in them may be left empty."""
    return tuple(
        LostGold(case_id=case.case_id, gold=gold, missing=gold.document not in texts)
        for case, gold in _golds(cases)
        if gold.document not in texts or (gold.quote and place(gold, texts[gold.document]) is None)
    )


async def stored_names(desk: Desk, collection: str) -> tuple[str, ...]:
    """Return the source ids of a collection, whoever may read them; none where it is missing."""
    try:
        return tuple(one.source_id for one in await desk.documents(collections=collection, upkeep=True))
    except NotFound:
        return ()


async def stored_gold(
    desk: Desk,
    data: DataSet,
    *,
    collection: str,
    on_text: Callable[[str], None] = lambda document: None,
) -> Mapping[str, str]:
    """Return the stored documents that gold is in, by source id, with texts where gold is a span of them."""
    documents = {one.source_id: one.document_id for one in await desk.documents(collections=collection)}
    found = {gold.document: "" for _, gold in _golds(data.cases) if gold.document in documents}
    for source in quoted_documents(data):
        if source in found:
            found[source] = (await desk.document(documents[source], collections=collection)).text
        on_text(source)
    return found


def quoted_documents(data: DataSet) -> tuple[str, ...]:
    """Return the documents that gold spans are in."""
    return tuple(dict.fromkeys(gold.document for _, gold in _golds(data.cases) if gold.quote))


def lost_in_words(lost: Sequence[LostGold]) -> Iterator[str]:
    """Yield a sentence for documents that are missing, and one for quotes."""
    missing = list(dict.fromkeys(one.gold.document for one in lost if one.missing))
    if missing:
        yield f"{_count(missing, 'gold document')} missing, and will not be found: {_some(missing)}."
    if quotes := list(
        dict.fromkeys(f"{one.gold.quote!r:.60} ({one.case_id})" for one in lost if not one.missing)
    ):
        yield f"{_count(quotes, 'gold quote')} not in the document, and will not be judged: {_some(quotes)}."


def _count(names: list[str], what: str) -> str:
    return f"1 {what} is" if len(names) == 1 else f"{len(names)} {what}s are"


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _golds(cases: Iterable[Case]) -> Iterator[tuple[Case, Gold]]:
    for case in cases:
        for need in case.needs:
            for gold in need.alternatives:
                yield case, gold
