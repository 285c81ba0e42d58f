"""Questions whose scores are kept in a file."""

import json
from typing import Any

from refdesk.desk import Desk
from refdesk.evaluation.calibrating.asking import Asked
from refdesk.evaluation.searching.rowfile import About, RowFile


class ScoreFile(RowFile[tuple[bool, str], Asked]):
    """Scores by whether the question is on topic, and its id."""

    what = "scores"

    def key(self, row: Asked) -> tuple[bool, str]:
        return row.on_topic, row.query_id

    def row(self, record: dict[str, Any]) -> Asked:
        return Asked(**{**record, "documents": tuple(record.get("documents", ()))})


async def about(desk: Desk, *, data: str, split: str, collection: str, excerpt: int | None = None) -> About:
    """Return what the scores of a desk depend on, besides the reranker, whose name each score has."""
    settings = desk.settings
    stored = await desk.collection(collection)
    return {
        "data": data,
        "split": split,
        "collection": collection,
        "chunks": stored.chunks,
        "embedding": stored.fingerprint,
        "mode": settings.mode,
        "fusion": settings.fusion,
        "candidates": settings.candidates,
        "rerank_depth": settings.rerank_depth,
        "evidence": settings.evidence,
        **({} if excerpt is None else {"excerpt": excerpt}),
        **({"principals": json.dumps(settings.principals)} if settings.principals else {}),
    }
