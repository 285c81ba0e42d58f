"""`refdesk screen`: what is wrong with rules, and whether they find what they should."""

from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.exits import ExitCode
from refdesk.cli.options import readable
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import one_line, say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.screening import Score, Trial, Tried

Rules = Annotated[
    str,
    typer.Argument(metavar="RULES", callback=readable, help="A YAML file, or a set's name: multilingual."),
]
Cases = Annotated[
    str,
    typer.Argument(
        metavar="CASES",
        callback=readable,
        help="YAML or JSON lines of {text, expect: a rule's id, true or false, language}.",
    ),
]
COUNTS = ("expected", "hits", "misses", "recall", "harmless", "false_alarms", "false_alarm_rate")
RULE_COUNTS = ("expected", "hits", "misses", "false_alarms")


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="Check and try the rules of `screen`. No model is asked.")
    command(group, "check")(check)
    command(group, "test")(test)
    app.add_typer(group, name="screen")


def check(session: Session, rules: Rules) -> None:
    """Print all that is wrong with rules, and exit with 1 where something is."""
    from refdesk.screening import check_rules

    found, wrong = check_rules(rules)
    if session.json:
        ids = [rule.id for rule in found]
        session.print_json({"source": rules, "ok": not wrong, "rules": ids, "problems": wrong})
    else:
        for line in wrong or (f"ok: {len(found)} rule{'s' if len(found) != 1 else ''}",):
            say(session.out, one_line(line))
    if wrong:
        many = f"{len(wrong)} problem{'s' if len(wrong) != 1 else ''}"
        _conclude(session, f"{rules!r} has {many}; such rules let nothing pass.")


def test(session: Session, rules: Rules, cases: Cases) -> None:
    """Screen cases, print what is found, missed, or found for no reason, and exit with 1 for a wrong one."""
    from refdesk.screening import load_cases, load_rules, try_rules

    known = load_rules(rules)
    trial = try_rules(known, load_cases(cases, [rule.id for rule in known]))
    if session.json:
        session.print_json({"rules": rules, "cases": cases, "ok": trial.ok, **_record(trial)})
    else:
        _show(session, trial)
    if not trial.ok:
        total = trial.overall.expected + trial.overall.harmless
        _conclude(session, f"{len(trial.wrong)} of {total} cases came out wrong.")


def _conclude(session: Session, said: str) -> None:
    if not session.json:
        session.note(f"error [{InputError.code}]: {said}")
    raise typer.Exit(ExitCode.ERROR)


def _record(trial: "Trial") -> dict[str, object]:
    return {
        "overall": _counts(trial.overall, COUNTS),
        "by_rule": {score.name: _counts(score, RULE_COUNTS) for score in trial.rules},
        "by_language": {score.name: _counts(score, COUNTS) for score in trial.languages},
        "wrong": [
            {"text": one.case.text, "expect": one.case.expect, "found": one.found, "what": _what(one)}
            for one in trial.wrong
        ],
    }


def _counts(score: "Score", names: tuple[str, ...]) -> dict[str, object]:
    return {name: getattr(score, name) for name in names}


def _show(session: Session, trial: "Trial") -> None:
    _table(session, "rule", RULE_COUNTS, [one for one in trial.rules if one.expected or one.false_alarms])
    if trial.languages:
        say(session.out)
        _table(session, "language", COUNTS, trial.languages)
    say(session.out)
    _table(session, "cases", COUNTS, (trial.overall,), "all")
    if trial.wrong:
        say(session.out)
        rows = [(_what(one), _expected(one), one.found, one.case.text) for one in trial.wrong]
        table(session.out, ("wrong", "expected", "found", "text"), rows)


def _table(
    session: Session,
    first: str,
    names: tuple[str, ...],
    scores: "tuple[Score, ...] | list[Score]",
    name: str = "",
) -> None:
    rows = [(score.name or name, *_counts(score, names).values()) for score in scores]
    table(session.out, (first, *(one.replace("_", " ") for one in names)), rows)


def _what(one: "Tried") -> str:
    if one.case.harmless:
        return "false alarm"
    return "other rule" if one.screened else "miss"


def _expected(one: "Tried") -> str:
    if one.case.harmless:
        return "none"
    return "any" if one.case.expect is True else str(one.case.expect)
