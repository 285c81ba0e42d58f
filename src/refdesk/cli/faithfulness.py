"""`refdesk eval grounding`: how well a grounder tells faithful texts from unfaithful ones."""

from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.progress import counting
from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.evaluation.faithfulness import Case, FaithfulnessReport

Data = Annotated[
    str,
    typer.Option(
        "--data", metavar="DIR", help="Folder with JSON files of doc, summary, label and split (SummEdits)."
    ),
]
Grounder = Annotated[
    str, typer.Option("--grounder", metavar="NAME", help="local, lexical, judge or nli:FOLDER.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Judge only the first N texts of a domain.")
]


async def grounding(session: Session, data: Data, grounder: Grounder = "local", limit: Limit = None) -> None:
    """Judge labelled texts by their documents: balanced accuracy of each domain, and the mean."""
    from refdesk.chunking import Chunker
    from refdesk.evaluation.faithfulness import judge_cases, read_cases, report_on
    from refdesk.llm.names import llm_for

    cases = _first(read_cases(data), limit)
    async with session.desk() as desk:
        embedder = await desk.services.embedder()
        model = desk.settings.llm
        judge = await desk.services.grounder(grounder, llm_for(model) if model else None)
        chunker = Chunker(embedder.count_tokens, embedder.max_tokens)
        with counting(session, len(cases)) as count:
            judged = await judge_cases(cases, judge, chunker, on_case=count)
    report = report_on(judged, data=data, grounder=grounder)
    if session.json:
        session.print_json(report.to_json())
    else:
        _show(session, report)


def _first(cases: "tuple[Case, ...]", limit: int | None) -> "tuple[Case, ...]":
    if limit is None:
        return cases
    seen: dict[tuple[str, str], int] = {}
    kept = []
    for case in cases:
        place = (case.domain, case.split)
        seen[place] = seen.get(place, 0) + 1
        if seen[place] <= limit:
            kept.append(case)
    return tuple(kept)


def _show(session: Session, report: "FaithfulnessReport") -> None:
    from refdesk.evaluation.faithfulness import DOMAINS, PUBLISHED

    known = {one.domain for one in report.domains} == set(DOMAINS)
    others = {name: dict(zip(DOMAINS, row, strict=True)) for name, row in PUBLISHED.items()} if known else {}
    rows: list[tuple[object, ...]] = [
        (
            one.domain,
            one.cases,
            f"{100 * one.balanced_accuracy:.1f}",
            f"{one.auc:.3f}",
            *(f"{row[one.domain]:.1f}" for row in others.values()),
        )
        for one in report.domains
    ]
    means = (f"{sum(row.values()) / len(row):.1f}" for row in others.values())
    cases = sum(one.cases for one in report.domains)
    rows.append(("mean", cases, f"{100 * report.mean:.1f}", f"{report.mean_auc:.3f}", *means))
    table(session.out, ("domain", "texts", report.grounder, "AUC", *others), rows)
    say(
        session.out,
        f"Balanced accuracy in percent on the split test; the threshold {report.threshold:.3f} is from the "
        f"split evaluation ({100 * report.tuned:.1f} there).",
    )
    if unchecked := sum(one.unchecked for one in report.domains):
        session.note(f"warning: {unchecked} texts could not be judged and are left out.")
