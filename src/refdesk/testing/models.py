"""Tiny model folders with random weights, for tests of what loads and runs models."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:?!'-"
LABELS = 1


def write_tiny_model(
    folder: Path,
    *,
    family: str = "bert",
    pooling: str = "mean",
    head: str = "embedding",
    activation: str = "gelu",
    max_length: int = 32,
    seed: int = 0,
) -> Path:
    """Write a sentence-transformers folder, or with `head="logits"` a cross-encoder, and return it.

    Two layers, 32 dimensions, a tokenizer that spells words out. `family` is `bert`, `roberta` or
    `xlm-roberta`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = tiny_config(family, tokenizer.get_vocab_size(), activation)
    _write(folder / "config.json", config)
    save_file(tiny_weights(config, head, seed), folder / "model.safetensors")
    _write(folder / "sentence_bert_config.json", {"max_seq_length": max_length, "do_lower_case": False})
    if head == "embedding":
        _write_modules(folder, pooling, config["hidden_size"])
    return folder


def tiny_tokenizer() -> Tokenizer:
    """Return a WordPiece tokenizer whose vocabulary is single letters, at and after the start of a word."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", pieces.index("[CLS]")), ("[SEP]", pieces.index("[SEP]"))],
    )
    return tokenizer


def tiny_config(family: str, words: int, activation: str) -> dict[str, Any]:
    """Return a config.json of the family."""
    return {
        "model_type": family,
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "intermediate_size": 48,
        "hidden_act": activation,
        "layer_norm_eps": 1e-12 if family == "bert" else 1e-5,
        "max_position_embeddings": 64 if family == "bert" else 66,
        "type_vocab_size": 2 if family == "bert" else 1,
        "vocab_size": words,
        "pad_token_id": 0 if family == "bert" else 1,
    }


def tiny_weights(config: dict[str, Any], head: str, seed: int) -> dict[str, NDArray[np.float32]]:
    """Return random weights under the names that transformers uses."""
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    weights: dict[str, NDArray[np.float32]] = {}
    random = np.random.default_rng(seed)

    def draw(name: str, *shape: int, centre: float = 0.0) -> None:
        weights[name] = random.normal(centre, 0.3, shape).astype(np.float32)

    def dense(name: str, inputs: int, outputs: int) -> None:
        draw(f"{name}.weight", outputs, inputs)
        draw(f"{name}.bias", outputs)

    def norm(name: str) -> None:
        draw(f"{name}.weight", hidden, centre=1.0)
        draw(f"{name}.bias", hidden)

    draw("embeddings.word_embeddings.weight", config["vocab_size"], hidden)
    draw("embeddings.position_embeddings.weight", config["max_position_embeddings"], hidden)
    draw("embeddings.token_type_embeddings.weight", config["type_vocab_size"], hidden)
    norm("embeddings.LayerNorm")
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense(f"{layer}.attention.{part}", hidden, hidden)
        norm(f"{layer}.attention.output.LayerNorm")
        dense(f"{layer}.intermediate.dense", hidden, wide)
        dense(f"{layer}.output.dense", wide, hidden)
        norm(f"{layer}.output.LayerNorm")
    if head == "embedding":
        return weights
    return _classifier(config["model_type"], weights, random)


def _classifier(
    family: str, encoder: dict[str, NDArray[np.float32]], random: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    prefix = "bert" if family == "bert" else "roberta"
    dense, out = ("bert.pooler.dense", "classifier") if family == "bert" else ROBERTA
    hidden = encoder["embeddings.LayerNorm.weight"].shape[0]
    weights = {f"{prefix}.{name}": value for name, value in encoder.items()}
    for name, outputs in ((dense, hidden), (out, LABELS)):
        weights[f"{name}.weight"] = random.normal(0.0, 0.3, (outputs, hidden)).astype(np.float32)
        weights[f"{name}.bias"] = random.normal(0.0, 0.3, outputs).astype(np.float32)
    return weights


ROBERTA = ("classifier.dense", "classifier.out_proj")


def _write_modules(folder: Path, pooling: str, dimension: int) -> None:
    names = ("Transformer", "Pooling", "Normalize")
    paths = ("", "1_Pooling", "2_Normalize")
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{name}"}
        for index, (name, path) in enumerate(zip(names, paths, strict=True))
    ]
    _write(folder / "modules.json", modules)
    (folder / "2_Normalize").mkdir(exist_ok=True)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    settings = {
        "word_embedding_dimension": dimension,
        "pooling_mode_cls_token": pooling == "cls",
        "pooling_mode_mean_tokens": pooling == "mean",
        "pooling_mode_max_tokens": pooling == "max",
    }
    _write(folder / "1_Pooling" / "config.json", settings)


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
