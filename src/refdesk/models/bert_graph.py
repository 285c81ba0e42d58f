"""BERT as an ONNX graph, built straight from its weights (Devlin et al. 2019; RoBERTa: Liu et al. 2019).

Inputs are `input_ids`, `attention_mask` and `token_type_ids`, int64 of shape (batch, tokens); rows are padded
on the right. A sentence encoder gives `last_hidden_state` (batch, tokens, hidden) and `embedding` (batch,
hidden), rows of unit length. A classifier gives `logits` (batch, labels).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from refdesk.errors import ModelError
from refdesk.models.folder import Pooling, Shape

OPSET = 17
IR_VERSION = 9
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
MASKED = -10000.0

Weights = Mapping[str, NDArray[np.float32]]


class Graph:
    """Nodes and constants of a graph under construction; every method returns the name of its output."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(f"number_{value!r}", np.array(value, np.float32))

    def integers(self, *values: int) -> str:
        return self.constant("integers_" + "_".join(map(str, values)), np.array(values, np.int64))

    def weight(self, name: str) -> str:
        return self.constant(name, self._array(name))

    def linear(self, value: str, name: str) -> str:
        matrix = self.constant(f"{name}.weight.transposed", self._array(f"{name}.weight").T)
        product = self.node("MatMul", [value, matrix])
        return self.node("Add", [product, self.weight(f"{name}.bias")])

    def layer_norm(self, value: str, name: str, epsilon: float) -> str:
        inputs = [value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]
        return self.node("LayerNormalization", inputs, axis=-1, epsilon=epsilon)

    def as_float(self, value: str) -> str:
        return self.node("Cast", [value], to=TensorProto.FLOAT)

    def _array(self, name: str) -> NDArray[np.float32]:
        if name not in self.weights:
            raise ModelError(f"The weights have no {name!r}; they are not those of a BERT model.")
        return self.weights[name].astype(np.float32, copy=False)


def sentence_graph(weights: Weights, shape: Shape, pooling: Pooling) -> onnx.ModelProto:
    """Build the graph that gives token vectors and one pooled unit vector per text."""
    graph = Graph(weights)
    hidden = encoder(graph, shape)
    pooled = pool_mean(graph, hidden) if pooling == "mean" else first_token(graph, hidden)
    unit = graph.node("LpNormalization", [pooled], axis=1, p=2)
    outputs = [
        _named(graph, hidden, "last_hidden_state", ["batch", "tokens", shape.hidden]),
        _named(graph, unit, "embedding", ["batch", shape.hidden]),
    ]
    return _model(graph, outputs)


def classifier_graph(weights: Weights, shape: Shape) -> onnx.ModelProto:
    """Build the graph of a sequence classifier or cross-encoder."""
    graph = Graph(weights)
    first = first_token(graph, encoder(graph, shape))
    dense, out = ("pooler.dense", "classifier") if shape.family == "bert" else ROBERTA_HEAD
    squashed = graph.node("Tanh", [graph.linear(first, dense)])
    logits = graph.linear(squashed, out)
    labels = weights[f"{out}.weight"].shape[0]
    return _model(graph, [_named(graph, logits, "logits", ["batch", labels])])


ROBERTA_HEAD = ("classifier.dense", "classifier.out_proj")


def encoder(graph: Graph, shape: Shape) -> str:
    """Add embeddings and all layers; the output has shape (batch, tokens, hidden)."""
    hidden = embeddings(graph, shape)
    bias = attention_bias(graph)
    for number in range(shape.layers):
        name = f"encoder.layer.{number}"
        hidden = attention(graph, hidden, bias, name, shape)
        hidden = feed_forward(graph, hidden, name, shape)
    return hidden


