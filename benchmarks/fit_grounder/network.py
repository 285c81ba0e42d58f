"""The network of `refdesk.grounding.alignment` in torch, so that it can be fitted.

Weights have the names that `Head` reads. `disagreement` holds the two implementations against each other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from benchmarks.fit_grounder.items import Item
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from refdesk.grounding.alignment import FAR, Head, Pairing
from refdesk.grounding.relations import RELATIONS
from refdesk.grounding.wording import DENIAL, FACTS

WIDTH, SCALARS = 5, 4 + RELATIONS + 3 + FACTS
DROPPED = 0.2
NOWHERE = -30.0
"""Logit of padding: it counts for nothing in the sum over tokens."""
Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded items."""

    answer: Tensor
    """Shape (items, tokens, dimension)."""
    said: Tensor
    """Shape (items, tokens): whether a token is no padding."""
    evidence: Tensor
    given: Tensor
    equal: Tensor
    """Shape (items, tokens, evidence tokens)."""
    relations: Tensor
    facts: Tensor
    denying: Tensor


def fresh(dimension: int, seed: int, inner: int = 96) -> Weights:
    """Return weights to start from: uniform within one over the root of what goes in."""
    chance = torch.Generator().manual_seed(seed)

    def spread(inputs: int, *shape: int) -> Tensor:
        return (torch.rand(shape, generator=chance) * 2 - 1) / math.sqrt(inputs)

    compared = 4 * inner + SCALARS
    weights = {
        "q.weight": spread(dimension, inner, dimension),
        "k.weight": spread(dimension, inner, dimension),
        "tau": torch.tensor(12.0),
        "mix": torch.tensor(0.1),
        "relb": torch.zeros(RELATIONS),
        "u.weight": spread(dimension, inner, dimension),
        "u.bias": spread(dimension, inner),
        "f.0.weight": spread(compared, inner, compared),
        "f.0.bias": spread(compared, inner),
        "g.0.weight": spread(inner * WIDTH, inner, inner, WIDTH),
        "g.0.bias": spread(inner * WIDTH, inner),
        "o.weight": spread(2 * inner, 2, 2 * inner),
        "o.bias": spread(2 * inner, 2),
        "bias": torch.tensor([-3.0, -3.0]),
    }
    return {name: weight.requires_grad_() for name, weight in weights.items()}


def copied(weights: Weights) -> Weights:
    """Return the same weights, to be fitted on their own."""
    return {name: weight.detach().clone().requires_grad_() for name, weight in weights.items()}


