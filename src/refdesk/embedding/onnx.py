"""Embedders that run BERT graphs on onnxruntime.

`int8` is the default and runs one text at a time: its activation scales depend on everything in a batch,
and a text's vector must not depend on its neighbours. `fp32` runs texts of like length together. Either way
each run uses one thread and as many runs go on at once as there are processors, which measures faster than
sharing one run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from refdesk.embedding import Fingerprint, TokenVectors, Vectors
from refdesk.embedding.parallel import in_order, processors
from refdesk.embedding.tokenizer import TextTokenizer, Window
from refdesk.embedding.tokens import unit_rows
from refdesk.embedding.windows import mean_vector, refuse_long
from refdesk.errors import InputError, ModelError
from refdesk.models.folder import SentenceModel
from refdesk.models.graphs import Precision, graph_file, weight_digest

BATCH: dict[Precision, int] = {"int8": 1, "fp32": 8}
TEXTS_PER_JOB = 16
"""Texts that one job of a worker thread embeds; between jobs a call can be cancelled."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What one window of a text gave."""

    vector: NDArray[np.float32]
    """Shape (dimension,), unit length."""
    tokens: NDArray[np.float32]
    """Shape (tokens, dimension), rows of unit length; (0, dimension) where they were not asked for."""


class OnnxEmbedder:
    """A sentence-transformers BERT model on onnxruntime."""

    def __init__(
        self,
        model: SentenceModel,
        *,
        cache: Path,
        precision: Precision = "int8",
        threads: int | None = None,
    ) -> None:
        self._model = model
        self._batch = BATCH[precision]
        self._threads = threads or processors()
        self._tokenizer = TextTokenizer(model.folder / "tokenizer.json", model.max_length)
        self._session = open_session(graph_file(model, cache=cache, precision=precision))
        self._limiter = anyio.lowlevel.RunVar[anyio.CapacityLimiter]("onnx embedder")
        prefixes = (model.query_prefix, model.document_prefix)
        self._max_tokens = min(self._tokenizer.room(prefix) for prefix in prefixes)
        if self._max_tokens < 1:
            raise InputError(
                f"The prefixes {prefixes} leave no room in the {model.max_length} tokens of an input."
            )
        self._fingerprint = Fingerprint(
            model=model.name,
            revision=weight_digest(model.folder)[:16],
            dimension=model.shape.hidden,
            precision=precision,
            pooling=model.pooling,
            query_prefix=model.query_prefix,
            document_prefix=model.document_prefix,
        )

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count_tokens(self, text: str) -> int:
        return self._tokenizer.count(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that fit the model; raise `InputError` where one does not."""
        windows = await self._document_windows(texts)
        return self._pooled(await self._embed(windows, tokens=False))

    async def embed_documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """Embed texts that fit the model, and give the vectors of their tokens from the same pass."""
        windows = await self._document_windows(texts)
        embedded = await self._embed(windows, tokens=True)
        return self._pooled(embedded), self._tokens(windows, embedded)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries; one longer than the model's input is the mean of its windows."""
        windows = await self._tokenise(texts, self._model.query_prefix)
        return self._pooled(await self._embed(windows, tokens=False))

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Give token vectors of texts of any length, read as documents; long ones in windows."""
        windows = await self._tokenise(texts, self._model.document_prefix)
        return self._tokens(windows, await self._embed(windows, tokens=True))

    async def _document_windows(self, texts: Sequence[str]) -> list[list[Window]]:
        windows = await self._tokenise(texts, self._model.document_prefix)
        lengths = [sum(len(part.offsets) for part in parts) for parts in windows]
        refuse_long(texts, lengths, self.max_tokens, self._model.name)
        return windows

    async def _tokenise(self, texts: Sequence[str], prefix: str) -> list[list[Window]]:
        return await anyio.to_thread.run_sync(self._tokenizer.windows, texts, prefix)

    async def _embed(self, windows: Sequence[Sequence[Window]], *, tokens: bool) -> list[list[Embedded]]:
        """Run every window of every text, several jobs at once, and put the results back in order."""
        flat = [window for parts in windows for window in parts]
        groups = jobs([len(window.ids) for window in flat])

        async def run(group: list[int]) -> list[Embedded]:
            return await anyio.to_thread.run_sync(self._run_job, [flat[index] for index in group], tokens)

        done: dict[int, Embedded] = {}
        for group, results in zip(groups, await in_order(run, groups, self._workers()), strict=True):
            done.update(zip(group, results, strict=True))
        ordered = iter(done[index] for index in range(len(flat)))
        return [[next(ordered) for _ in parts] for parts in windows]

    def _workers(self) -> anyio.CapacityLimiter:
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = anyio.CapacityLimiter(self._threads)
            self._limiter.set(limiter)
        return limiter

    def _run_job(self, windows: list[Window], tokens: bool) -> list[Embedded]:
        results: list[Embedded] = []
        for start in range(0, len(windows), self._batch):
            results.extend(self._run(windows[start : start + self._batch], tokens))
        return results

    def _run(self, windows: list[Window], tokens: bool) -> Iterator[Embedded]:
        names = ["embedding", "last_hidden_state"] if tokens else ["embedding"]
        outputs = self._session.run(names, padded([window.ids for window in windows]))
        none = np.zeros((0, self._model.shape.hidden), np.float32)
        for row, window in enumerate(windows):
            vectors = unit_rows(outputs[1][row, window.first : window.last]) if tokens else none
            yield Embedded(outputs[0][row], vectors)

    def _pooled(self, embedded: list[list[Embedded]]) -> Vectors:
        if not embedded:
            return np.zeros((0, self._model.shape.hidden), np.float32)
        return np.stack([mean_vector([part.vector for part in parts]) for parts in embedded])

    def _tokens(self, windows: list[list[Window]], embedded: list[list[Embedded]]) -> list[TokenVectors]:
        return [
            TokenVectors(
                np.concatenate([part.tokens for part in results]),
                tuple(offset for window in parts for offset in window.offsets),
            )
            for parts, results in zip(windows, embedded, strict=True)
        ]


def jobs(lengths: Sequence[int]) -> list[list[int]]:
    """Group inputs, longest first, into jobs of like length; the numbers are positions in `lengths`."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    return [order[start : start + TEXTS_PER_JOB] for start in range(0, len(order), TEXTS_PER_JOB)]


def padded(rows: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int64]]:
    """Return the inputs of a BERT graph, padded on the right to the longest row."""
    shape = (len(rows), max(len(row) for row in rows))
    ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}


def open_session(graph: Path) -> onnxruntime.InferenceSession:
    """Open a graph to be run by one thread at a time per run."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no public class
        raise ModelError(
            f"The model graph {str(graph)!r} cannot be opened: {error}.",
            remedy=f"If {str(graph.parent)!r} is in the cache, remove it: it is made again from the weights."
            " A graph of your own has to be exported again.",
        ) from error
