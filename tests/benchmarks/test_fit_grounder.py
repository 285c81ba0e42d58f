"""The parts of `benchmarks/fit_grounder` that need no torch: reading, edits, word relations, calibration."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fit_grounder.calibrating import calibrated, calibration, levels, log_odds
from benchmarks.fit_grounder.edits import KINDS, Editor
from benchmarks.fit_grounder.examples import (
    Example,
    Label,
    differences,
    read_begin,
    read_nli,
    read_summedits,
)
from benchmarks.fit_grounder.making import edited, lengthened
from benchmarks.fit_grounder.wordnet import WordNet, packed, read_wordnet
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.grounding.relations import Lexicon
from refdesk.grounding.wording import words_of

NOUNS = """\
  1 the licence
00000001 05 n 01 animal 0 002 ~ 00000002 n 0000 ~ 00000003 n 0000 | a living thing
00000002 05 n 02 dog 0 domestic_dog 0 001 @ 00000001 n 0000 | it barks
00000003 05 n 02 cat 0 puss 0 001 @ 00000001 n 0000 | it does not
"""
ADJECTIVES = """\
00000001 00 a 02 hot(p) 0 warm 0 002 ! 00000002 a 0101 & 00000003 a 0000 | of heat
00000002 00 a 01 cold 0 001 ! 00000001 a 0101 | of no heat
00000003 00 s 01 burning 0 001 & 00000001 a 0000 | of much heat
"""
INDEX = {
    "noun": [
        "animal n 1 1 ~ 1 5 00000001",
        "cat n 1 1 @ 1 2 00000003",
        "dog n 1 1 @ 1 3 00000002",
        "puss n 1 0 1 0 00000003",
    ],
    "adj": [
        f"{word} a 1 1 ! 1 {word == 'hot':d} {at}" for word, at in (("hot", "00000001"), ("cold", "00000002"))
    ],
    "verb": ["dog v 1 0 1 0 00000009"],
    "adv": [],
}
WORDS = (
    "The the dog cat animal hot cold warm Paris Rome Ada 3 17 2024 is was can not never no Not , . ( ) — "
    "it's been \n puss Dog"
)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    folder = tmp_path_factory.mktemp("dict")
    verbs = "00000009 38 v 01 dog 0 000 00 | follow\n"
    for name, text in {"noun": NOUNS, "adj": ADJECTIVES, "verb": verbs, "adv": ""}.items():
        (folder / f"data.{name}").write_text(text, "latin-1")
        (folder / f"index.{name}").write_text("  1 the licence\n" + "\n".join(INDEX[name]), "latin-1")
    return read_wordnet(folder)


def test_wordnet_is_read(net: WordNet) -> None:
    assert net.synonyms("cat") == ["puss"]
    assert net.sisters("dog") == ["cat", "puss"]  # as a noun, which it mostly is
    assert net.antonyms("hot") == ["cold"]
    assert net.antonyms("cold") == ["hot"]
    assert net.sisters("hot") == net.sisters("unheard") == net.synonyms("unheard") == []


def test_packed_wordnet_is_what_the_grounder_reads(net: WordNet) -> None:
    arrays = packed(net)
    words = arrays.pop("words").tobytes().decode().split("\n")
    tables = {name: array.astype(np.int32) for name, array in arrays.items()}
    lexicon = Lexicon(tables, words)
    assert lexicon.entry("dogs").parents == lexicon.entry("cat").parents != frozenset()
    assert lexicon.entry("burning").opposites == {"cold"}  # by way of the adjective that it is like
    assert not lexicon.knows("domestic_dog")


def test_a_folder_without_wordnet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"data\.noun"):
        read_wordnet(tmp_path)


@given(
    words=st.lists(st.sampled_from(WORDS.split(" ")), max_size=12),
    premise=st.lists(st.sampled_from(WORDS.split(" ")), max_size=12),
    seed=st.integers(0, 999),
)
def test_a_mask_marks_exactly_what_changed(
    net: WordNet, words: list[str], premise: list[str], seed: int
) -> None:
    text = " ".join(words)
    edit = editor(net, seed).wrong(text, " ".join(premise))
    if edit is None:
        return
    ((start, end),) = edit.changed
    old, new = [word.written for word in words_of(text)], words_of(edit.text)
    before = [word.written for word in new if word.end <= start]
    marked = [word for word in new if word.start < end and start < word.end]
    after = [word.written for word in new if word.start >= end]
    assert (marked[0].start, marked[-1].end) == (start, end)
    assert [*before, *old[len(before) : len(old) - len(after)], *after] == old
    assert [word.written for word in marked] != old[len(before) : len(old) - len(after)]
    assert len(marked) == 1 or (edit.kind == "denial" and len(marked) == 2)
    assert edit.kind in KINDS


@pytest.mark.parametrize(
    ("text", "kind", "possible"),
    [
        ("It took 17 days", "number", {"It took 2024 days"}),
        ("We met Ada", "name", {"We met Rome", "We met Paris"}),
        ("Hot", "opposite", {"Cold"}),
        ("a puss", "sister", {"a dog"}),
        ("it was here", "denial", {"it was not here"}),
        ("we do not sing", "denial", {"we do sing"}),
        ("was here", None, set()),
        ("", None, set()),
    ],
)
def test_edits(net: WordNet, text: str, kind: str | None, possible: set[str]) -> None:
    found = [editor(net, seed).wrong(text, "in Paris in 2024") for seed in range(40)]
    assert {edit and edit.kind for edit in found} == {kind}
    assert possible <= {edit.text for edit in found if edit} | ({None} - {kind})


@given(words=st.lists(st.sampled_from(WORDS.split(" ")), max_size=12), seed=st.integers(0, 999))
def test_rewording_exchanges_synonyms_alone(net: WordNet, words: list[str], seed: int) -> None:
    text = " ".join(words)
    said = editor(net, seed).reworded(text)
    assert said is None or said != text
    pairs = zip(words_of(text), words_of(said or text), strict=True)
    changed = [(old.low, new.low) for old, new in pairs if old.written != new.written]
    assert all(new in net.synonyms(old) for old, new in changed)
    assert len(changed) <= 3


@given(st.lists(st.sampled_from(["a", "b", "c", ",", "."]), max_size=5, unique=True), st.data())
def test_differences_cover_what_was_edited(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words)))
    other = " ".join([*words[:at], "new", *words[at:]])
    ((start, end),) = differences(" ".join(words), other)
    assert other[start:end] == "new"
    assert differences(other, other) == ()
    gaps = differences(other, " ".join(words))
    assert len(gaps) == bool(words)


def test_data_are_read(tmp_path: Path) -> None:
    (tmp_path / "snli").mkdir()
    pair = {"premise": "A dog runs. ", "hypothesis": "It runs.", "label": "entailment"}
    rows = [pair, pair | {"label": "-"}, pair | {"premise": ""}]
    (tmp_path / "snli/dev.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "cad.tsv").write_text(
        'sentence1\tsentence2\tgold_label\nOne "dog\tA cat\tcontradiction\n', "utf-8"
    )
    assert read_nli(tmp_path) == [
        Example("cad", ('One "dog',), "A cat", Label.CONTRADICTED),
        Example("snli_dev", ("A dog runs.",), "It runs.", Label.ENTAILED),
    ]
    labels = ["Fully attributable", "Not fully attributable ", "Generic", ""]
    begin = ["knowledge\tresponse\tbegin_label", *(f"It is so.\tYes.\t{label}" for label in labels)]
    (tmp_path / "begin").mkdir()
    (tmp_path / "begin/dev.tsv").write_text("\n".join(begin), "utf-8")
    assert [one.label for one in read_begin(tmp_path / "begin")] == [Label.ENTAILED, Label.NOT_ENTAILED]


def test_summaries_are_read(tmp_path: Path) -> None:
    row = {"doc": "d", "original_summary": "Ada came to Rome.", "summary": "Ada came to Rome.", "label": 1}
    wrong = row | {"summary": "Ada came to Paris.", "label": 0}
    rows = [row | {"split": "evaluation"}, wrong | {"split": "evaluation"}, wrong | {"split": "test"}]
    (tmp_path / "summedits_news.json").write_text(json.dumps(rows), "utf-8")
    (tmp_path / "other.json").write_text('[{"doc": "d"}]', "utf-8")
    tuned, measured = read_summedits(tmp_path)
    assert [(one.label, one.changed) for one in tuned] == [
        (Label.ENTAILED, ()),
        (Label.NOT_ENTAILED, ((12, 17),)),
    ]
    assert len(measured) == 1
    assert measured[0].source == "news"


@pytest.mark.parametrize("text", ["", '{"premise": 1', "[1]"])
def test_data_of_another_form_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        read_nli(tmp_path)
    (tmp_path / "some.jsonl").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"sentence1|no JSON object"):
        read_nli(tmp_path)


def test_examples_are_made_alike_by_one_seed(net: WordNet) -> None:
    premises = [f"The dog number {number} was in Rome, and it is a hot animal." for number in range(9)]
    pairs = [Example("some", (text,), "A dog was in Rome.", Label.ENTAILED) for text in premises]

    def made() -> list[Example]:
        chance = random.Random(7)
        short = edited(pairs, premises, editor(net, 7), chance, 5)
        return short + lengthened(short, premises, chance, 5)

    first = made()
    assert first == made()
    wrong = [one for one in first if one.label is Label.CONTRADICTED]
    assert wrong
    assert all(one.changed for one in wrong)
    assert all(one.changed == () for one in first if one.label is Label.ENTAILED)
    long = [one for one in first if one.source.startswith("long_")]
    assert len(long) == 5
    assert all(len(set(one.premises)) == len(one.premises) > 1 for one in long)


@given(st.floats(0.5, 2.0), st.floats(-1.0, 1.0))
def test_calibration_finds_what_the_odds_are(slope: float, intercept: float) -> None:
    shares = np.linspace(0.02, 0.98, 40)
    chances = 1 / (1 + np.exp(-(slope * log_odds(shares.tolist()) + intercept)))
    drawn = [
        (share, number < round(500 * chance))
        for share, chance in zip(shares, chances, strict=True)
        for number in range(500)
    ]
    found = calibration([share for share, _ in drawn], [true for _, true in drawn])
    share = sum(true for _, true in drawn) / len(drawn)
    assert found == pytest.approx((slope, intercept - np.log(share / (1 - share))), abs=0.02)


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=2, max_size=30),
    st.sampled_from([1.0, 1e-3, 1e-9]),
)
def test_calibration_counts_both_outcomes_alike(cases: list[tuple[float, bool]], width: float) -> None:
    shares, true = [0.4 + width * share / 2 for share, _ in cases], [held for _, held in cases]
    if len(set(true)) < 2:
        return
    scores = calibrated(shares, *calibration(shares, true))
    held, wrong = (
        np.mean([one for one, own in zip(scores, true, strict=True) if own == kind]) for kind in (1, 0)
    )
    wins, losses = sum(true), len(true) - sum(true)
    assert held + wrong == pytest.approx((wins + 1) / (wins + 2) + 1 / (losses + 2), abs=1e-3)
    assert held >= wrong - 1e-3


def test_levels_part_texts() -> None:
    scores = [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]
    supported, partial = levels(scores, [False, False, True, False, True, True])
    assert supported == 0.3
    assert partial == pytest.approx(0.38)  # between the least of the three faithful ones and the next


def editor(net: WordNet, seed: int) -> Editor:
    known = set(WORDS.lower().split(" "))
    return Editor(net, known, ["Paris", "Rome"], random.Random(seed))
