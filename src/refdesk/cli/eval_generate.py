"""`refdesk eval generate`: a test set from the documents of a collection."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from refdesk.cli.progress import counting
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.desk import Desk
    from refdesk.evaluation.generating.drafts import Draft, DraftFile, Kind
    from refdesk.evaluation.generating.making import Generated, Generating, Wanted
    from refdesk.evaluation.generating.surveying import Survey
    from refdesk.evaluation.searching.rowfile import About
    from refdesk.llm import LLM

Out = Annotated[
    str, typer.Argument(metavar="OUT", help="Question file to write: .yaml or .jsonl.", show_default=False)
]
CollectionName = Annotated[
    str | None, typer.Option("--collection", "-c", metavar="NAME", help="Collection, else the settings' one.")
]
LLMString = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="MODEL",
        help="Model that writes questions; without it they are taken from sentences.",
    ),
]
KindList = Annotated[
    str,
    typer.Option(
        "--kinds", metavar="LIST", help="Some of single,multi,unanswerable,conversation.", show_default=True
    ),
]
Count = Annotated[
    int, typer.Option("--n", "-n", min=1, metavar="N", help="How many questions.", show_default=True)
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Of the order of passages.", show_default=True)
]
RoundTrip = Annotated[
    int,
    typer.Option(
        "--round-trip",
        min=0,
        metavar="K",
        help="Keep what a search finds among K chunks; 0 keeps all.",
        show_default=True,
    ),
]
MaxOverlap = Annotated[
    float,
    typer.Option(
        "--max-overlap",
        metavar="SHARE",
        help="Of the words that answer a question, in the question.",
        show_default=True,
    ),
]
MaxRequests = Annotated[
    int | None, typer.Option("--max-requests", min=1, metavar="N", help="Ask the model at most N times.")
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="USD", help="Spend at most so much on the model.")
]
SHOWN = 10
"""Unusable documents that are listed; with -v all."""


def add_to(group: typer.Typer) -> None:
    """Add the command."""
    command(group, "generate", asks=True)(generate)


async def generate(
    session: Session,
    out: Out,
    collection: CollectionName = None,
    llm: LLMString = None,
    kinds: KindList = "single,multi,unanswerable,conversation",
    count: Count = 50,
    seed: Seed = 0,
    round_trip: RoundTrip = 20,
    max_overlap: MaxOverlap = 0.8,
    max_requests: MaxRequests = None,
    max_cost: MaxCost = None,
) -> None:
    """Make questions whose answers are known from your own documents. The same command again goes on."""
    from refdesk.evaluation.generating.making import Wanted
    from refdesk.evaluation.runs.runheader import model_of

    names = tuple(dict.fromkeys(name.strip() for name in kinds.split(",") if name.strip()))
    wanted = Wanted(
        count=count,
        kinds=cast("tuple[Kind, ...]", names),
        seed=seed,
        round_trip=round_trip,
        max_overlap=max_overlap,
        max_requests=max_requests,
        max_cost=max_cost,
    )
    kept = _kept(out)
    async with session.desk() as desk:
        where = collection or desk.settings.collection
        model = model_of(desk, llm or None)
        made = await _made(session, desk, where, wanted, model, out, kept)
    _show(session, made, out)


def _kept(out: str) -> Path:
    """Return where drafts are kept; refuse a name that cannot be written, and a file of somebody else's."""
    from refdesk.evaluation.datasets.casefile import LINES, YAML

    target = Path(out)
    if target.suffix.lower() not in (*YAML, *LINES):
        raise InputError(f"Cannot write {out!r}.", remedy=f"End it in {', '.join((*YAML, *LINES))}.")
    if not target.absolute().parent.is_dir():
        raise InputError(f"The folder of {out!r} does not exist.", remedy="Make it first.")
    drafts = target.with_name(f"{target.stem}.drafts.jsonl")
    if target.exists() and not drafts.exists():
        raise InputError(
            f"{out!r} is there already, and has no {drafts.name} beside it to go on from.",
            remedy="Name another file, or remove this one.",
        )
    if target.exists() and _written(target) != _digest(target):
        raise InputError(
            f"{out!r} was changed since it was made; going on would undo that.",
            remedy=f"Move it and {drafts.name} elsewhere, or name another file. Nothing was written.",
        )
    return drafts


def _mark(target: Path) -> Path:
    """Return the file that tells what was written last, so that changes by hand are seen."""
    return target.with_name(f"{target.stem}.drafts.sha256")


def _written(target: Path) -> str:
    mark = _mark(target)
    return mark.read_text("ascii").strip() if mark.exists() else ""


def _digest(target: Path) -> str:
    return hashlib.sha256(target.read_bytes()).hexdigest()


