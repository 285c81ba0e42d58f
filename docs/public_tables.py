"""Tables of public benchmarks: what `benchmarks/results` keeps, beside what others published."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from tables import table

from refdesk.evaluation.calibrating.faithfulness import DOMAINS, PUBLISHED

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
CHANNELS = ("keyword", "vector", "fused", "reranked")


def kept(name: str) -> Any:
    """Return what is kept of a run, or None where it was not run."""
    file = BENCHMARKS / "results" / f"{name}.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else None


def retrieval() -> str:
    """Return a table for each set that has no languages."""
    published = yaml.safe_load((BENCHMARKS / "published.yaml").read_text("utf-8"))
    return "\n".join(
        f"### {there['title']}\n\n{_one_set(run, there)}"
        for name, there in published["sets"].items()
        if (run := kept(name)) is not None
    )


def _one_set(run: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    measures = there["measures"]
    rows = []
    for channel, milliseconds in run["p50_ms"].items():
        found = [run["measures"].get(f"{channel}.{measure}") for measure in measures]
        rows.append((channel, *map(_mean, found), f"{milliseconds} ms"))
    for one in there["published"]:
        figures = (f"{one[measure]:.3f}" if measure in one else "" for measure in measures)
        rows.append((f"*published:* {one['system']}; {one['source']}", *figures, ""))
    return f"{table(('', *measures, 'p50'), rows)}\n{_made_by(run)}"


def _made_by(run: Mapping[str, Any]) -> str:
    ranked = ", ".join(run["versions"].get(what, "") for what in ("embedder", "reranker")).strip(", ")
    return f"{run['cases']:,} questions, {ranked}. Data {run['digest'][:12]}.\n"


def _mean(found: Mapping[str, float] | None) -> str:
    return "" if found is None else f"{found['mean']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def languages() -> str:
    """Return nDCG@10 of XQuAD in each language."""
    there = yaml.safe_load((BENCHMARKS / "published.yaml").read_text("utf-8"))["xquad"]
    rows = [row for language, name in there["languages"].items() for row in _language(language, name, there)]
    return table(("language", "questions", *CHANNELS[:3], "p50", f"*published:* {there['system']}"), rows)


def _language(language: str, name: str, there: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    if (run := kept(f"xquad-{language}")) is None:
        return
    ours = [_mean(run["measures"].get(f"{channel}.nDCG@10")) for channel in CHANNELS[:3]]
    others = there["published"].get(language)
    milliseconds = f"{run['p50_ms']['fused']} ms"
    yield (name, f"{run['cases']:,}", *ours, milliseconds, "" if others is None else f"{others:.3f}")


def rewriting() -> str:
    """Return how near rewritings of follow-up questions come to those of people."""
    rows = [
        (one["name"], *(f"{one[key]:.3f}" for key in ("f1", "exact", "recalled")), str(one["failed"]))
        for one in kept("cast2020") or ()
    ]
    return table(("", "word F1", "exact", "words that people added", "failed"), rows)


def grounding() -> str:
    """Return how well unfaithful summaries are told from faithful ones, domain by domain."""
    report = kept("summedits")
    if report is None:
        return ""
    rows = [
        (one["domain"], f"{one['cases']:,}", *_ours(one), *(f"{row[at]:.1f}" for row in PUBLISHED.values()))
        for one in report["domains"]
        for at in (DOMAINS.index(one["domain"]),)
    ]
    means = (f"{sum(row) / len(row):.1f}" for row in PUBLISHED.values())
    texts = sum(one["cases"] for one in report["domains"])
    ours = (f"{100 * report[key]:.1f}" for key in ("mean_by_levels", "mean"))
    rows.append(("mean", f"{texts:,}", *ours, f"{report['mean_auc']:.3f}", *means))
    return table(("domain", "texts", "`local`", "fitted", "AUC", *(f"*{name}*" for name in PUBLISHED)), rows)


def _ours(domain: Mapping[str, Any]) -> tuple[str, ...]:
    by_levels, fitted = domain["by_levels"], domain["balanced_accuracy"]
    return f"{100 * by_levels:.1f}", f"{100 * fitted:.1f}", f"{domain['auc']:.3f}"
