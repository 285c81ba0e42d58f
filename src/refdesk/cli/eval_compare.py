"""`refdesk eval compare`, `gate` and `noise`: what stored runs say about each other."""

from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.comparetables import show_comparison
from refdesk.cli.eval_options import Seed
from refdesk.cli.eval_runs import Runs, store_of
from refdesk.cli.exits import ExitCode
from refdesk.cli.gatetables import show_gate, show_noise
from refdesk.cli.session import Session, command
from refdesk.errors import InputError, NotFound, RefdeskError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refdesk.evaluation.runs.outcomes import Run
    from refdesk.evaluation.runs.store import RunStore

SEVERAL = "several of one configuration with commas, or a pattern such as 'base-*'"
First = Annotated[str, typer.Argument(metavar="A", help=f"A stored run; {SEVERAL}.")]
Second = Annotated[str, typer.Argument(metavar="B", help="The one that may be better, in the same form.")]
Names = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="Runs of one configuration, or a pattern.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="What decides, such as fused.Recall@10; may be repeated."),
]
Tag = Annotated[str, typer.Option("--tag", metavar="TAG", help="Compare only cases with this tag.")]
Changed = Annotated[
    int,
    typer.Option("--changed", min=0, metavar="N", help="Show so many cases that differ.", show_default=True),
]
Alpha = Annotated[
    float,
    typer.Option(
        "--alpha", metavar="P", help="How often a verdict may be wrong by chance.", show_default=True
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Also for runs on different data; the cases that are the same count.")
]
Baseline = Annotated[
    str, typer.Option("--baseline", metavar="NAME", help=f"What was good enough; {SEVERAL}.")
]
Candidate = Annotated[
    str | None,
    typer.Option(
        "--candidate",
        metavar="NAME",
        help="What may pass, else the newest run on the same data that is not of a sweep.",
    ),
]
MaxRegression = Annotated[
    float,
    typer.Option(
        "--max-regression",
        metavar="X",
        help="By how much a measure may be worse; of seconds, tokens, requests and cost the share.",
        show_default=True,
    ),
]
MaxFailed = Annotated[
    int,
    typer.Option("--max-failed", min=0, metavar="N", help="How many more cases may fail.", show_default=True),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 also where it cannot be told whether a measure held.")
]


def add_to(group: typer.Typer) -> None:
    """Add the commands."""
    command(group, "compare")(compare)
    command(group, "gate")(gate)
    command(group, "noise")(noise)


def compare(
    session: Session,
    a: First,
    b: Second,
    measure: Measures = None,
    tag: Tag = "",
    changed: Changed = 5,
    alpha: Alpha = 0.02,
    seed: Seed = 0,
    runs: Runs = None,
    force: Force = False,
) -> None:
    """Say whether run B is better than run A, or worse, or whether chance explains what differs."""
    from refdesk.evaluation.comparing import compare as comparing

    store = store_of(session, runs)
    found = comparing.compare(
        read_runs(store, a),
        read_runs(store, b),
        measures=measure,
        tag=tag,
        alpha=alpha,
        seed=seed,
        changed=changed,
        force=force,
    )
    if session.json:
        session.print_json(found.to_json())
    else:
        show_comparison(session, found)


def gate(
    session: Session,
    baseline: Baseline,
    candidate: Candidate = None,
    max_regression: MaxRegression = 0.01,
    measure: Measures = None,
    max_failed: MaxFailed = 0,
    strict: Strict = False,
    alpha: Alpha = 0.02,
    seed: Seed = 0,
    runs: Runs = None,
    force: Force = False,
) -> None:
    """Exit with 1 where there is evidence that a run is worse than a baseline by more than is allowed."""
    from refdesk.evaluation.comparing import gating

    store = store_of(session, runs)
    before = read_runs(store, baseline)
    after, told = (read_runs(store, candidate), "") if candidate else newest(store, before)
    found = gating.gate(
        before,
        after,
        max_regression=max_regression,
        measures=measure,
        max_failed=max_failed,
        strict=strict,
        alpha=alpha,
        seed=seed,
        force=force,
    )
    if session.json:
        session.print_json(found.to_json())
    else:
        if told:
            session.note(told)
        show_gate(session, found)
    if not found.passed:
        code = "regressed" if found.regressed else "unproven"
        session.note(f"error [{code}]: {' '.join(found.reasons)}")
        raise typer.Exit(ExitCode.ERROR)


def noise(
    session: Session,
    names: Names,
    measure: Measures = None,
    changed: Changed = 5,
    seed: Seed = 0,
    runs: Runs = None,
    force: Force = False,
) -> None:
    """Show how far repeated runs of one configuration lie apart, and which cases move."""
    from refdesk.evaluation.comparing import noise as noises

    store = store_of(session, runs)
    found = noises.noise(
        read_runs(store, ",".join(names)), measures=measure, most=changed, seed=seed, force=force
    )
    if session.json:
        session.print_json(found.to_json())
    else:
        show_noise(session, found)


def read_runs(store: "RunStore", given: str) -> list["Run"]:
    """Read the runs that are named, with commas between them or by a pattern.

    Errors: `NotFound`, `InputError` for one that is named twice.
    """
    names = [found for name in given.split(",") if name.strip() for found in _matching(store, name.strip())]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"The run {twice!r} is named twice.", remedy="Name each once.")
    return [store.read(name) for name in names]


def _matching(store: "RunStore", name: str) -> list[str]:
    if not set("*?[") & set(name):
        return [name]
    found = [one for one in store.names() if fnmatchcase(one, name)]
    if not found:
        raise NotFound(
            f"No run in {str(store.folder)!r} matches {name!r}.",
            remedy=f"There are: {', '.join(store.names()[:10]) or 'none'}.",
        )
    return found


def newest(store: "RunStore", baseline: "list[Run]") -> "tuple[list[Run], str]":
    """Return the run on the same data that began last and is of no sweep, and a note that says so.

    Errors: `NotFound`.
    """
    found = list(_others(store, baseline))
    own = [run for run in found if not run.header.sweep]
    swept = len(found) - len(own)
    passed_over = f"{swept} run{'s' * (swept != 1)} of sweeps passed over" if swept else ""
    if not own:
        names = ", ".join(sorted(run.header.name for run in baseline))
        raise NotFound(
            f"No other run on the data of {names!r} is in {str(store.folder)!r}"
            + (f"; {passed_over}." if passed_over else "."),
            remedy="Make one with `refdesk eval run`, or name it with --candidate.",
        )
    run = max(own, key=lambda run: run.header.started)
    told = "; ".join(filter(None, (f"begun {run.header.started}", passed_over)))
    return [run], f"note: the candidate is {run.header.name!r}, the newest run on the same data ({told})."


def _others(store: "RunStore", baseline: "list[Run]") -> "Iterator[Run]":
    """Go through the other runs on the same data; one that cannot be read is no candidate."""
    names = {run.header.name for run in baseline}
    digest = baseline[0].header.data_digest if baseline else ""
    for name in store.names():
        with suppress(RefdeskError):
            run = store.read(name)
            if name not in names and run.header.data_digest == digest:
                yield run