def embeddings(graph: Graph, shape: Shape) -> str:
    """Add up word, type and position vectors, and normalise."""
    words = graph.node("Gather", [graph.weight("embeddings.word_embeddings.weight"), "input_ids"], axis=0)
    types = graph.node(
        "Gather", [graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids"], axis=0
    )
    total = graph.node("Add", [graph.node("Add", [words, types]), positions(graph, shape)])
    return graph.layer_norm(total, "embeddings.LayerNorm", shape.epsilon)


def positions(graph: Graph, shape: Shape) -> str:
    """Take the first rows of the position table.

    A slice, because onnxruntime fuses the usual gather over a range into something that fails at run time.
    """
    table = graph.weight("embeddings.position_embeddings.weight")
    tokens = graph.node("Shape", ["input_ids"], start=1, end=2)
    start = graph.integers(shape.first_position)
    end = graph.node("Add", [tokens, start])
    return graph.node("Slice", [table, start, end, graph.integers(0)])


def attention_bias(graph: Graph) -> str:
    """Give 0 for real tokens and a large negative number for padding, of shape (batch, 1, 1, tokens)."""
    mask = graph.as_float(graph.node("Unsqueeze", ["attention_mask", graph.integers(1, 2)]))
    return graph.node("Mul", [graph.node("Sub", [graph.number(1.0), mask]), graph.number(MASKED)])


def attention(graph: Graph, hidden: str, bias: str, name: str, shape: Shape) -> str:
    """Add multi-head self-attention with its residual and normalisation."""
    size = shape.hidden // shape.heads

    def heads(part: str, order: list[int]) -> str:
        projected = graph.linear(hidden, f"{name}.attention.self.{part}")
        split = graph.node("Reshape", [projected, graph.integers(0, 0, shape.heads, size)])
        return graph.node("Transpose", [split], perm=order)

    products = graph.node("MatMul", [heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1])])
    scaled = graph.node("Div", [products, graph.number(float(np.sqrt(size)))])
    shares = graph.node("Softmax", [graph.node("Add", [scaled, bias])], axis=-1)
    mixed = graph.node(
        "Transpose", [graph.node("MatMul", [shares, heads("value", [0, 2, 1, 3])])], perm=[0, 2, 1, 3]
    )
    joined = graph.node("Reshape", [mixed, graph.integers(0, 0, shape.hidden)])
    output = graph.linear(joined, f"{name}.attention.output.dense")
    residual = graph.node("Add", [output, hidden])
    return graph.layer_norm(residual, f"{name}.attention.output.LayerNorm", shape.epsilon)


def feed_forward(graph: Graph, hidden: str, name: str, shape: Shape) -> str:
    """Add the two dense layers with their residual and normalisation."""
    wide = activation(graph, graph.linear(hidden, f"{name}.intermediate.dense"), shape.activation)
    output = graph.linear(wide, f"{name}.output.dense")
    residual = graph.node("Add", [output, hidden])
    return graph.layer_norm(residual, f"{name}.output.LayerNorm", shape.epsilon)


def activation(graph: Graph, value: str, kind: str) -> str:
    """Add relu, the exact gelu, or its tanh approximation (Hendrycks and Gimpel 2016)."""
    if kind == "relu":
        return graph.node("Relu", [value])
    if kind == "gelu":
        bell = graph.node("Erf", [graph.node("Div", [value, graph.number(float(np.sqrt(2.0)))])])
    else:
        cube = graph.node("Mul", [graph.node("Mul", [value, value]), value])
        inner = graph.node("Add", [value, graph.node("Mul", [cube, graph.number(0.044715)])])
        bell = graph.node("Tanh", [graph.node("Mul", [inner, graph.number(float(np.sqrt(2.0 / np.pi)))])])
    doubled = graph.node("Mul", [value, graph.node("Add", [bell, graph.number(1.0)])])
    return graph.node("Mul", [doubled, graph.number(0.5)])


def pool_mean(graph: Graph, hidden: str) -> str:
    """Average the vectors of real tokens."""
    mask = graph.as_float(graph.node("Unsqueeze", ["attention_mask", graph.integers(2)]))
    total = graph.node("ReduceSum", [graph.node("Mul", [hidden, mask]), graph.integers(1)], keepdims=0)
    count = graph.node("ReduceSum", [mask, graph.integers(1)], keepdims=0)
    return graph.node("Div", [total, graph.node("Max", [count, graph.number(1e-9)])])


def first_token(graph: Graph, hidden: str) -> str:
    """Take the vector of the first token."""
    return graph.node("Gather", [hidden, graph.constant("first", np.array(0, np.int64))], axis=1)


def _named(graph: Graph, value: str, name: str, dimensions: list[str | int]) -> onnx.ValueInfoProto:
    graph.nodes.append(helper.make_node("Identity", [value], [name], name=name))
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dimensions)


def _model(graph: Graph, outputs: list[onnx.ValueInfoProto]) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in INPUTS]
    built = helper.make_graph(graph.nodes, "bert", inputs, outputs, list(graph.constants.values()))
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name = "refdesk"
    onnx.checker.check_model(model)
    return model
