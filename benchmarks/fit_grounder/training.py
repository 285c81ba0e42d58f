"""Fit the network, and ask it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

import torch
from benchmarks.fit_grounder.examples import Label
from benchmarks.fit_grounder.items import Item
from benchmarks.fit_grounder.network import Weights, batch_of, logits
from torch import Tensor
from torch.nn import functional

from refdesk.grounding.alignment import Floats

EVIDENCE_TOKENS = 12_000
"""Evidence tokens of a batch, padding with them, so that memory stays bounded."""
BLOCK = 40
"""Batches that are filled with items of like length."""
DECAY, GRADIENT, LAST_RATE = 0.02, 1.0, 0.1
TOKENS_COUNT, WRONG_COUNTS = 2.0, 3.0
"""Weight of the loss of tokens beside that of statements, and of a wrong token beside one that is right."""
CERTAIN = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Stage:
    """How long and how fast to fit. The rate falls in a line to a tenth."""

    epochs: int
    rate: float
    size: int
    """Items of a batch."""
    again: int = 0
    """Items of other data that each epoch draws to them, lest they are forgotten."""


def fit(
    weights: Weights,
    items: Sequence[Item],
    stage: Stage,
    chance: random.Random,
    tell: Callable[[str], None],
    others: Sequence[Item] = (),
) -> None:
    """Fit weights in place."""
    optimizer = torch.optim.AdamW(weights.values(), lr=stage.rate, weight_decay=DECAY)
    for epoch in range(stage.epochs):
        started, total = monotonic(), 0.0
        drawn = [*items, *chance.sample(others, min(stage.again, len(others)))]
        groups = batches(drawn, stage.size, chance)
        for number, group in enumerate(groups):
            done = (epoch + number / len(groups)) / stage.epochs
            for settings in optimizer.param_groups:
                settings["lr"] = stage.rate * (1 - (1 - LAST_RATE) * done)
            optimizer.zero_grad()
            loss = loss_of(logits(weights, batch_of(group), fitting=True), group)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights.values(), GRADIENT)
            optimizer.step()
            total += float(loss.detach()) * len(group)
        mean, seconds = total / max(1, len(drawn)), monotonic() - started
        tell(f"  epoch {epoch + 1} of {stage.epochs}: {len(drawn)} items, loss {mean:.4f}, {seconds:.0f} s")


def judged(weights: Weights, items: Sequence[Item]) -> list[Floats]:
    """Return the logits of each item's tokens."""
    found: dict[int, Floats] = {}
    for group in batches(items, 32):
        with torch.no_grad():
            tokens = logits(weights, batch_of(group)).numpy()
        found |= {id(item): own[: item.tokens] for item, own in zip(group, tokens, strict=True)}
    return [found[id(item)] for item in items]


def batches(items: Sequence[Item], size: int, chance: random.Random | None = None) -> list[list[Item]]:
    """Group items of like length; in an order by chance, or as they come."""
    mixed = list(items)
    if chance:
        chance.shuffle(mixed)
    groups: list[list[Item]] = []
    for at in range(0, len(mixed), size * BLOCK):
        alike = sorted(
            mixed[at : at + size * BLOCK], key=lambda item: item.evidence_tokens * max(20, item.tokens)
        )
        group: list[Item] = []
        for item in alike:
            if group and (len(group) >= size or (len(group) + 1) * item.evidence_tokens > EVIDENCE_TOKENS):
                groups.append(group)
                group = []
            group.append(item)
        groups.append(group)
    if chance:
        chance.shuffle(groups)
    return groups


def log_shares(found: Tensor) -> Tensor:
    """Return the logarithms of the three probabilities of each statement, from its tokens' logits."""
    sums = torch.logsumexp(found, 1)
    return torch.cat([torch.zeros(len(found), 1), sums], -1).log_softmax(-1)


def loss_of(found: Tensor, items: Sequence[Item]) -> Tensor:
    """Return the mean loss of statements, and of the tokens where it is known which are wrong."""
    shares = log_shares(found)
    labels = torch.tensor([item.label for item in items])
    open_label = labels == Label.NOT_ENTAILED
    known = functional.nll_loss(shares[~open_label], labels[~open_label], reduction="sum")
    entailed = shares[open_label, 0].exp().clamp(max=CERTAIN)
    return (known - torch.log1p(-entailed).sum() + TOKENS_COUNT * _of_tokens(found, items)) / len(items)


def _of_tokens(found: Tensor, items: Sequence[Item]) -> Tensor:
    losses = torch.zeros(())
    for item, tokens in zip(items, found, strict=True):
        if item.wrong is not None and (item.wrong.any() or item.label is Label.ENTAILED):
            wrong = torch.from_numpy(item.wrong)
            either = torch.logsumexp(tokens[: len(wrong)], -1)
            loss = functional.binary_cross_entropy_with_logits(either, wrong.float(), reduction="none")
            losses = losses + (loss * torch.where(wrong, WRONG_COUNTS, 1.0)).mean()
    return losses
