"""Judge tokens of an answer by what they align with in the evidence.

A small network over the token vectors of the embedder, which stays as it is. Each token of the answer attends
to the tokens of the evidence, by cosine and by how their words are related (decomposable attention, Parikh et
al. 2016); its vector is compared with what it attends to; a convolution looks at its neighbours. Two numbers
come out per token: evidence that the answer says something else there, and that it says something more. The
most telling tokens of a statement decide (multiple instance learning), so that one changed word counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from refdesk.grounding.relations import RELATIONS
from refdesk.grounding.wording import DENIAL, bits

Floats = NDArray[np.float32]
ROWS = 256
"""Tokens of an answer that are held against all evidence at a time."""
FAR = 9
"""Tokens around a denial that it is taken to speak of."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Answer tokens and evidence tokens."""

    answer: Floats
    """Shape (tokens, dimension), rows of unit length."""
    evidence: Floats
    """Shape (evidence tokens, dimension), rows of unit length."""
    equal: NDArray[np.bool_]
    """Shape (tokens, evidence tokens): written alike."""
    relations: NDArray[np.uint8]
    """The same shape, see `refdesk.grounding.relations`."""
    facts: Floats
    """Shape (tokens, facts), see `refdesk.grounding.wording`."""
    denying: Floats
    """Shape (evidence tokens,): 1 at words that deny."""

    def rows(self, start: int, end: int) -> "Pairing":
        """Return the pairing of answer tokens `start` to `end` alone."""
        return Pairing(
            self.answer[start:end],
            self.evidence,
            self.equal[start:end],
            self.relations[start:end],
            self.facts[start:end],
            self.denying,
        )

    def part(self, start: int, end: int) -> "Pairing":
        """Return the pairing with evidence tokens `start` to `end` alone."""
        return Pairing(
            self.answer,
            self.evidence[start:end],
            self.equal[:, start:end],
            self.relations[:, start:end],
            self.facts,
            self.denying[start:end],
        )


@dataclass(frozen=True, slots=True)
class _Attending:
    """Tokens of an answer that attend to evidence; cut into parts, it is computed once for all of them."""

    pairing: Pairing
    cosines: Floats
    """Shape (tokens, evidence tokens)."""
    logits: Floats
    """The same shape."""
    own: Floats
    """Shape (tokens, width)."""
    values: Floats
    """Shape (evidence tokens, width)."""
    denying: Floats
    """Shape (tokens,): 1 near a denial."""

    def part(self, start: int, end: int) -> "_Attending":
        return _Attending(
            self.pairing.part(start, end),
            self.cosines[:, start:end],
            self.logits[:, start:end],
            self.own,
            self.values[start:end],
            self.denying,
        )


