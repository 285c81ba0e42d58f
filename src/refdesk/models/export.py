"""Safetensors to ONNX, in full precision and in int8.

Exports are byte-reproducible. int8 is per channel with activation scales found at run time: those depend on
everything in a batch, so an int8 graph has to be run one text at a time, as `refdesk.embedding.onnx` does.
"""

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors import SafetensorError
from safetensors.numpy import load_file

from refdesk.errors import ModelError
from refdesk.models.bert_graph import classifier_graph, sentence_graph
from refdesk.models.folder import WEIGHTS, SentenceModel
from refdesk.models.graphs import Head

LARGEST_WEIGHTS = 1_900_000_000
"""Bytes: an ONNX file is one protobuf message, which ends at 2 GiB."""


def export(model: SentenceModel, destination: Path, *, head: Head = "embedding") -> None:
    """Write the full-precision graph of a model folder to a file."""
    weights = read_weights(model.folder)
    if head == "embedding":
        graph = sentence_graph(weights, model.shape, model.pooling)
    else:
        graph = classifier_graph(weights, model.shape)
    destination.write_bytes(graph.SerializeToString(deterministic=True))


def quantise(source: Path, destination: Path) -> None:
    """Write the int8 form of a graph."""
    model = onnx.load(source)
    mark = (
        model.metadata_props.add()
    )  # shapes are complete; without the mark a warning goes to the root logger
    mark.key, mark.value = "onnx.quant.pre_process", "onnxruntime.quant"
    quantize_dynamic(model, destination, per_channel=True, weight_type=QuantType.QInt8)


def read_weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Read the tensors of a model folder by name, without the name of the outer model."""
    path = folder / WEIGHTS
    size = path.stat().st_size
    if size > LARGEST_WEIGHTS:
        raise ModelError(
            f"The weights {str(path)!r} have {size / 1e9:.1f} GB; one graph file holds at most 1.9.",
            remedy="Serve the model over HTTP and use tei:URL, or install refdesk[sentence-transformers].",
        )
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise ModelError(f"The weights {str(path)!r} cannot be read: {error}.") from error
    return {name.removeprefix("bert.").removeprefix("roberta."): tensor for name, tensor in tensors.items()}
