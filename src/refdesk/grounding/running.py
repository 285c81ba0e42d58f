"""Classifier graphs on onnxruntime, several inputs at once where that changes no result."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from refdesk.embedding.onnx import open_session
from refdesk.embedding.parallel import processors
from refdesk.errors import ModelError
from refdesk.grounding.pairs import Pair

Logits = NDArray[np.float32]

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Runner(Protocol):
    """What gives numbers for inputs: (inputs, labels), or (inputs, tokens, labels)."""

    @property
    def workers(self) -> int:
        """How many runs may go on at once."""
        ...

    @property
    def longest(self) -> int | None:
        """Tokens that an input may have at most, None where the graph does not say."""
        ...

    def run(self, pairs: Sequence[Pair]) -> Logits: ...


class OnnxRunner:
    """A graph, each run on one thread."""

    def __init__(self, graph: Path, *, padding: int = 0, types: bool = True) -> None:
        self._session = open_session(graph)
        self._graph, self._padding, self._types = graph, padding, types
        inputs = {one.name: one.shape for one in self._session.get_inputs()}
        if "input_ids" not in inputs or not set(inputs) <= set(INPUTS):
            raise ModelError(
                f"The graph {str(graph)!r} takes {', '.join(inputs) or 'nothing'}; a classifier takes"
                f" {', '.join(INPUTS)}, the last two if it needs them.",
                remedy="Export the model for text classification or token classification.",
            )
        self._inputs = frozenset(inputs)
        shape = list(inputs["input_ids"])
        self.longest = shape[1] if len(shape) == 2 and isinstance(shape[1], int) else None
        outputs = [one.name for one in self._session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]
        self.workers = processors()

    def run(self, pairs: Sequence[Pair]) -> Logits:
        """Run inputs as one batch, padded on the right. Errors: `ModelError`."""
        width = self.longest or max(len(pair.ids) for pair in pairs)
        feed = {name: values for name, values in self._rows(pairs, width).items() if name in self._inputs}
        try:
            given = self._session.run([self._output], feed)[0]
        except Exception as error:  # onnxruntime's errors share no public class
            raise ModelError(
                f"The graph {str(self._graph)!r} cannot run {len(pairs)} inputs of {width} tokens: {error}."
            ) from error
        return np.asarray(given, np.float32)

    def _rows(self, pairs: Sequence[Pair], width: int) -> dict[str, NDArray[np.int64]]:
        types = [pair.types if self._types else () for pair in pairs]
        return {
            "input_ids": padded([pair.ids for pair in pairs], width, self._padding),
            "attention_mask": padded([pair.mask for pair in pairs], width),
            "token_type_ids": padded(types, width),
        }


def padded(rows: Sequence[Sequence[int]], width: int, filling: int = 0) -> NDArray[np.int64]:
    """Return rows of different length as an array, filled up on the right."""
    array = np.full((len(rows), width), filling, np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array


class TorchRunner:
    """A model on the packages transformers and torch."""

    workers = 1  # torch uses every processor by itself
    longest = None

    def __init__(self, model: Any, torch: Any, *, padding: int = 0, types: bool = True) -> None:
        self._model, self._torch, self._padding = model.eval(), torch, padding
        self._types = types

    def run(self, pairs: Sequence[Pair]) -> Logits:
        """Run inputs as one batch, padded on the right."""
        width = max(len(pair.ids) for pair in pairs)
        rows = {
            "input_ids": padded([pair.ids for pair in pairs], width, self._padding),
            "attention_mask": padded([pair.mask for pair in pairs], width),
        }
        if self._types:
            rows["token_type_ids"] = padded([pair.types for pair in pairs], width)
        with self._torch.inference_mode():
            given = self._model(**{name: self._torch.from_numpy(row) for name, row in rows.items()})
        return np.asarray(given.logits.float().numpy(), np.float32)