class Head:
    """The network, from the arrays of its weights."""

    def __init__(self, weights: Mapping[str, NDArray[np.floating]]) -> None:
        self._w = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        every = bits(np.arange(1 << RELATIONS, dtype=np.uint8))
        self._of_relations: Floats = np.asarray(self._w["relb"] @ every, np.float32)
        """What each set of relations adds to the attention."""
        self._kernel = np.ascontiguousarray(self._w["g.0.weight"].transpose(2, 1, 0))

    def judge(self, pairing: Pairing) -> Floats:
        """Return logits per token, shape (tokens, 2): nothing of it in the evidence, contradicted by it."""
        return self.judge_each(pairing, ())[0]

    def judge_each(self, pairing: Pairing, parts: Sequence[tuple[int, int]]) -> list[Floats]:
        """Return logits by all evidence tokens, and then by each part of them alone; no part is empty."""
        places = [(0, len(pairing.evidence)), *parts]
        local: list[list[Floats]] = [[] for _ in places]
        for seen in self._attending(pairing):
            for rows, (start, end) in zip(local, places, strict=True):
                rows.append(self._local(seen.part(start, end)))
        return [self._around(np.concatenate(rows)) for rows in local]

    def _attending(self, pairing: Pairing) -> Iterator[_Attending]:
        """Yield the tokens of an answer by and by, since a long one takes much memory at once."""
        w = self._w
        keys = (pairing.evidence @ w["k.weight"].T).T
        values = pairing.evidence @ w["u.weight"].T + w["u.bias"]
        denying = near(pairing.facts[:, DENIAL])
        for start in range(0, max(1, len(pairing.answer)), ROWS):
            rows = pairing.rows(start, start + ROWS)
            cosines = rows.answer @ pairing.evidence.T
            learned = (rows.answer @ w["q.weight"].T) @ keys
            logits = w["tau"] * cosines + w["mix"] * learned + self._of_relations[rows.relations]
            own = rows.answer @ w["u.weight"].T + w["u.bias"]
            yield _Attending(rows, cosines, logits, own, values, denying[start : start + ROWS])

    def _local(self, seen: _Attending) -> Floats:
        """Compare each token with what it attends to, shape (tokens, width)."""
        weight = _softmax(seen.logits)
        met = weight @ seen.values
        scalars = np.concatenate([_scalars(seen, weight), seen.pairing.facts], axis=1, dtype=np.float32)
        compared = np.concatenate([seen.own, met, seen.own * met, np.abs(seen.own - met), scalars], axis=1)
        return _gelu(compared @ self._w["f.0.weight"].T + self._w["f.0.bias"])

    def _around(self, local: Floats) -> Floats:
        w = self._w
        around = _gelu(_convolved(local, self._kernel) + w["g.0.bias"])
        logits: Floats = np.concatenate([local, around], axis=1) @ w["o.weight"].T + w["o.bias"] + w["bias"]
        return logits


@cache
def head() -> Head:
    """Return the network that comes with refdesk, for MiniLM's token vectors."""
    with (files("refdesk.grounding") / "data" / "minilm-head.npz").open("rb") as file:
        return Head(dict(np.load(file).items()))


def verdict(logits: Floats) -> tuple[float, float, float]:
    """Return the probabilities that a statement is entailed, neither, or contradicted, from its tokens."""
    sums = np.logaddexp.reduce(logits.astype(np.float64), axis=0)
    scores = np.exp(np.array([0.0, *sums]) - max(0.0, *sums))
    held, neither, denied = (float(score) for score in scores / scores.sum())
    return held, neither, denied


def _scalars(seen: _Attending, weight: Floats) -> Floats:
    pairing, cosines = seen.pairing, seen.cosines
    positive = np.maximum(cosines, 0.0)
    given = weight @ near(pairing.denying)
    return np.stack(
        [
            cosines.max(axis=1),
            np.einsum("te,te->t", weight, cosines),
            pairing.equal.any(axis=1),
            np.where(pairing.equal, positive, 0.0).max(axis=1),
            *(
                np.where(pairing.relations & (1 << bit), positive, 0.0).max(axis=1)
                for bit in range(RELATIONS)
            ),
            given,
            seen.denying,
            np.abs(given - seen.denying),
        ],
        axis=1,
    )


def near(marks: Floats) -> Floats:
    """Spread marks to the tokens around them."""
    if not len(marks):
        return marks
    wide = np.pad(marks, FAR // 2)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(wide, FAR).max(axis=1), np.float32)


def _convolved(rows: Floats, kernel: Floats) -> Floats:
    """Convolve over tokens; the kernel has the shape (width, inputs, outputs)."""
    width = len(kernel)
    wide = np.pad(rows, ((width // 2, width // 2), (0, 0)))
    parts = [wide[at : at + len(rows)] @ kernel[at] for at in range(width)]
    return np.asarray(np.sum(parts, axis=0), np.float32)


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)


def _gelu(values: Floats) -> Floats:
    """Return the Gaussian error linear unit, by its usual approximation (Hendrycks and Gimpel 2016)."""
    inner = np.float32(np.sqrt(2 / np.pi)) * values * (1 + np.float32(0.044715) * values * values)
    return np.asarray(np.float32(0.5) * values * (1 + np.tanh(inner)), np.float32)
