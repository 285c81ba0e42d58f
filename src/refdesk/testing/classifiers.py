"""Tiny classifiers whose verdict is known: a statement is held where its words stand in the evidence."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
NOT, HYPOTHESIS = "not", "hypothesis"
NAMES = {"e": "entailment", "n": "neutral", "c": "contradiction"}
HEADS = {"sequence": "TinyForSequenceClassification", "token": "TinyForTokenClassification"}
WEIGHTS = {"e": (20.0, 0.0, -17.0), "n": (0.0, 0.0, 0.0), "c": (0.0, 8.0, -4.0)}
"""What the share of words found, an added "not", and nothing at all add to a label's logit."""


@dataclass
class _Graph:
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, kind: str, *inputs: str, **options: Any) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **options))
        return name

    def constant(self, value: Any, kind: Any) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    def floats(self, value: str) -> str:
        return self.add("Cast", value, to=TensorProto.FLOAT)


def write_tiny_classifier(
    folder: Path,
    words: Iterable[str],
    *,
    meanings: str = "enc",
    names: Sequence[str] | None = None,
    token: bool = False,
    hhem: bool = False,
    max_length: int = 128,
    config: dict[str, Any] | None = None,
) -> Path:
    """Write an ONNX classifier that knows some words, and return its folder.

    `meanings` has a letter for each label: `e` for held, `c` for one that adds the word "not", `n` for
    neither; config.json calls them so, or by `names`. With `token` each token is judged, without `c`. With
    `hhem` both texts are one, in the template of HHEM, and the first token tells. `config` replaces parts of
    config.json, None takes one out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = word_tokenizer(words)
    tokenizer.save(str(folder / "tokenizer.json"))
    onnx.save(_model(tokenizer, meanings, token, hhem), folder / "model.onnx")
    written = {
        "architectures": [HEADS["token" if token else "sequence"]],
        "id2label": dict(enumerate(names or [NAMES[meaning] for meaning in meanings])),
        "max_position_embeddings": max_length,
        "pad_token_id": 0,
        **(config or {}),
    }
    kept = {name: value for name, value in written.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(kept), encoding="utf-8")
    return folder


def word_tokenizer(words: Iterable[str]) -> Tokenizer:
    """Return a tokenizer whose tokens are words in small letters, signs, and `[UNK]`."""
    known = dict.fromkeys((*SPECIAL, NOT, HYPOTHESIS, *(word.casefold() for word in words)))
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(known)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Split(Regex(r"\W"), "isolated")]
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


def _model(tokenizer: Tokenizer, meanings: str, token: bool, hhem: bool) -> onnx.ModelProto:
    graph = _Graph()
    ids = "input_ids"
    statement = _second(graph, tokenizer) if hhem else graph.floats("token_type_ids")
    real = graph.floats(graph.add("Greater", ids, graph.constant(0, np.int64)))  # all but padding
    real = graph.add("Mul", real, graph.floats("attention_mask"))
    word = graph.floats(graph.add("Not", graph.add("And", *_between(graph, ids, 2, 3))))
    word = graph.add("Mul", word, real)
    stated = graph.add("Mul", word, statement)
    given = graph.add("Mul", word, graph.add("Sub", graph.constant(1.0, np.float32), statement))
    found = _found(graph, ids, given)
    outputs = (
        _by_token(graph, found, meanings) if token else _whole(graph, tokenizer, stated, found, meanings)
    )
    if hhem:
        outputs = graph.add("Unsqueeze", outputs, graph.constant([1], np.int64))
        width = graph.add("Shape", ids)
        shape = graph.add("Concat", width, graph.constant([len(meanings)], np.int64), axis=0)
        outputs = graph.add("Expand", outputs, shape)
    graph.nodes[-1].output[0] = "logits"
    inputs = ["input_ids", "attention_mask", *([] if hhem else ["token_type_ids"])]
    dimensions: list[str | int | None] = (
        ["batch", "tokens", len(meanings)] if token or hhem else ["batch", len(meanings)]
    )
    made = helper.make_graph(
        graph.nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, dimensions)],
        graph.constants,
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _second(graph: _Graph, tokenizer: Tokenizer) -> str:
    """Return 1 for what follows the second "hypothesis": in the template the statement does."""
    border = graph.constant(tokenizer.token_to_id(HYPOTHESIS), np.int64)
    here = graph.floats(graph.add("Equal", "input_ids", border))
    passed = graph.add("CumSum", here, graph.constant(1, np.int64))
    after = graph.floats(graph.add("Greater", passed, graph.constant(1.0, np.float32)))
    return graph.add("Mul", after, graph.add("Sub", graph.constant(1.0, np.float32), here))


def _between(graph: _Graph, ids: str, first: int, last: int) -> tuple[str, str]:
    at_least = graph.add("GreaterOrEqual", ids, graph.constant(first, np.int64))
    return at_least, graph.add("LessOrEqual", ids, graph.constant(last, np.int64))


def _found(graph: _Graph, ids: str, given: str) -> str:
    """Return 1 for each token that stands among the given ones; unknown words stand nowhere."""
    column = graph.add("Unsqueeze", ids, graph.constant([2], np.int64))
    row = graph.add("Unsqueeze", ids, graph.constant([1], np.int64))
    equal = graph.floats(graph.add("Equal", column, row))
    among = graph.add("Mul", equal, graph.add("Unsqueeze", given, graph.constant([1], np.int64)))
    known = graph.floats(graph.add("Greater", ids, graph.constant(1, np.int64)))
    return graph.add("Mul", graph.add("ReduceMax", among, axes=[2], keepdims=0), known)


def _by_token(graph: _Graph, found: str, meanings: str) -> str:
    sign = [1.0 if meaning == "e" else -1.0 for meaning in meanings]
    centred = graph.add("Sub", found, graph.constant(0.5, np.float32))
    column = graph.add("Unsqueeze", centred, graph.constant([2], np.int64))
    return graph.add("Mul", column, graph.constant([[[8.0 * one for one in sign]]], np.float32))


def _whole(graph: _Graph, tokenizer: Tokenizer, stated: str, found: str, meanings: str) -> str:
    one = graph.constant(1.0, np.float32)
    hits = graph.add("ReduceSum", graph.add("Mul", found, stated), graph.constant([1], np.int64), keepdims=1)
    total = graph.add("ReduceSum", stated, graph.constant([1], np.int64), keepdims=1)
    share = graph.add("Div", hits, graph.add("Max", total, one))
    negation = graph.constant(tokenizer.token_to_id(NOT), np.int64)
    added = graph.floats(graph.add("Equal", "input_ids", negation))
    added = graph.add("Mul", graph.add("Mul", added, stated), graph.add("Sub", one, found))
    denied = graph.add("ReduceMax", added, axes=[1], keepdims=1)
    weights = np.array([WEIGHTS[meaning] for meaning in meanings], np.float32).T
    features = graph.add("Concat", share, denied, axis=1)
    product = graph.add("MatMul", features, graph.constant(weights[:2], np.float32))
    return graph.add("Add", product, graph.constant(weights[2], np.float32))
