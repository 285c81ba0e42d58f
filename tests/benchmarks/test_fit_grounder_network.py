"""The network that is fitted is the one that ships, where torch is installed."""

import numpy as np
import pytest

from refdesk.grounding.alignment import Head
from refdesk.plugins import load_late

torch = pytest.importorskip("torch", reason="the package torch is not installed")
network = load_late("benchmarks.fit_grounder.network")


@pytest.mark.parametrize("seed", range(3))
def test_both_implementations_agree(seed: int) -> None:
    weights = network.fresh(24, seed, inner=8)
    weights["relb"].data = torch.linspace(-2.0, 2.0, 7)
    assert network.disagreement(network.arrays_of(weights), seed) < 1e-4


def test_a_difference_is_found() -> None:
    arrays = network.arrays_of(network.fresh(24, 0, inner=8))
    pairing = network.random_pairing(np.random.default_rng(0), 24)
    other = Head(arrays | {"o.bias": arrays["o.bias"] + np.float16(0.01)}).judge(pairing)
    assert np.abs(Head(arrays).judge(pairing) - other).max() > 1e-4