async def _made(
    session: Session,
    desk: "Desk",
    collection: str,
    wanted: "Wanted",
    llm: "LLM | None",
    out: str,
    kept: Path,
) -> "Generated":
    from refdesk.evaluation.generating.drafts import DraftFile
    from refdesk.evaluation.generating.making import Generating

    stored = await desk.collection(collection)
    found = await _surveyed(session, desk, collection, wanted.seed)
    about: About = {
        "collection": collection,
        "chunks": stored.chunks,
        "embedding": stored.fingerprint,
        "llm": llm.name if llm else "",
        "seed": wanted.seed,
        "round_trip": wanted.round_trip,
        "max_overlap": str(wanted.max_overlap),
        **({"principals": json.dumps(desk.settings.principals)} if desk.settings.principals else {}),
    }
    with closing(DraftFile(kept, about)) as file:
        work = Generating(
            desk=desk, collection=collection, survey=found, wanted=wanted, llm=llm, known=file.known
        )
        return await _worked(session, work, file, out)


async def _surveyed(session: Session, desk: "Desk", collection: str, seed: int) -> "Survey":
    from refdesk.evaluation.generating.surveying import MOST_DOCUMENTS, survey

    stored = await desk.collection(collection)
    with counting(session, min(stored.documents, MOST_DOCUMENTS)) as count:
        return await survey(desk, collection, seed=seed, on_document=count)


async def _worked(session: Session, work: "Generating", file: "DraftFile", out: str) -> "Generated":
    """Make drafts; what is kept by then is written also where the work is broken off, or fails."""
    import anyio

    try:
        with counting(session, work.wanted.count) as count:

            def take(draft: "Draft") -> None:
                file.add(draft)
                if not draft.dropped:
                    count(draft.kind)

            made = await work.run(take)
    except BaseException as error:
        so_far = _write(work.so_far(), out)
        if isinstance(error, anyio.get_cancelled_exc_class() | Exception):
            written = f"{so_far} questions are in {out}. " if so_far else ""
            session.note(f"{written}Run the same command again to go on.")
        raise
    _write(made, out)
    return made


def _write(made: "Generated", out: str) -> int:
    from refdesk.evaluation.datasets.casefile import write_cases

    data = made.data(Path(out).stem)
    if data.cases:
        write_cases(out, data)
        _mark(Path(out)).write_text(f"{_digest(Path(out))}\n", "ascii")
    return len(data.cases)


def _show(session: Session, made: "Generated", out: str) -> None:
    record = made.to_json()
    if session.json:
        questions = [one.case_id for one in made.data(Path(out).stem).cases]
        session.print_json({**record, "written": out if questions else None, "ids": questions})
        return
    rows = [(kind, one["wanted"], one["made"]) for kind, one in record["kinds"].items()]
    table(session.out, ("kind", "wanted", "made"), rows)
    say(session.out, "")
    facts(session.out, tuple(_figures(record)))
    if made.dropped:
        say(session.out, "")
        table(session.out, ("left out", "drafts"), list(made.dropped.items()))
    _show_unusable(session, made)
    if short := [kind for kind, one in record["kinds"].items() if one["made"] < one["wanted"]]:
        why = made.stopped or "the documents gave no more; see what was left out."
        session.note(f"warning: fewer than wanted of {', '.join(short)}: {why}")
    if not made.kept:
        raise InputError(
            "No question could be made.", remedy="Look at what was left out, or name a model with --llm."
        )
    session.note(f"Written to {out}.")


def _figures(record: "dict[str, object]") -> "list[tuple[str, object]]":
    def counted(name: str) -> str:
        return ", ".join(f"{count} {key}" for key, count in cast("dict[str, int]", record[name]).items())

    overlap, cost = cast("float | None", record["overlap"]), cast(float, record["cost"])
    return [
        ("documents", record["documents"]),
        ("not read", record["not_read"] or None),
        ("languages", counted("languages")),
        ("made by", counted("by")),
        ("difficulty", counted("difficulty")),
        ("overlap with what answers it", None if overlap is None else f"{overlap:.2f}"),
        ("requests", record["requests"] or None),
        ("tokens", record["tokens"] or None),
        ("cost", f"${cost:.4f}" if cost else None),
    ]


def _show_unusable(session: Session, made: "Generated") -> None:
    unusable = made.survey.unusable
    if not unusable:
        return
    say(session.out, "")
    shown = unusable if session.verbose else unusable[:SHOWN]
    table(session.out, ("unusable document", "why"), shown)
    if len(unusable) > len(shown):
        say(session.out, f"and {len(unusable) - len(shown)} more; with -v all are listed")
