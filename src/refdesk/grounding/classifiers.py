"""Classifiers from a local folder: models that tell whether evidence holds a statement.

Two kinds: `sequence` judges a statement as a whole, `token` each of its tokens. Weights are an ONNX graph, or
safetensors: of BERT and RoBERTa classifiers these become a graph, others run on the package transformers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np

from refdesk.embedding.parallel import in_order
from refdesk.errors import ModelError
from refdesk.grounding.labels import Floats, Labels
from refdesk.grounding.pairs import Pair, PairTokenizer
from refdesk.grounding.running import Logits, Runner

Kind = Literal["sequence", "token"]

ROWS, TOKENS = 16, 4096
"""Inputs of one batch at most, and their tokens, padding included."""
SAME = 4e-5
"""Difference of two logits up to which they are taken for equal; their probabilities differ by 1e-5 then."""
SHORT = ("A short one.", "It is short, and so is this.")
LONG = ("The second text takes many more tokens: 1, 2, 3, and (4) lots of other words. " * 3, "It is long.")


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities for one input: of each of its statement's tokens, or one for all of them."""

    entailment: Floats
    contradiction: Floats


class Classifier:
    """A model that reads evidence and a statement; the same input always gives the same result."""

    def __init__(
        self, name: str, kind: Kind, tokenizer: PairTokenizer, runner: Runner, labels: Labels, batched: bool
    ) -> None:
        self.name, self.kind, self.labels = name, kind, labels
        self.tokenizer = tokenizer
        self._runner = runner
        self._rows = ROWS if batched else 1
        self._limiter = anyio.lowlevel.RunVar[anyio.CapacityLimiter](f"classifier {id(self)}")

    async def judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        """Judge inputs, equal ones once, those of like length together. Errors: `ModelError`."""
        once = list({pair.ids: pair for pair in pairs}.values())
        groups = batches([len(pair.ids) for pair in once], self._rows)

        async def one(group: Sequence[int]) -> list[Judged]:
            return await anyio.to_thread.run_sync(self._judge, [once[number] for number in group])

        found: dict[tuple[int, ...], Judged] = {}
        for group, judged in zip(groups, await in_order(one, groups, self._workers()), strict=True):
            found.update((once[number].ids, done) for number, done in zip(group, judged, strict=True))
        return [found[pair.ids] for pair in pairs]

    def _workers(self) -> anyio.CapacityLimiter:
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = anyio.CapacityLimiter(self._runner.workers)
            self._limiter.set(limiter)
        return limiter

    def _judge(self, pairs: Sequence[Pair]) -> list[Judged]:
        given = self._runner.run(pairs)
        if not np.isfinite(given).all():
            raise ModelError(
                f"The classifier {self.name!r} gave a number that is none.", remedy="Check its weights."
            )
        return [self._read(row, pair) for row, pair in zip(given, pairs, strict=True)]

    def _read(self, row: Logits, pair: Pair) -> Judged:
        if self.kind == "token":
            row = row[[number for number, _, _ in pair.places]]
        elif row.ndim == 2:
            row = row[0]  # a sequence classifier made of a token classifier tells at its first token
        return Judged(self.labels.entailed(row), self.labels.contradicted(row))


def batches(lengths: Sequence[int], rows: int) -> list[list[int]]:
    """Group inputs of like length, longest first; the numbers are positions in `lengths`."""
    groups: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        last = groups[-1] if groups else []
        if last and len(last) < rows and (len(last) + 1) * lengths[last[0]] <= TOKENS:
            last.append(number)
        else:
            groups.append([number])
    return groups


def independent(tokenizer: PairTokenizer, runner: Runner) -> bool:
    """Tell whether an input gives the same alone and beside a longer one: in int8 graphs it does not."""
    short, long = (next(tokenizer.fitted(*texts)) for texts in (SHORT, LONG))
    try:
        beside = runner.run([long, short, short])
    except ModelError:
        return False  # the graph takes one input at a time
    alone = {1: runner.run([short])[0], 0: runner.run([long])[0]}
    return all(_same(beside[number], one) for number, one in alone.items())


def _same(one: Logits, other: Logits) -> bool:
    shared = min(len(one), len(other)) if one.ndim > 1 else len(one)
    return bool(np.abs(one[:shared] - other[:shared]).max() <= SAME)
