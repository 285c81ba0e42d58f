"""The network, held against a slow and literal way to compute it, with tiny random weights."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from refdesk.grounding.alignment import FAR, ROWS, Floats, Head, Pairing, head, verdict
from refdesk.grounding.relations import RELATIONS
from refdesk.grounding.wording import DENIAL, FACTS

DIMENSION, INNER, WIDTH = 6, 4, 5
Vector = Floats | list[float]
SCALARS = 4 + RELATIONS + 3 + FACTS


def weights(seed: int) -> dict[str, Floats]:
    """Return random weights, larger than those of a network would be, so that every part counts."""
    chance = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "tau": (),
        "mix": (),
        "relb": (RELATIONS,),
        "bias": (2,),
        "q.weight": (INNER, DIMENSION),
        "k.weight": (INNER, DIMENSION),
        "u.weight": (INNER, DIMENSION),
        "u.bias": (INNER,),
        "f.0.weight": (INNER, 4 * INNER + SCALARS),
        "f.0.bias": (INNER,),
        "g.0.weight": (INNER, INNER, WIDTH),
        "g.0.bias": (INNER,),
        "o.weight": (2, 2 * INNER),
        "o.bias": (2,),
    }
    return {name: np.asarray(chance.normal(size=shape), np.float32) for name, shape in shapes.items()}


def pairing(seed: int, answer: int, evidence: int) -> Pairing:
    chance = np.random.default_rng(seed)
    facts = chance.integers(0, 2, (answer, FACTS)).astype(np.float32)
    facts[:, DENIAL] = chance.random(answer) < 0.2
    return Pairing(
        answer=unit(chance.normal(size=(answer, DIMENSION))),
        evidence=unit(chance.normal(size=(evidence, DIMENSION))),
        equal=chance.random((answer, evidence)) < 0.2,
        relations=chance.integers(0, 1 << RELATIONS, (answer, evidence)).astype(np.uint8),
        facts=facts,
        denying=(chance.random(evidence) < 0.2).astype(np.float32),
    )


def unit(rows: NDArray[np.float64]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def slowly(w: dict[str, Floats], given: Pairing) -> list[list[float]]:
    """Compute the logits token by token and number by number, in double precision."""
    local = [compared(w, given, token) for token in range(len(given.answer))]
    found = []
    for token in range(len(local)):
        around = []
        for out in range(INNER):
            total = float(w["g.0.bias"][out])
            for at in range(WIDTH):
                place = token + at - WIDTH // 2
                if 0 <= place < len(local):
                    total += sum(float(w["g.0.weight"][out, i, at]) * local[place][i] for i in range(INNER))
            around.append(gelu(total))
        row = [*local[token], *around]
        found.append(
            [dot(w["o.weight"][k], row) + float(w["o.bias"][k]) + float(w["bias"][k]) for k in range(2)]
        )
    return found


def compared(w: dict[str, Floats], given: Pairing, token: int) -> list[float]:
    answer, places = given.answer[token], range(len(given.evidence))
    cosines = [dot(answer, given.evidence[e]) for e in places]
    query = [dot(row, answer) for row in w["q.weight"]]
    logits = []
    for e in places:
        key = [dot(row, given.evidence[e]) for row in w["k.weight"]]
        related = sum(float(w["relb"][b]) for b in range(RELATIONS) if given.relations[token, e] >> b & 1)
        logits.append(float(w["tau"]) * cosines[e] + float(w["mix"]) * dot(query, key) + related)
    powers = [math.exp(logit - max(logits)) for logit in logits]
    weight = [power / sum(powers) for power in powers]
    met_at = [sum(weight[e] * float(given.evidence[e][d]) for e in places) for d in range(DIMENSION)]
    own, met = projected(w, answer), projected(w, met_at)
    denial = sum(weight[e] * marked_near(given.denying, e) for e in places)
    own_denial = marked_near(given.facts[:, DENIAL], token)
    scalars = [
        max(cosines),
        sum(weight[e] * cosines[e] for e in places),
        float(any(given.equal[token])),
        max(max(cosines[e], 0.0) if given.equal[token, e] else 0.0 for e in places),
        *(
            max(max(cosines[e], 0.0) if given.relations[token, e] >> b & 1 else 0.0 for e in places)
            for b in range(RELATIONS)
        ),
        denial,
        own_denial,
        abs(denial - own_denial),
        *map(float, given.facts[token]),
    ]
    products = [a * b for a, b in zip(own, met, strict=True)]
    apart = [abs(a - b) for a, b in zip(own, met, strict=True)]
    row = [*own, *met, *products, *apart, *scalars]
    return [gelu(dot(w["f.0.weight"][i], row) + float(w["f.0.bias"][i])) for i in range(INNER)]


def dot(one: Vector, other: Vector) -> float:
    return sum((float(a) * float(b) for a, b in zip(one, other, strict=True)), 0.0)


def projected(w: dict[str, Floats], vector: Vector) -> list[float]:
    return [dot(row, vector) + float(bias) for row, bias in zip(w["u.weight"], w["u.bias"], strict=True)]


def marked_near(marks: Floats, place: int) -> float:
    return float(max(marks[max(0, place - FAR // 2) : place + FAR // 2 + 1]))


def gelu(value: float) -> float:
    return 0.5 * value * (1 + math.tanh(math.sqrt(2 / math.pi) * (value + 0.044715 * value**3)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("answer", "evidence"), [(1, 1), (2, 7), (13, 3), (9, 12)])
def test_the_network_computes_what_it_says(seed: int, answer: int, evidence: int) -> None:
    w, given = weights(seed), pairing(seed + 10, answer, evidence)
    np.testing.assert_allclose(Head(w).judge(given), slowly(w, given), rtol=1e-3, atol=1e-3)


@given(st.integers(0, 10_000), st.integers(1, 12), st.lists(st.integers(1, 8), min_size=1, max_size=4))
def test_a_part_is_judged_as_if_it_were_alone(seed: int, answer: int, sizes: list[int]) -> None:
    network, given = Head(weights(seed)), pairing(seed, answer, sum(sizes))
    ends = np.cumsum(sizes).tolist()
    places = list(zip([0, *ends[:-1]], ends, strict=True))
    whole, *parts = network.judge_each(given, places)
    np.testing.assert_allclose(whole, network.judge(given), rtol=1e-4, atol=1e-4)
    for found, (start, end) in zip(parts, places, strict=True):
        np.testing.assert_allclose(found, network.judge(given.part(start, end)), rtol=1e-4, atol=1e-4)


def test_a_long_answer_is_judged_as_one() -> None:
    """It is held against the evidence in pieces; where they meet, neighbours and denials are still seen."""
    w, given = weights(3), pairing(3, ROWS + 7, 3)
    found, expected = Head(w).judge(given), slowly(w, given)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_an_answer_without_tokens_has_no_logits() -> None:
    assert Head(weights(0)).judge(pairing(0, 0, 3)).shape == (0, 2)


def test_the_order_of_the_evidence_is_of_no_account_where_nothing_denies() -> None:
    given = replace(pairing(5, 6, 9), denying=np.zeros(9, np.float32))
    order = np.random.default_rng(0).permutation(9)
    turned = replace(
        given,
        evidence=given.evidence[order],
        equal=given.equal[:, order],
        relations=given.relations[:, order],
    )
    network = Head(weights(5))
    np.testing.assert_allclose(network.judge(given), network.judge(turned), rtol=1e-4, atol=1e-4)


LOGITS = st.lists(st.tuples(*[st.floats(-40, 40)] * 2), min_size=1, max_size=8)


def logits(rows: list[tuple[float, ...]]) -> Floats:
    return np.array(rows, np.float32).reshape(-1, 2)


@given(LOGITS)
def test_a_verdict_is_three_probabilities(rows: list[tuple[float, ...]]) -> None:
    found = verdict(logits(rows))
    assert sum(found) == pytest.approx(1.0)
    assert all(0.0 <= one <= 1.0 for one in found)


@given(LOGITS, st.integers(0, 7), st.sampled_from([0, 1]), st.floats(0, 20))
def test_more_against_a_statement_never_makes_it_hold(
    rows: list[tuple[float, ...]], place: int, kind: int, more: float
) -> None:
    before = logits(rows)
    after = before.copy()
    after[place % len(rows), kind] += np.float32(more)
    assert verdict(after)[0] <= verdict(before)[0] + 1e-12
    assert verdict(after)[1 + kind] >= verdict(before)[1 + kind] - 1e-12


@given(LOGITS, LOGITS)
def test_a_longer_statement_holds_no_better_than_its_parts(
    one: list[tuple[float, ...]], other: list[tuple[float, ...]]
) -> None:
    whole = verdict(logits([*one, *other]))[0]
    assert whole <= min(verdict(logits(one))[0], verdict(logits(other))[0]) + 1e-12


def test_what_comes_with_refdesk_is_for_minilm() -> None:
    chance = np.random.default_rng(0)
    small = pairing(0, 5, 4)
    given = replace(
        small, answer=unit(chance.normal(size=(5, 384))), evidence=unit(chance.normal(size=(4, 384)))
    )
    found = head().judge(given)
    assert found.shape == (5, 2)
    assert np.isfinite(found).all()
    assert head() is head()
