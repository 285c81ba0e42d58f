"""The steps from data to weights."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from benchmarks.fit_grounder.calibrating import calibrated, calibration, levels, weakest
from benchmarks.fit_grounder.examples import (
    Example,
    Label,
    named,
    read_begin,
    read_nli,
    read_summedits,
)
from benchmarks.fit_grounder.items import Item, Library
from benchmarks.fit_grounder.making import edited, editor_for, lengthened, prose
from benchmarks.fit_grounder.network import Weights, arrays_of, copied, disagreement, fresh
from benchmarks.fit_grounder.training import Stage, fit, judged
from benchmarks.fit_grounder.wordnet import read_wordnet
from numpy.typing import NDArray

from refdesk.errors import ModelError
from refdesk.evaluation.calibrating.faithfulness import area, balanced_accuracy
from refdesk.grounding.local import TokenReader

FOLDS = 4
AGREEMENT = 1e-4
"""How far the logits of the two implementations may be apart."""
SHORT_PAIRS, SHORT_EDITED = 12_000, 10_000
"""Examples of short evidence that are kept beside those of long evidence."""
Tell = Callable[[str], None]
Half = NDArray[np.float16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to fit on and how."""

    nli: Path
    begin: Path
    summedits: Path
    wordnet: Path
    seed: int = 0
    epochs: int = 4
    """Times that the pairs are gone through first; half as often with edits and with long evidence."""
    tuning_epochs: int = 5
    edits: int = 9000
    """Statements to edit, texts to take statements from, and pairs to give long evidence."""
    long_edits: int = 11_000
    limit: int = 0
    """Examples of each source at most, 0 for all."""
    left_out: tuple[str, ...] = ()
    """Sources that are not fitted on, by a part of their name."""
    held_out: tuple[str, ...] = ("cad_test", "begin_test", "bizarro")
    """Sources that are measured on."""
    captions: tuple[str, ...] = ("snli", "cad")
    """Sources whose evidence is captions of pictures: too short to take statements from."""


@dataclass(frozen=True, slots=True)
class Data:
    """Items by what they are for."""

    pairs: list[Item]
    made: list[Item]
    long: list[Item]
    tuned: list[Item]
    measured: dict[str, list[Item]]


async def fit_head(plan: Plan, embedder: TokenReader, tell: Tell) -> dict[str, Half]:
    """Return fitted weights. Errors: `InputError` of the data, `ModelError` if they make no working head."""
    torch.manual_seed(plan.seed)
    chance = random.Random(plan.seed)
    data = await prepare(plan, embedder, chance, tell)
    weights = fresh(data.pairs[0].answer.vectors.shape[1], plan.seed)
    pretrain(weights, data, plan, chance, tell)
    others = [*data.pairs, *data.made, *data.long, *data.long]
    tuning = Stage(plan.tuning_epochs, 7e-4, 32, again=2500)

    def tuned(items: Sequence[Item]) -> Weights:
        own = copied(weights)
        fit(own, items, tuning, chance, tell, others)
        return own

    threshold = calibrate(data.tuned, tuned, plan, tell)
    tell("final")
    final = tuned(data.tuned)
    measure(final, data.measured, threshold, tell)
    arrays = arrays_of(final)
    check(arrays, plan.seed, tell)
    return arrays


async def prepare(plan: Plan, embedder: TokenReader, chance: random.Random, tell: Tell) -> Data:
    """Read, edit and embed."""
    read = [*read_nli(plan.nli), *read_begin(plan.begin)]
    read = [one for one in limited(read, plan.limit) if not named(one.source, plan.left_out)]
    pairs = [one for one in read if not named(one.source, plan.held_out)]
    tuned, measured = (limited(split, plan.limit) for split in read_summedits(plan.summedits))
    tuned = [one for one in tuned if not named(one.source, plan.left_out)]
    texts = prose(pairs, plan.captions)
    made = edited(pairs, texts, editor_for(pairs, read_wordnet(plan.wordnet), chance), chance, plan.edits)
    long = lengthened(pairs, texts, chance, plan.edits) + lengthened(made, texts, chance, plan.long_edits)
    for name, some in {"pairs": pairs, "edited": made, "long": long, "SummEdits": tuned}.items():
        tell(f"{name}: {len(some)} examples from {', '.join(sorted({one.source for one in some}))}")
    library = Library(embedder, tell)
    apart = [*measured, *(one for one in read if named(one.source, plan.held_out))]
    return Data(
        pairs=await library.items(pairs),
        made=await library.items(made),
        long=await library.items(long),
        tuned=await library.items(tuned),
        measured={
            source: await library.items([one for one in apart if one.source == source])
            for source in dict.fromkeys(one.source for one in apart)
        },
    )


