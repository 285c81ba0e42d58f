"""What a data set comes to in a few characters, so that runs on different data are not compared."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict

from refdesk.evaluation.datasets.cases import Case, CorpusDocument


def data_digest(cases: Iterable[Case], documents: Iterable[CorpusDocument]) -> str:
    """Return a digest of questions, gold and documents; order, tags and names of files do not matter."""
    rows = [("case", one.case_id, {**asdict(one), "tags": ()}) for one in cases]
    rows += [("document", one.document, asdict(one)) for one in documents]
    found = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row[:2]):
        found.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return found.hexdigest()[:16]