def logits(w: Weights, batch: Batch, *, fitting: bool = False) -> Tensor:
    """Return the two logits of each token, as `Head.judge` does, and `NOWHERE` at padding."""
    cosines = batch.answer @ batch.evidence.transpose(1, 2)
    related = torch.stack([((batch.relations >> bit) & 1).to(cosines.dtype) for bit in range(RELATIONS)])
    learned = (batch.answer @ w["q.weight"].T) @ (batch.evidence @ w["k.weight"].T).transpose(1, 2)
    padding = (~batch.given)[:, None, :] * -1e4
    aligned = w["tau"] * cosines + w["mix"] * learned + torch.tensordot(w["relb"], related, 1)
    weight = (aligned + padding).softmax(-1)
    scalars = torch.cat([_scalars(batch, cosines, related, weight, padding), batch.facts], -1)
    own = functional.linear(_dropped(batch.answer, fitting), w["u.weight"], w["u.bias"])
    met = functional.linear(_dropped(weight @ batch.evidence, fitting), w["u.weight"], w["u.bias"])
    compared = torch.cat([own, met, own * met, (own - met).abs(), scalars], -1)
    local = _gelu(functional.linear(compared, w["f.0.weight"], w["f.0.bias"])) * batch.said[..., None]
    around = functional.conv1d(local.transpose(1, 2), w["g.0.weight"], w["g.0.bias"], padding=WIDTH // 2)
    both = _dropped(torch.cat([local, _gelu(around.transpose(1, 2))], -1), fitting)
    out = functional.linear(both, w["o.weight"], w["o.bias"]) + w["bias"]
    return out.masked_fill(~batch.said[..., None], NOWHERE)


def _scalars(batch: Batch, cosines: Tensor, related: Tensor, weight: Tensor, padding: Tensor) -> Tensor:
    positive = cosines.clamp(min=0)
    given = (weight * _around(batch.denying)[:, None, :]).sum(-1)
    own = _around(batch.facts[:, :, DENIAL] * batch.said)
    return torch.stack(
        [
            (cosines + padding).amax(-1),
            (weight * cosines).sum(-1),
            batch.equal.any(-1).to(cosines.dtype),
            (batch.equal * positive).amax(-1),
            *((bit * positive).amax(-1) for bit in related),
            given,
            own,
            (given - own).abs(),
        ],
        -1,
    )


def _around(marks: Tensor) -> Tensor:
    return functional.max_pool1d(marks[:, None, :], FAR, 1, FAR // 2)[:, 0]


def _gelu(values: Tensor) -> Tensor:
    return functional.gelu(values, approximate="tanh")


def _dropped(values: Tensor, fitting: bool) -> Tensor:
    return functional.dropout(values, DROPPED, training=fitting)


def batch_of(items: Sequence[Item]) -> Batch:
    """Pad items to the longest of them."""
    pieces = [np.concatenate([one.pieces for one in item.evidence]) for item in items]
    return batched(
        [
            Pairing(
                answer=item.answer.vectors.astype(np.float32),
                evidence=np.concatenate([one.vectors for one in item.evidence]).astype(np.float32),
                equal=item.answer.pieces[:, None] == given[None, :],
                relations=item.relations,
                facts=item.facts.astype(np.float32),
                denying=item.denying.astype(np.float32),
            )
            for item, given in zip(items, pieces, strict=True)
        ]
    )


def batched(pairings: Sequence[Pairing]) -> Batch:
    """Pad pairings to the longest of them."""
    tokens = max(len(one.answer) for one in pairings)
    others = max(len(one.evidence) for one in pairings)
    return Batch(
        answer=_padded([one.answer for one in pairings], tokens),
        said=_padded([np.ones(len(one.answer), np.bool_) for one in pairings], tokens),
        evidence=_padded([one.evidence for one in pairings], others),
        given=_padded([np.ones(len(one.evidence), np.bool_) for one in pairings], others),
        equal=_padded([one.equal for one in pairings], tokens, others),
        relations=_padded([one.relations for one in pairings], tokens, others),
        facts=_padded([one.facts for one in pairings], tokens),
        denying=_padded([one.denying for one in pairings], others),
    )


def _padded(arrays: Sequence[NDArray[np.generic]], *sizes: int) -> Tensor:
    shape = (len(arrays), *sizes, *arrays[0].shape[len(sizes) :])
    out = np.zeros(shape, arrays[0].dtype)
    for number, array in enumerate(arrays):
        out[number][tuple(slice(size) for size in array.shape)] = array
    return torch.from_numpy(out)


def arrays_of(weights: Weights) -> dict[str, NDArray[np.float16]]:
    """Return weights in half precision, as they are written."""
    return {name: weight.detach().numpy().astype(np.float16) for name, weight in weights.items()}


def disagreement(arrays: Mapping[str, NDArray[np.floating]], seed: int, rounds: int = 20) -> float:
    """Return how far `Head` and `logits` are apart at most, on random pairings of differing lengths."""
    chance = np.random.default_rng(seed)
    weights = {name: torch.from_numpy(np.asarray(array, np.float32)) for name, array in arrays.items()}
    head, dimension, worst = Head(arrays), arrays["u.weight"].shape[1], 0.0
    for _ in range(rounds):
        pairings = [random_pairing(chance, dimension) for _ in range(3)]
        with torch.no_grad():
            found = logits(weights, batched(pairings)).numpy()
        for pairing, own in zip(pairings, found, strict=True):
            worst = max(worst, float(np.abs(head.judge(pairing) - own[: len(pairing.answer)]).max()))
    return worst


def random_pairing(chance: np.random.Generator, dimension: int) -> Pairing:
    """Return a pairing of 1 to 30 tokens with 1 to 80 others."""
    tokens, others = int(chance.integers(1, 31)), int(chance.integers(1, 81))
    facts = chance.integers(0, 2, (tokens, FACTS)).astype(np.float32)
    return Pairing(
        answer=_units(chance, tokens, dimension),
        evidence=_units(chance, others, dimension),
        equal=chance.random((tokens, others)) < 0.05,
        relations=chance.integers(0, 2**RELATIONS, (tokens, others), np.uint8),
        facts=facts,
        denying=(chance.random(others) < 0.1).astype(np.float32),
    )


def _units(chance: np.random.Generator, rows: int, dimension: int) -> NDArray[np.float32]:
    vectors = chance.normal(size=(rows, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
