"""The exporter against BERT written out in numpy."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from refdesk.errors import ModelError
from refdesk.models.cache import sha256_of
from refdesk.models.export import export, quantise
from refdesk.models.folder import SentenceModel, read_folder
from refdesk.models.graphs import Head, graph_file, graph_key
from refdesk.testing.models import write_tiny_model

Array = NDArray[Any]

IDS = np.array([[2, 7, 9, 30, 3], [2, 11, 3, 0, 0], [2, 3, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])


def reference(model: SentenceModel) -> Array:
    """Return the hidden states of IDS, computed row by row over real tokens only."""
    weights = {
        name.removeprefix("bert.").removeprefix("roberta."): value.astype(np.float64)
        for name, value in load_file(model.folder / "model.safetensors").items()
    }
    hidden = np.zeros((*IDS.shape, model.shape.hidden))
    for row, length in enumerate(MASK.sum(axis=1)):
        hidden[row, :length] = _encode(weights, IDS[row, :length], model)
    return hidden


def _encode(weights: dict[str, Array], ids: Array, model: SentenceModel) -> Array:
    first = model.shape.first_position
    value = weights["embeddings.word_embeddings.weight"][ids]
    value = value + weights["embeddings.position_embeddings.weight"][first : first + len(ids)]
    value = value + weights["embeddings.token_type_embeddings.weight"][0]
    value = _norm(weights, "embeddings.LayerNorm", value, model.shape.epsilon)
    for number in range(model.shape.layers):
        name = f"encoder.layer.{number}"
        mixed = _attend(weights, f"{name}.attention.self", value, model.shape.heads)
        output = _dense(weights, f"{name}.attention.output.dense", mixed)
        value = _norm(weights, f"{name}.attention.output.LayerNorm", output + value, model.shape.epsilon)
        wide = _activate(_dense(weights, f"{name}.intermediate.dense", value), model.shape.activation)
        output = _dense(weights, f"{name}.output.dense", wide)
        value = _norm(weights, f"{name}.output.LayerNorm", output + value, model.shape.epsilon)
    return value


def _attend(weights: dict[str, Array], name: str, value: Array, heads: int) -> Array:
    query, key, content = (_dense(weights, f"{name}.{part}", value) for part in ("query", "key", "value"))
    size = value.shape[1] // heads
    mixed = []
    for start in range(0, value.shape[1], size):
        part = slice(start, start + size)
        scores = query[:, part] @ key[:, part].T / math.sqrt(size)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed.append(shares / shares.sum(axis=1, keepdims=True) @ content[:, part])
    return np.concatenate(mixed, axis=1)


def _dense(weights: dict[str, Array], name: str, value: Array) -> Array:
    return np.asarray(value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])


def _norm(weights: dict[str, Array], name: str, value: Array, epsilon: float) -> Array:
    centred = value - value.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)
    return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def _activate(value: Array, kind: str) -> Array:
    if kind == "relu":
        return np.maximum(value, 0.0)
    if kind == "gelu":
        return np.asarray(0.5 * value * (1.0 + np.vectorize(math.erf)(value / math.sqrt(2.0))))
    return np.asarray(0.5 * value * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (value + 0.044715 * value**3))))


def run(graph: Path) -> list[Array]:
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    inputs = {"input_ids": IDS, "attention_mask": MASK, "token_type_ids": np.zeros_like(IDS)}
    return list(session.run(None, inputs))


def exported(folder: Path, head: Head = "embedding", **options: Any) -> tuple[SentenceModel, list[Array]]:
    model = read_folder(write_tiny_model(folder / "model", head=head, **options))
    export(model, folder / "fp32.onnx", head=head)
    return model, run(folder / "fp32.onnx")


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta"])
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_token_vectors_equal_the_reference(tmp_path: Path, family: str, activation: str) -> None:
    model, (hidden, _) = exported(tmp_path, family=family, activation=activation)
    real = MASK.astype(bool)
    assert np.allclose(hidden[real], reference(model)[real], atol=1e-4)


def test_mean_pooling_leaves_padding_out(tmp_path: Path) -> None:
    model, (_, embedding) = exported(tmp_path, pooling="mean")
    means = reference(model).sum(axis=1) / MASK.sum(axis=1, keepdims=True)
    assert np.allclose(embedding, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-5)


def test_cls_pooling_takes_the_first_token(tmp_path: Path) -> None:
    model, (_, embedding) = exported(tmp_path, pooling="cls")
    first = reference(model)[:, 0]
    assert np.allclose(embedding, first / np.linalg.norm(first, axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta"])
def test_a_cross_encoder_gives_logits(tmp_path: Path, family: str) -> None:
    model, (logits,) = exported(tmp_path, head="logits", family=family)
    weights = load_file(model.folder / "model.safetensors")
    dense, out = ("bert.pooler.dense", "classifier")
    if family != "bert":
        dense, out = ("classifier.dense", "classifier.out_proj")
    squashed = np.tanh(_dense(weights, dense, reference(model)[:, 0]))
    assert np.allclose(logits, _dense(weights, out, squashed), atol=1e-4)


def test_an_export_has_the_same_bytes_twice(tmp_path: Path) -> None:
    model = read_folder(write_tiny_model(tmp_path / "model"))
    for attempt in ("first", "second"):
        export(model, tmp_path / f"{attempt}.onnx")
        quantise(tmp_path / f"{attempt}.onnx", tmp_path / f"{attempt}.int8.onnx")
    assert sha256_of(tmp_path / "first.onnx") == sha256_of(tmp_path / "second.onnx")
    assert sha256_of(tmp_path / "first.int8.onnx") == sha256_of(tmp_path / "second.int8.onnx")


def test_int8_stays_near_full_precision(tmp_path: Path) -> None:
    _, (_, full) = exported(tmp_path)
    quantise(tmp_path / "fp32.onnx", tmp_path / "int8.onnx")
    _, small = run(tmp_path / "int8.onnx")
    assert np.all(np.sum(full * small, axis=1) > 0.98)
    assert not np.array_equal(full, small)


def test_quantising_says_nothing_on_the_root_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    exported(tmp_path)
    quantise(tmp_path / "fp32.onnx", tmp_path / "int8.onnx")
    assert caplog.records == []


def test_a_graph_is_exported_once_and_made_again_when_damaged(tmp_path: Path) -> None:
    model = read_folder(write_tiny_model(tmp_path / "model"))
    graph = graph_file(model, cache=tmp_path / "cache")
    content, made = graph.read_bytes(), graph.stat().st_mtime_ns
    assert graph_file(model, cache=tmp_path / "cache").stat().st_mtime_ns == made
    graph.write_bytes(b"half")
    assert graph_file(model, cache=tmp_path / "cache").read_bytes() == content


def test_a_graph_depends_on_weights_pooling_and_head(tmp_path: Path) -> None:
    models = [
        read_folder(write_tiny_model(tmp_path / "first")),
        read_folder(write_tiny_model(tmp_path / "weights", seed=1)),
        read_folder(write_tiny_model(tmp_path / "pooling", pooling="cls")),
    ]
    keys = {graph_key(model, "embedding") for model in models} | {graph_key(models[0], "logits")}
    assert len(keys) == 4


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "model")
    save_file({"linear.weight": np.zeros((2, 2), np.float32)}, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"have no 'embeddings\.word_embeddings\.weight'"):
        export(read_folder(folder), tmp_path / "out.onnx")


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match=r"model\.safetensors' cannot be read"):
        export(read_folder(folder), tmp_path / "out.onnx")
