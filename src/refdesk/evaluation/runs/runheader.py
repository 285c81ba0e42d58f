"""What a run is: the header that says enough to repeat it, and no secret."""

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import refdesk
from refdesk.addresses import without_users
from refdesk.configuration import to_yaml
from refdesk.desk import Desk
from refdesk.errors import InputError
from refdesk.evaluation.datasets.cases import DataSet
from refdesk.evaluation.runs.channels import reranker_name
from refdesk.evaluation.runs.outcomes import RunHeader
from refdesk.evaluation.runs.shortanswers import METHOD
from refdesk.llm import LLM
from refdesk.llm.names import llm_for
from refdesk.pipeline import LLMValue, Pipeline
from refdesk.settings import Settings

PLACES = ("library", "cache")
"""Settings that say where something is on a machine, and nothing of what comes out."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run is asked to do."""

    pipeline: Pipeline | None
    collection: str
    channels: Sequence[str] | None = None
    """None for all that there are."""
    answers: bool = True
    judge: LLMValue = None
    llm: LLMValue = None
    seed: int = 0


async def header_of(
    desk: Desk, data: DataSet, asked: Asked, *, name: str, sweep: str = "", **options: Any
) -> RunHeader:
    """Return the header of a run that begins now; `options` are what else was asked, such as a sample.

    Errors: `NotFound` for a collection that is not there, and those of the embedder and reranker.
    """
    return RunHeader(
        name=name,
        data=data.name,
        split=data.split,
        data_digest=data.digest,
        cases=len(data.cases),
        pipeline=asked.pipeline.name if asked.pipeline else "",
        pipeline_yaml=written(desk, asked.pipeline) if asked.pipeline else "",
        settings=changed(desk.settings),
        versions=await _versions(desk, asked),
        options={**await _options(desk, asked), **options},
        seed=asked.seed,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        sweep=sweep,
    )


def changed(settings: Settings) -> Mapping[str, Any]:
    """Return the settings that are not the default, without secrets and places."""
    usual = Settings()
    given = {one.name: getattr(settings, one.name) for one in fields(settings) if one.repr}
    return {
        name: _shown(value)
        for name, value in given.items()
        if name not in PLACES and value != getattr(usual, name)
    }


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return without_users(value)
    if isinstance(value, tuple):
        return [*value]
    return {key: _shown(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def written(desk: Desk, pipeline: Pipeline) -> str:
    """Return a pipeline as YAML; one that holds code as Python shows it."""
    try:
        return without_users(to_yaml(pipeline, workers=desk.services.workers))
    except InputError:
        return without_users(_ADDRESS.sub("", repr(pipeline.steps)))


def model_of(desk: Desk, value: LLMValue) -> LLM | None:
    """Return a model for a value, None for none. Errors: `InputError`."""
    cache = Path(desk.settings.cache) if desk.settings.cache else None
    return llm_for(value, cache=cache) if value else None


async def _versions(desk: Desk, asked: Asked) -> Mapping[str, str]:
    embedder = await desk.services.embedder()
    llm, judge = model_of(desk, asked.llm or desk.settings.llm or None), model_of(desk, asked.judge)
    known = {
        "refdesk": refdesk.__version__,
        "python": platform.python_version(),
        "embedder": str(embedder.fingerprint),
        "reranker": await reranker_name(desk, asked.collection),
        "llm": llm.name if llm and asked.pipeline else "",
        "judge": judge.name if judge and asked.answers else "",
    }
    return {name: value for name, value in known.items() if value}


async def _options(desk: Desk, asked: Asked) -> Mapping[str, Any]:
    stored = await desk.collection(asked.collection)
    limits = await desk.services.thresholds(await reranker_name(desk, asked.collection))
    by = {"faithfulness": "the grounding's score", "correctness": METHOD}
    if asked.judge:
        by = dict.fromkeys(by, "judge")
    return {
        "collection": asked.collection,
        "principals": [*desk.settings.principals],
        "documents": stored.documents,
        "chunks": stored.chunks,
        "thresholds": asdict(limits) if limits else None,
        "channels": [*(asked.channels or ())],
        "answers": asked.answers,
        **(by if asked.answers else {}),
    }
