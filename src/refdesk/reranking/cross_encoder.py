"""Cross-encoders from a local folder: a model reads question and chunk together.

Three kinds of folder, tried in this order: one with `model.onnx` (or `onnx/model.onnx`), one with a BERT
classifier that our exporter knows, and any other on the package sentence-transformers. Scores are logits,
of any size, higher is better; 0 is where a trained model is undecided.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread
import numpy as np

from refdesk.documents import Hit
from refdesk.embedding.onnx import open_session
from refdesk.embedding.parallel import in_order, processors
from refdesk.embedding.tokenizer import load_tokenizer
from refdesk.errors import ModelError
from refdesk.models.cache import default_cache
from refdesk.models.folder import exportable, read_folder
from refdesk.models.graphs import Precision, graph_file
from refdesk.models.pairs import graph_in, longest_pair, read_object
from refdesk.plugins import load_extra
from refdesk.reranking.ordering import hit_text, ordered
from refdesk.reranking.pairs import windowed

PROBE = "a"


class PairModel(Protocol):
    """A model that scores one question and one text."""

    @property
    def limit(self) -> int:
        """Tokens of question and text together, special tokens already subtracted."""
        ...

    def count(self, text: str) -> int: ...

    def score(self, question: str, text: str) -> float: ...


class CrossEncoder:
    """Order hits by a model that reads pairs; long chunks count by their best window."""

    def __init__(self, model: PairModel, name: str) -> None:
        self._model = model
        self._name = name
        self._threads = processors()

    @property
    def name(self) -> str:
        return self._name

    async def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """See `refdesk.reranking.Reranker`. Errors: `InputError` where the question fills the model."""
        texts = [hit_text(hit) for hit in hits]
        pairs = await anyio.to_thread.run_sync(
            windowed, question, texts, self._model.count, self._model.limit
        )

        async def one(pair: tuple[str, str]) -> float:
            return await anyio.to_thread.run_sync(partial(self._model.score, *pair))

        scores = await in_order(one, pairs.pairs, anyio.CapacityLimiter(self._threads))
        names = [hit.chunk.chunk_id for hit in hits]
        return ordered(hits, dict(zip(names, pairs.best(scores), strict=True)))


def open_cross_encoder(
    folder: Path, *, cache: Path | None = None, precision: Precision = "fp32"
) -> CrossEncoder:
    """Open a folder. Blocks while weights are loaded or exported. Errors: `ModelError`, `MissingExtra`."""
    if not folder.is_dir():
        raise ModelError(f"There is no reranker folder {str(folder)!r}.", remedy="Give a local folder.")
    graph = graph_in(folder)
    if graph is not None:
        return CrossEncoder(OnnxPairModel(graph, folder, longest_pair(folder)), folder.name)
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"The folder {str(folder)!r} holds no reranker: it has neither model.onnx nor config.json.",
            remedy="Give the folder of a cross-encoder.",
        )
    if not exportable(folder):
        return CrossEncoder(TorchPairModel(folder), folder.name)
    model = read_folder(folder)
    graph = graph_file(model, cache=cache or default_cache(), precision=precision, head="logits")
    return CrossEncoder(OnnxPairModel(graph, folder, model.max_length), folder.name)


class OnnxPairModel:
    """A classifier graph on onnxruntime, one pair at a time so that a score depends on its pair alone."""

    def __init__(self, graph: Path, folder: Path, max_length: int) -> None:
        self._tokenizer = load_tokenizer(folder / "tokenizer.json")
        self._session = open_session(graph)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._max_length = max_length
        self._types = read_object(folder / "config.json").get("type_vocab_size") != 1
        probe = self._tokenizer.encode(PROBE, PROBE)
        self._special = sum(probe.special_tokens_mask)

    @property
    def limit(self) -> int:
        return self._max_length - self._special

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def score(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(question, text)
        rows = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids if self._types else [0] * len(pair.ids),
        }
        feed = {name: np.array([row], np.int64) for name, row in rows.items() if name in self._inputs}
        return logit(self._session.run(None, feed)[0][0])


class TorchPairModel:
    """A cross-encoder on the package sentence-transformers, for what the exporter does not know."""

    def __init__(self, folder: Path) -> None:
        package = load_extra("sentence_transformers", "sentence-transformers")
        try:
            self._model = package.CrossEncoder(str(folder), local_files_only=True, trust_remote_code=False)
        except Exception as error:  # torch, transformers and the package share no class of errors
            raise ModelError(f"sentence-transformers cannot load {str(folder)!r}: {error}.") from error
        self._special = len(self._model.tokenizer(PROBE, PROBE)["input_ids"]) - 2 * self.count(PROBE)

    @property
    def limit(self) -> int:
        longest = self._model.max_length or self._model.tokenizer.model_max_length
        return min(int(longest), 8192) - self._special

    def count(self, text: str) -> int:
        return len(self._model.tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])

    def score(self, question: str, text: str) -> float:
        raw = self._model.model(**self._model.tokenizer(question, text, return_tensors="pt")).logits[0]
        return logit(raw.detach().float().numpy())


def logit(row: Any) -> float:
    """Return the logit of relevance: the only label's, or of two labels the second's lead over the first."""
    if len(row) > 2:
        raise ModelError(
            f"The model has {len(row)} labels; a reranker has 1, or 2 of which the second means relevant.",
            remedy="Use a cross-encoder that was trained for ranking.",
        )
    value = float(row[0]) if len(row) == 1 else float(row[1]) - float(row[0])
    if not np.isfinite(value):
        raise ModelError("The reranker gave a score that is no number.", remedy="Check its weights.")
    return value