def limited(examples: Sequence[Example], limit: int) -> list[Example]:
    """Return the first examples of each source, all for 0."""
    counts: dict[str, int] = {}
    kept = []
    for one in examples:
        counts[one.source] = counts.get(one.source, 0) + 1
        if not limit or counts[one.source] <= limit:
            kept.append(one)
    return kept


def pretrain(weights: Weights, data: Data, plan: Plan, chance: random.Random, tell: Tell) -> None:
    """Fit on pairs, then with edited ones too, then with long evidence too."""
    more = max(1, plan.epochs // 2)
    tell("pairs")
    fit(weights, data.pairs, Stage(plan.epochs, 2e-3, 64), chance, tell)
    tell("pairs and edited ones")
    fit(weights, data.pairs + data.made, Stage(more, 1e-3, 64), chance, tell)
    tell("pairs, edited ones and long evidence")
    pairs = chance.sample(data.pairs, min(SHORT_PAIRS, len(data.pairs)))
    made = chance.sample(data.made, min(SHORT_EDITED, len(data.made)))
    fit(weights, pairs + made + data.long, Stage(more, 8e-4, 64), chance, tell)


def calibrate(
    items: Sequence[Item], tuned: Callable[[Sequence[Item]], Weights], plan: Plan, tell: Tell
) -> float:
    """Print how to read the network, by networks that have not seen the documents in question.

    Returns the share from which on a text counts as held.
    """
    documents = sorted({item.document for item in items})
    random.Random(plan.seed).shuffle(documents)
    shares: dict[int, float] = {}
    for fold in range(min(FOLDS, len(documents))):
        tell(f"fold {fold + 1} of {FOLDS}")
        unseen = set(documents[fold::FOLDS])
        weights = tuned([item for item in items if item.document not in unseen])
        asked = [item for item in items if item.document in unseen]
        shares |= zip(map(id, asked), held(weights, asked), strict=True)
    found, true = [shares[id(item)] for item in items], came_true(items)
    slope, intercept = calibration(found, true)
    supported, partial = levels(calibrated(found, slope, intercept), true)
    threshold, _ = levels(found, true)
    tell(f"across folds: {figures(found, true, threshold)}")
    tell(f"CALIBRATION = ({slope:.3f}, {intercept:.3f})")
    tell(f"LEVELS = Levels(supported_from={supported:.2f}, partial_from={partial:.2f})")
    return threshold


def measure(weights: Weights, sources: dict[str, list[Item]], threshold: float, tell: Tell) -> None:
    """Print how the network does on what it was not fitted on."""
    for source, items in sources.items():
        shares = held(weights, items)
        tell(f"{source}: {len(items)} examples, {figures(shares, came_true(items), threshold)}")


def held(weights: Weights, items: Sequence[Item]) -> list[float]:
    """Return the probability that the least supported sentence of each item is held."""
    return [weakest(item, own) for item, own in zip(items, judged(weights, items), strict=True)]


def came_true(items: Sequence[Item]) -> list[bool]:
    """Tell which items are held."""
    return [item.label is Label.ENTAILED for item in items]


def figures(scores: Sequence[float], true: Sequence[bool], threshold: float) -> str:
    """Write down how well scores part what is held from what is not."""
    pairs = list(zip(scores, true, strict=True))
    return f"AUC {area(pairs):.3f}, balanced accuracy {balanced_accuracy(pairs, threshold):.3f}"


def check(arrays: dict[str, Half], seed: int, tell: Tell) -> None:
    """Hold the product's implementation against the fitted one. Errors: `ModelError` if they differ."""
    apart = disagreement(arrays, seed)
    tell(f"the two implementations differ by {apart:.1e} at most")
    if not apart <= AGREEMENT:
        raise ModelError(
            f"refdesk.grounding.alignment gives other logits than the fitted network: {apart:.1e} apart, "
            f"at most {AGREEMENT:.0e} is rounding.",
            remedy="Make `logits` in network.py and `Head.judge` compute the same.",
        )
