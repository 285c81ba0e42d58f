"""The calibration file: what is written is read, and what cannot be read is said."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.errors import SettingsError
from refdesk.reranking.calibration import read_calibration, thresholds_of, write_calibration
from refdesk.reranking.thresholds import SHIPPED, Thresholds

LIMITS = Thresholds(abstain_below=0.2, weak_below=0.4, measured_on="some questions: 12, „quoted“")


@settings(deadline=None)
@given(
    name=st.text(min_size=1).filter(lambda text: text.isprintable()),
    limits=st.tuples(*[st.floats(allow_nan=False)] * 2).map(sorted),
    measured_on=st.text(),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, name: str, limits: list[float], measured_on: str
) -> None:
    path = tmp_path_factory.mktemp("written") / "calibration.yaml"
    thresholds = Thresholds(abstain_below=limits[0], weak_below=limits[1], measured_on=measured_on)
    write_calibration(path, name, thresholds)
    assert read_calibration(path) == {name: thresholds}
    assert list(path.parent.iterdir()) == [path]


def test_rerankers_stand_beside_each_other(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    write_calibration(path, "one", LIMITS)
    write_calibration(path, "maxsim(a@int8/384#0)", LIMITS)
    changed = Thresholds(abstain_below=-1, weak_below=1)
    write_calibration(path, "one", changed)
    assert read_calibration(path) == {"one": changed, "maxsim(a@int8/384#0)": LIMITS}
    assert path.read_text("utf-8").startswith("# ")


def test_what_was_measured_goes_before_what_is_shipped() -> None:
    name = next(iter(SHIPPED))
    assert thresholds_of(name, {}) == SHIPPED[name]
    assert thresholds_of(name, {name: LIMITS}) == LIMITS
    assert thresholds_of("another", {name: LIMITS}) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has the version None; there is 1"),
        ("version: 2\nrerankers: {}", "has the version 2; there is 1"),
        ("version: 1", "has no mapping `rerankers`"),
        ("version: 1\nrerankers: [a]", "has no mapping `rerankers`"),
        ("version: 1\nrerankers: {}\nlimits: 3", "no field 'limits'"),
        ("version: 1\nrerankers: {a: 3}", "- a: "),
        ("version: 1\nrerankers: {a: {abstain_below: 0.1}}", "- a: weak_below: Field required"),
        ("version: 1\nrerankers: {a: {abstain_below: x, weak_below: 1}}", "- a: abstain_below: "),
        ("version: 1\nrerankers: {a: {abstain_below: .nan, weak_below: 1}}", "has to be a number"),
        ("version: 1\nrerankers: {a: {abstain_below: 2, weak_below: 1}}", "above weak_below"),
        (
            "version: 1\nrerankers: {a: {abstain_below: 0, weak_below: 1, weak: 2}}",
            "- a: it has no field 'weak'",
        ),
        ("version: 1\nrerankers: {a: [", "cannot be read"),
        ("\udcff", "cannot be read"),
        ("x" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingsError) as raised:
        read_calibration(path)
    assert told in str(raised.value)
    assert "refdesk eval calibrate" in str(raised.value)
    with pytest.raises(SettingsError):
        write_calibration(path, "a", LIMITS)
    assert path.read_bytes() == text.encode("utf-8", "surrogateescape")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text("version: 1\nrerankers: {a: 3, b: {weak_below: 1, abstain_below: 0}, c: {}}")
    with pytest.raises(SettingsError) as raised:
        read_calibration(path)
    assert str(raised.value).count("\n- ") == 3


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_calibration(tmp_path / "nothing.yaml")
    with pytest.raises(SettingsError, match="cannot be written"):
        write_calibration(tmp_path / "no folder" / "calibration.yaml", "a", LIMITS)
