"""Zones and limits as tables for people."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.evaluation.calibrating.calibration import CalibrationReport
    from refdesk.evaluation.calibrating.zones import Curve, ZonesReport
    from refdesk.evaluation.comparing.statistics import Estimate
    from refdesk.reranking.thresholds import Thresholds


def show_fit(session: Session, report: "CalibrationReport") -> None:
    """Print the limits that were fitted, and on what."""
    rule, off = report.rule, report.fitted_off_topic
    say(
        session.out,
        f"Fitted on {report.fitted_on:,} questions on topic{f' and {off:,} off topic' if off else ''}, "
        f"drawn by chance (seed {report.seed}); what follows is about the others.",
    )
    pairs = (
        ("abstain_below", f"{_interval(report.abstain_below)}  at most {rule.refused:.1%} on topic refused"),
        ("weak_below", f"{_interval(report.weak_below)}  at most {rule.weak:.1%} with right evidence below"),
    )
    facts(session.out, pairs)
    say(session.out, "")


def show_zones(session: Session, report: "ZonesReport") -> None:
    """Print zones, limits, and how well scores tell questions apart."""
    counts = {on: sum(one.on_topic == on for one in report.asked) for on in (True, False)}
    off = f", {counts[False]:,} off topic ({report.off_topic})" if counts[False] else ""
    name = ", ".join(filter(None, (report.data, report.split)))
    say(session.out, f"{name}: {counts[True]:,} questions on topic{off}")
    say(session.out, report.reranker)
    say(session.out, "")
    if report.zones:
        say(session.out, f"Zones, {_limits(report.thresholds)}")
        rows = [(row.kind, row.questions, *map(_share, (row.none, row.weak, row.ok))) for row in report.zones]
        table(session.out, ("questions", "count", "none", "weak", "ok"), rows)
    else:
        session.note("No limits are known for this reranker; `refdesk eval calibrate` measures them.")
    say(session.out, "")
    _show_limits(session, report)
    say(session.out, "")
    facts(session.out, tuple(_figures(report)))


def _show_limits(session: Session, report: "ZonesReport") -> None:
    off = report.curve_with_off_topic is not None
    headings = ("limit", "on topic below", "off topic below", "wrong evidence", "with off topic", "")
    rows = [
        (
            f"{row.limit:.4g}",
            *map(_percent, (row.below, row.off_topic_below, row.risk, row.risk_with_off_topic)),
            row.mark,
        )
        for row in report.limits
    ]
    kept = [place for place in range(len(headings)) if off or place not in (2, 4)]
    say(session.out, "Questions below a limit, and answers from wrong evidence where the others are answered")
    table(session.out, [headings[place] for place in kept], [[row[place] for place in kept] for row in rows])


def _figures(report: "ZonesReport") -> Iterable[tuple[str, str]]:
    if report.auc:
        yield "AUC, on topic against off topic", _chance(report.auc)
    if report.auc_right:
        yield "AUC, right evidence against wrong", _chance(report.auc_right)
    yield "risk-coverage area, on topic", _area(report.curve)
    if report.curve_with_off_topic:
        yield "risk-coverage area, with off topic", _area(report.curve_with_off_topic)


def _limits(thresholds: "Thresholds | None") -> str:
    if thresholds is None:
        return ""
    return f"abstain below {thresholds.abstain_below:.4g}, weak below {thresholds.weak_below:.4g}"


def _area(curve: "Curve") -> str:
    return f"{curve.area:.3f} (best {curve.best:.3f}, by chance {curve.chance:.3f})"


def _interval(figure: "Estimate") -> str:
    return f"{figure.value:.4g} ({figure.low:.4g} to {figure.high:.4g})"


def _chance(figure: "Estimate") -> str:
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def _share(figure: "Estimate") -> str:
    return f"{figure.value:.1%} ({figure.low:.1%} to {figure.high:.1%})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
