"""What a folder says of a model that reads pairs of texts: its graph, its config, its longest input."""

import json
from pathlib import Path
from typing import Any

from refdesk.errors import ModelError

GRAPHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
MAX_LENGTH = 512
"""Tokens of a pair where the folder does not say."""
PADDED_POSITIONS = ("roberta", "xlm-roberta", "camembert")
"""Families whose table of positions begins with rows that no token has."""


def graph_in(folder: Path) -> Path | None:
    """Return the ONNX graph of a folder, the full-precision one first; None where it has none."""
    return next((folder / name for name in GRAPHS if (folder / name).is_file()), None)


def longest_pair(folder: Path) -> int:
    """Return the tokens of a pair: what the tokenizer was made for, within the model's table of positions."""
    config = read_object(folder / "config.json")
    positions = _number(config, "max_position_embeddings")
    if positions and config.get("model_type") in PADDED_POSITIONS:
        positions -= (_number(config, "pad_token_id") or 1) + 1
    lengths = [
        _number(read_object(folder / "sentence_bert_config.json"), "max_seq_length"),
        _number(read_object(folder / "tokenizer_config.json"), "model_max_length"),
        positions,
    ]
    known = [length for length in lengths if length]
    return min(known) if known else MAX_LENGTH


def read_object(file: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds; an empty one where there is no file. Errors: `ModelError`."""
    if not file.is_file():
        return {}
    try:
        value = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"The file {str(file)!r} cannot be read as JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ModelError(f"The file {str(file)!r} cannot be read as JSON: it holds no object.")
    return value


def _number(values: dict[str, Any], key: str) -> int | None:
    value = values.get(key)
    return int(value) if isinstance(value, int | float) and 0 < value < 1e6 else None
