"""The ONNX graphs of a model: found in the cache, or exported into it."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from refdesk.models.cache import intact, publish, read_stamp, sha256_of, staging
from refdesk.models.folder import WEIGHTS, SentenceModel
from refdesk.plugins import load_late

EXPORT_VERSION = 1
"""Part of a cached graph's name: raise it whenever the exporter's output changes."""

Head = Literal["embedding", "logits"]
Precision = Literal["fp32", "int8"]


def graph_file(
    model: SentenceModel, *, cache: Path, precision: Precision = "int8", head: Head = "embedding"
) -> Path:
    """Return the graph of a model, exporting it into the cache where it is not there yet."""
    place = cache / "graphs" / graph_key(model, head)
    if not intact(place):
        exporter = load_late("refdesk.models.export")  # brings onnx, which running a graph does not need
        with staging(cache) as temporary:
            exporter.export(model, temporary / "fp32.onnx", head=head)
            exporter.quantise(temporary / "fp32.onnx", temporary / "int8.onnx")
            publish(temporary, place)
    return place / f"{precision}.onnx"


def graph_key(model: SentenceModel, head: Head) -> str:
    """Name everything that a graph depends on: weights, settings, head, exporter."""
    settings = {
        "shape": asdict(model.shape),
        "pooling": model.pooling,
        "head": head,
        "version": EXPORT_VERSION,
    }
    described = json.dumps([weight_digest(model.folder), settings], sort_keys=True)
    return f"{head}-{hashlib.sha256(described.encode()).hexdigest()[:16]}"


def weight_digest(folder: Path) -> str:
    """Return the sha256 of a folder's weights: from its stamp where it has one, else by reading them."""
    stamped = read_stamp(folder).get(WEIGHTS)
    return stamped[1] if stamped else sha256_of(folder / WEIGHTS)
