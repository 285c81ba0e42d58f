"""What the labels of a classifier mean: which one says that evidence holds a statement, which denies it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from refdesk.errors import InputError, ModelError

Floats = NDArray[np.float64]

HOLDS = frozenset(
    {
        "entailment",
        "entail",
        "entails",
        "entailed",
        "supports",
        "support",
        "supported",
        "consistent",
        "factuallyconsistent",
        "faithful",
        "grounded",
        "attributable",
    }
)
DENIES = frozenset(
    {
        "contradiction",
        "contradict",
        "contradicts",
        "contradicted",
        "contradictory",
        "refutes",
        "refute",
        "refuted",
    }
)
NEITHER = frozenset(
    {
        "neutral",
        "notentailment",
        "nonentailment",
        "notentailed",
        "noentailment",
        "notenoughinfo",
        "nei",
        "unsupported",
        "notsupported",
        "hallucinated",
        "hallucination",
        "inconsistent",
        "factuallyinconsistent",
        "unfaithful",
        "ungrounded",
        "notattributable",
    }
)
"""Spellings of labels, letters alone."""
CHOOSE = "open it with Options(entailment=NUMBER, contradiction=NUMBER)"
_SILENT = regex.compile(r"label_?\d+|\d+", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Labels:
    """Which of a model's numbers mean what. One number is the logit of support, or of its absence."""

    count: int
    entailment: int | None
    """None for a single number that says how far a statement is not held."""
    contradiction: int | None = None
    """None where the model does not tell a contradiction from a statement that nothing is said about."""

    def entailed(self, logits: NDArray[np.floating]) -> Floats:
        """Return the probability of support, 0 to 1, over the last axis of logits."""
        if self.count > 1:
            return np.asarray(_softmax(logits)[..., self.entailment], np.float64)
        positive = _sigmoid(np.asarray(logits[..., 0], np.float64))
        return positive if self.entailment is not None else 1.0 - positive

    def contradicted(self, logits: NDArray[np.floating]) -> Floats:
        """Return the probability of contradiction, 0 where the model has no label for it."""
        if self.contradiction is None:
            return np.zeros(logits.shape[:-1])
        return np.asarray(_softmax(logits)[..., self.contradiction], np.float64)


def label_names(config: Mapping[str, Any], folder: str) -> tuple[str, ...]:
    """Return the labels that a config.json names, in order; none where it says only LABEL_0 or nothing."""
    named = config.get("id2label")
    if not named:
        named = {number: name for name, number in (config.get("label2id") or {}).items()}
    try:
        by_number = {int(number): str(name) for number, name in dict(named).items()}
        names = [by_number[number] for number in range(len(by_number))]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"The labels in the config.json of {folder!r} cannot be read: {named!r:.80}.",
            remedy='Write them as {"0": "entailment", "1": "neutral", "2": "contradiction"}.',
        ) from error
    return () if all(_SILENT.fullmatch(name) for name in names) else tuple(names)


def read_labels(names: Sequence[str], count: int, folder: str, *, token: bool = False) -> Labels:
    """Tell what `count` labels mean by their names, where they have some. Errors: `ModelError`.

    Without names a single label is the logit of support, and of two labels of tokens the first means held.
    """
    if names and len(names) != count:
        raise ModelError(
            f"The graph in {folder!r} gives {count} numbers, and its config.json names {len(names)} labels:"
            f" {', '.join(names)}.",
            remedy="Export the graph with its classification head, or name as many labels as it has.",
        )
    if not names and (count == 1 or (token and count == 2)):
        return Labels(count, 0)
    if not names:
        raise ModelError(
            f"The config.json of {folder!r} does not say what its {count} labels mean.",
            remedy=f"Name them in its id2label, or {CHOOSE}.",
        )
    return _by_names(names, folder)


def chosen_labels(count: int, entailment: int, contradiction: int | None) -> Labels:
    """Return labels that were given by number. Errors: `InputError` for a number that the model lacks."""
    for name, number in (("entailment", entailment), ("contradiction", contradiction)):
        if number is not None and not 0 <= number < count:
            raise InputError(f"There is no label {number} for {name!r}; the model has 0 to {count - 1}.")
    if entailment == contradiction:
        raise InputError(f"Label {entailment} cannot mean both 'entailment' and 'contradiction'.")
    return Labels(count, entailment, contradiction)


def _by_names(names: Sequence[str], folder: str) -> Labels:
    plain = [regex.sub(r"[^\p{L}]", "", name).casefold() for name in names]
    holds = [number for number, name in enumerate(plain) if name in HOLDS]
    denies = [number for number, name in enumerate(plain) if name in DENIES]
    if len(names) == 1 and plain[0] in NEITHER | DENIES:
        return Labels(1, None)
    if len(holds) != 1 or len(denies) > 1:
        raise ModelError(
            f"The labels of {folder!r} are {', '.join(names)}: which one means that a statement is held?",
            remedy=f"Call them entailment, neutral and contradiction in its config.json, or {CHOOSE}.",
        )
    return Labels(len(names), holds[0], denies[0] if denies and len(names) > 2 else None)


def _softmax(logits: NDArray[np.floating]) -> Floats:
    shifted = np.asarray(logits, np.float64)
    powers = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float64)


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -500.0, 500.0))), np.float64)
