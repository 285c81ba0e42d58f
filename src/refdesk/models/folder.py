"""What a sentence-transformers folder says about itself.

Read: `config.json` (shape), `modules.json` and `1_Pooling/config.json` (pooling), `sentence_bert_config.json`
(length), `config_sentence_transformers.json` (prompts). Weights are read from `model.safetensors` only: a
pickle can run code.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from refdesk.errors import ModelError

Pooling = Literal["mean", "cls"]
FAMILIES = ("bert", "roberta", "xlm-roberta", "camembert")
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
MODULES = ("Transformer", "Pooling", "Normalize")
WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of a BERT encoder."""

    family: str
    hidden: int
    heads: int
    layers: int
    epsilon: float
    activation: str
    positions: int
    """Rows of the position table."""
    first_position: int
    """Row of the first token: 0 for BERT, after the padding row for RoBERTa."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceModel:
    """A folder with a text encoder that the exporter can read."""

    folder: Path
    name: str
    shape: Shape
    pooling: Pooling
    max_length: int
    """Tokens of one input, special tokens included."""
    query_prefix: str = ""
    document_prefix: str = ""


def read_folder(folder: Path, name: str = "") -> SentenceModel:
    """Read the settings of a model folder; refuse what the exporter cannot reproduce exactly."""
    for needed in ("config.json", WEIGHTS, "tokenizer.json"):
        if not (folder / needed).is_file():
            raise ModelError(
                f"The model folder {str(folder)!r} has no {needed}.",
                remedy="Use a sentence-transformers folder with safetensors weights and a fast tokenizer.",
            )
    shape = _shape(folder)
    prompts = _optional(folder / "config_sentence_transformers.json").get("prompts") or {}
    return SentenceModel(
        folder=folder,
        name=name or folder.name,
        shape=shape,
        pooling=_pooling(folder),
        max_length=_max_length(folder, shape),
        query_prefix=prompts.get("query") or "",
        document_prefix=prompts.get("document") or prompts.get("passage") or "",
    )


def exportable(folder: Path) -> bool:
    """Tell whether the exporter knows a folder's architecture."""
    return _optional(folder / "config.json").get("model_type") in FAMILIES and _foreign_modules(folder) == []


def _shape(folder: Path) -> Shape:
    config = _json(folder / "config.json")
    family = config.get("model_type", "bert")
    _require(folder, "model_type", family, FAMILIES)
    _require(folder, "hidden_act", config.get("hidden_act", "gelu"), ACTIVATIONS)
    _require(
        folder, "position_embedding_type", config.get("position_embedding_type", "absolute"), ("absolute",)
    )
    try:
        return Shape(
            family=family,
            hidden=int(config["hidden_size"]),
            heads=int(config["num_attention_heads"]),
            layers=int(config["num_hidden_layers"]),
            epsilon=float(config.get("layer_norm_eps", 1e-12)),
            activation=config.get("hidden_act", "gelu"),
            positions=int(config["max_position_embeddings"]),
            first_position=0 if family == "bert" else int(config.get("pad_token_id", 1)) + 1,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"The config.json of {str(folder)!r} lacks a usable {error}.") from error


def _require(folder: Path, key: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ModelError(
            f"The model {str(folder)!r} has {key} {value!r}; the exporter knows {', '.join(allowed)}.",
            remedy="Install refdesk[sentence-transformers] to run other architectures.",
        )


def _pooling(folder: Path) -> Pooling:
    if foreign := _foreign_modules(folder):
        _require(folder, "module", foreign[0], MODULES)
    settings = _optional(folder / "1_Pooling" / "config.json")
    chosen = [key for key, value in settings.items() if key.startswith("pooling_mode_") and value is True]
    modes: dict[str, Pooling] = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    if not chosen:
        return "mean"
    _require(folder, "pooling", "+".join(chosen), tuple(modes))
    return modes[chosen[0]]


def _foreign_modules(folder: Path) -> list[str]:
    path = folder / "modules.json"
    modules = _json(path) if path.is_file() else []
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    return [kind for kind in kinds if kind not in MODULES]


def _max_length(folder: Path, shape: Shape) -> int:
    limit = shape.positions - shape.first_position
    wanted = _optional(folder / "sentence_bert_config.json").get("max_seq_length")
    return min(int(wanted), limit) if wanted else limit


def _optional(path: Path) -> dict[str, Any]:
    return dict(_json(path)) if path.is_file() else {}


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"The file {str(path)!r} cannot be read as JSON: {error}.") from error
