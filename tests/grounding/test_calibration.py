"""Levels of grounders in the calibration file, beside the limits of rerankers."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.errors import SettingsError
from refdesk.grounding.calibration import levelled, levels_of, measured_as, read_levels, write_levels
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.levels import Levels
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.grounding.local import LocalGrounder
from refdesk.reranking.calibration import read_calibration, write_calibration
from refdesk.reranking.thresholds import Thresholds
from refdesk.testing.embedders import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

OWN = Levels(0.9, 0.4, "own answers, 12 faithful")


@settings(deadline=None)
@given(
    name=st.text(min_size=1).filter(lambda text: text.isprintable()),
    limits=st.tuples(*[st.floats(0, 1)] * 2).map(sorted),
    measured_on=st.text(),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, name: str, limits: list[float], measured_on: str
) -> None:
    path = tmp_path_factory.mktemp("written") / "calibration.yaml"
    levels = Levels(limits[1], limits[0], measured_on)
    write_levels(path, name, levels)
    assert read_levels(path) == {name: levels}


def test_rerankers_and_grounders_share_the_file(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    limits = Thresholds(abstain_below=0.1, weak_below=0.2)
    write_levels(path, "lexical", OWN)
    assert read_calibration(path) == {}
    write_calibration(path, "maxsim", limits)
    write_levels(path, "nli:mine", OWN)
    assert read_calibration(path) == {"maxsim": limits}
    assert read_levels(path) == {"lexical": OWN, "nli:mine": OWN}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version: 1\ngrounders: [a]", "has no mapping `grounders`"),
        (
            "version: 1\ngrounders: {a: {supported_from: 0.2, partial_from: 0.4}}",
            "partly from 0.4 on cannot be",
        ),
        ("version: 1\ngrounders: {a: {supported_from: x}}", "- a: supported_from: "),
        ("version: 1\ngrounders: {a: {partially: 1}}", "- a: it has no field 'partially'"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError) as raised:
        read_levels(path)
    assert told in str(raised.value)
    with pytest.raises(SettingsError):
        write_levels(path, "a", OWN)
    assert path.read_text("utf-8") == text


def test_a_grounder_takes_the_levels_of_its_name() -> None:
    shipped = LexicalGrounder()
    assert measured_as(shipped) == "lexical"
    assert levelled(shipped, {"nli:mine": OWN}) is shipped
    assert levelled(shipped, {"lexical": OWN}) == replace(shipped, levels=OWN)


def test_local_is_named_by_its_weights_and_keeps_what_it_read() -> None:
    shipped = LocalGrounder(HashingEmbedder())
    name = f"local({HashingEmbedder().fingerprint})"
    assert measured_as(shipped) == name
    found = levelled(shipped, {name: OWN, "lexical": OWN})
    assert isinstance(found, LocalGrounder)
    assert (found.levels, found.other.levels) == (OWN, OWN)
    assert found.vectors is shipped.vectors
    assert levelled(shipped, {"local": OWN}) is shipped


def test_a_judge_has_no_levels() -> None:
    judge = JudgedGrounder(ScriptedLLM(["{}"]))
    assert levels_of(judge) is None
    assert measured_as(judge) == ""
    assert levelled(judge, {"": OWN, "judge": OWN}) is judge
