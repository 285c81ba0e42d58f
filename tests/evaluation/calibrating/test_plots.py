"""Pictures: what they show, their endings, and what is said where they cannot be drawn."""

import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.evaluation.conftest import asked, crowd

from refdesk.errors import InputError, MissingExtra
from refdesk.evaluation.calibrating.levels import LevelsFit, LevelsReport
from refdesk.evaluation.calibrating.plots import check_plot, plot_levels, plot_zones
from refdesk.evaluation.calibrating.zones import report_zones
from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.grounding.levels import Levels
from refdesk.reranking.thresholds import Thresholds

LIMITS = Thresholds(abstain_below=0.25, weak_below=0.4)
BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def texts(path: Path) -> set[str]:
    """Return the texts of an SVG picture, which keeps each as a comment beside its outlines."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    tree = ElementTree.parse(path, parser)
    comment: object = ElementTree.Comment
    return {str(one.text).strip() for one in tree.iter() if one.tag == comment}


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_every_ending(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"zones.{ending}"
    plot_zones(report_zones(crowd(), LIMITS, data="set", split="test"), path)
    assert path.read_bytes().startswith(BEGINNINGS[ending])


def test_what_it_shows(tmp_path: Path) -> None:
    report = report_zones(crowd(), LIMITS, data="set", split="test")
    plot_zones(report, tmp_path / "zones.svg")
    shown = texts(tmp_path / "zones.svg")
    assert shown >= {"on topic (200)", "off topic (200)", "abstain below 0.25", "weak below 0.4"}
    assert shown >= {"Risk and coverage, by falling limit", "% of the questions answered"}
    assert any(text.startswith(f"on topic: area {report.curve.area:.3f}") for text in shown)
    assert any(text.startswith("with questions off topic: area") for text in shown)


def test_without_limits_questions_off_topic_and_scores(tmp_path: Path) -> None:
    rows = [one for one in crowd(20) if one.on_topic] + [asked(None, right=False)]
    plot_zones(report_zones(rows, None, data="$set_1^{$", split="test"), tmp_path / "zones.svg")
    shown = texts(tmp_path / "zones.svg")
    assert "on topic (21)" in shown
    assert not any("off topic" in text or "below" in text for text in shown)
    assert any("$set_1^{$" in text for text in shown)


def test_equal_scores_and_limits_without_end(tmp_path: Path) -> None:
    limits = Thresholds(abstain_below=-math.inf, weak_below=math.inf)
    rows = [asked(0.5, name=str(number)) for number in range(5)]
    plot_zones(report_zones(rows, limits, data="set", split="test"), tmp_path / "zones.png")


@pytest.mark.parametrize("name", ["zones", "zones.jpg", "zones.txt", "none/zones.png"])
def test_what_cannot_be_drawn_is_said_before(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        check_plot(tmp_path / name)


def test_a_picture_in_the_way_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "zones.png").mkdir()
    with pytest.raises(InputError, match="Cannot write"):
        plot_zones(report_zones(crowd(5), None, data="set", split="test"), tmp_path / "zones.png")


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"pip install 'refdesk\[plots\]'"):
        check_plot(tmp_path / "zones.png")


def test_levels_are_drawn_with_both_limits(tmp_path: Path) -> None:
    scores = {"faithful": (0.9, 0.8, 0.7), "other": (0.1, 0.2, 0.6)}
    some = Estimate(0.5, 0.4, 0.6)
    fit = LevelsFit(levels=Levels(0.65, 0.3), rows=(), held=0.8, supported=0.9)
    report = LevelsReport(
        data="own $texts$",
        grounder="local",
        missed=0.1,
        supported_from=some,
        partial_from=some,
        fitted_on={"faithful": 3, "other": 3},
        fitted=fit,
        in_force=fit,
        auc=some,
        unchecked=0,
        scores=scores,
    )
    plot_levels(report, tmp_path / "levels.svg")
    assert {"partial from 0.3", "supported from 0.65", "faithful (3)", "other (3)"} <= texts(
        tmp_path / "levels.svg"
    )
    with pytest.raises(InputError, match="names of pictures end with"):
        plot_levels(report, tmp_path / "levels.txt")
