"""What is shown of a case when it is opened: what was asked, found and answered, and why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.reporting.markup import Child, Markup, element, label, quoted
from refdesk.evaluation.reporting.numbers import duration, money, written
from refdesk.evaluation.reporting.sections import measure_name
from refdesk.evaluation.reporting.summary import ordered
from refdesk.evaluation.reporting.tables import Cell, folded, paragraph, table
from refdesk.evaluation.reporting.verdicts import SIGNS, WORDS, State
from refdesk.evaluation.runs.outcomes import AnswerOutcome, CaseOutcome, Channel

RANKS = 10
TEXT = 6000
QUOTE = 400
SUPPORTS = {
    "supported": "✓",
    "partial": "◐",
    "unsupported": "✗",
    "contradicted": "⚡",
    "unchecked": "?",
}
"""Signs beside the colours of support."""


def asked(outcome: CaseOutcome) -> list[Markup]:
    """Return what was asked and what was expected: the same for all runs."""
    parts = [
        element("p", element("b", f"{turn.role}: "), quoted(turn.text, TEXT), class_="turn")
        for turn in outcome.history
    ]
    parts.append(element("p", quoted(outcome.question, TEXT), class_="question"))
    if not outcome.answerable:
        parts.append(paragraph("The documents do not answer this; a refusal is right.", class_="quiet"))
    if outcome.answers:
        expected = [[element("li", quoted(one, TEXT))] for one in outcome.answers]
        parts.append(element("div", element("b", "Right answers"), element("ul", expected, class_="plain")))
    return parts


def of_run(outcome: CaseOutcome, state: State, title: str) -> Markup:
    """Return what came of a case in one run."""
    badge = element("span", f"{SIGNS[state]} {WORDS[state]}", class_=f"state {state}")
    facts = [duration(outcome.seconds)]
    if outcome.requests:
        facts.append(f"{outcome.requests} requests, {outcome.tokens:,} tokens")
    if outcome.cost:
        facts.append(money(outcome.cost))
    return element(
        "div",
        element("h4", label(title, 80), " ", badge, element("small", " ", ", ".join(facts))),
        paragraph(quoted(outcome.error, TEXT), class_="note bad") if outcome.error else None,
        [paragraph("Warning: ", quoted(one, TEXT), class_="note") for one in outcome.warnings],
        _answer(outcome.answer) if outcome.answer else None,
        _rankings(outcome) if outcome.channels else None,
        _measures(outcome),
        _trace(outcome.trace) if outcome.trace else None,
        class_="run",
    )


def _answer(answer: AnswerOutcome) -> list[Child]:
    known = [
        f"refused: {answer.refusal}" if answer.refusal else "",
        f"zone: {answer.zone}",
        f"confidence: {answer.confidence:.3g}" if answer.confidence is not None else "",
        answer.model,
    ]
    return [
        element("blockquote", quoted(answer.text, TEXT)),
        paragraph(" · ".join(filter(None, known)), class_="quiet"),
        _listed("Claims", map(_claim, answer.claims)),
        _listed("Citations", map(_citation, answer.citations)),
        _listed("Reasons of the judge", _judgements(answer.judgements)),
    ]


def _listed(title: str, items: Iterable[Markup]) -> Markup | None:
    found = list(items)
    return element("div", element("b", title), element("ul", found, class_="plain")) if found else None


def _claim(claim: Mapping[str, Any]) -> Markup:
    """Return a claim; its text has the markers that it carries."""
    return element("li", support_sign(claim), " ", quoted(str(claim.get("text", "")), TEXT))


def _citation(citation: Mapping[str, Any]) -> Markup:
    title, source = str(citation.get("title", "")), str(citation.get("source_id", ""))
    return element(
        "li",
        support_sign(citation),
        f" [{citation.get('marker', '?')}] ",
        label(title or source, 120),
        element("small", " ", label(source, 120)) if title and title != source else None,
        element("q", quoted(str(citation.get("quote", "")), QUOTE)),
    )


def support_sign(judged: Mapping[str, Any]) -> Markup:
    """Return how far something is supported: as a sign and a word, not only as a colour."""
    support = str(judged.get("support", "unchecked"))
    class_ = support if support in SUPPORTS else "unchecked"
    return element("span", f"{SUPPORTS[class_]} {support}", class_=f"support {class_}")


def _judgements(judgements: Mapping[str, str]) -> Iterator[Markup]:
    for name, reason in judgements.items():
        yield element("li", element("b", f"{name}: "), quoted(reason, TEXT))


def _rankings(outcome: CaseOutcome) -> list[Markup]:
    """Return where gold stands, and the first ranks of each stage with gold marked."""
    channels, gold = outcome.channels, {one.document for one in golds(outcome.needs)}
    names: list[Child] = [label(channel.name, 40) for channel in channels]
    depth = min(RANKS, max(len(channel.documents) for channel in channels))
    rows = (
        [Cell(rank + 1, "number"), *(_ranked(channel.documents, rank, gold) for channel in channels)]
        for rank in range(depth)
    )
    stands = table("Where gold stands", ["gold", *names], _standing(outcome)) if outcome.needs else None
    found = table(f"The first {depth}", ["rank", *names], rows) if depth else paragraph("Nothing was found.")
    return [one for one in (stands, found) if one is not None]


def golds(needs: Iterable[Need]) -> Iterator[Gold]:
    yield from (one for need in needs for one in need.alternatives)


def _ranked(documents: Sequence[str], rank: int, gold: set[str]) -> Cell:
    if rank >= len(documents):
        return Cell("")
    document = documents[rank]
    if document not in gold:
        return Cell(label(document, 48))
    return Cell([element("span", "★ ", title="gold"), label(document, 48)], "gold")


def _standing(outcome: CaseOutcome) -> Iterator[list[Child | Cell]]:
    """Say at which rank each stage has each document or span that was wanted."""
    for number, need in enumerate(outcome.needs, 1):
        for one in need.alternatives:
            which = element("small", f" (need {number})") if len(outcome.needs) > 1 else None
            quote = element("q", quoted(one.quote, QUOTE)) if one.quote else None
            ranks = (_rank(one, channel, number - 1) for channel in outcome.channels)
            yield [[label(one.document, 60), which, quote], *(Cell(rank, "number") for rank in ranks)]


def _rank(gold: Gold, channel: Channel, need: int) -> Child:
    if gold.document not in channel.documents:
        return element("span", "–", title=f"not among the {len(channel.documents)} found")
    rank = channel.documents.index(gold.document) + 1
    if gold.quote and gold.start is None and channel.ranks:
        met = channel.ranks[need]
        return [rank, element("small", f" met by chunk {met}" if met else " met by no chunk")]
    if gold.start is None or gold.end is None or not channel.spans:
        return rank
    start, end = gold.start, gold.end
    chunk = next(
        (
            place
            for place, (source, low, high) in enumerate(channel.spans, 1)
            if source == gold.document and low < end and start < high
        ),
        None,
    )
    said = f" chunk {chunk}" if chunk else " no chunk of the span"
    return [rank, element("small", said)]


def _measures(outcome: CaseOutcome) -> Markup | None:
    names = ordered([*outcome.measures, *outcome.excluded])
    if not names:
        return None
    rows = ([measure_name(name), _value(outcome, name)] for name in names)
    return folded("Measures of this case", table(None, ["measure", "value"], rows))


def _value(outcome: CaseOutcome, name: str) -> Cell:
    if name in outcome.measures:
        return Cell(written(name, outcome.measures[name]), "number")
    return Cell(["left out: ", quoted(outcome.excluded[name], QUOTE)], "quiet")


def _trace(lines: Sequence[str]) -> Markup:
    return folded("Trace", element("pre", "\n".join(one[:2000] for one in lines), tabindex=0))
