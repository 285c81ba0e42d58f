"""Scores that are kept: what was broken off goes on, and nothing else passes for it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.conftest import asked

import refdesk
from refdesk.errors import InputError
from refdesk.evaluation.calibrating.scorefile import ScoreFile, about
from refdesk.testing import HashingEmbedder

ABOUT: dict[str, str | int] = {"data": "set", "chunks": 3}
ROWS = [asked(0.5, name="a"), asked(None, name="b", right=False), asked(0.1, on_topic=False, name="a")]


def kept(path: Path, *rows: Any) -> ScoreFile:
    file = ScoreFile(path, ABOUT)
    for row in rows:
        file.add(row)
    file.close()
    return file


def test_what_was_kept_is_known_again(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    assert kept(path, ROWS[0]).known == {}
    assert kept(path, *ROWS).known == {(True, "a"): ROWS[0]}
    assert list(kept(path).known.values()) == ROWS
    assert len(path.read_text("utf-8").splitlines()) == 4
    assert list(tmp_path.iterdir()) == [path]


def test_a_question_that_was_asked_anew_counts(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    kept(path, ROWS[0])
    kept(path, asked(0.7, name="a"))
    assert kept(path).known[True, "a"].score == 0.7


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x1e", "\r"])
def test_a_text_may_hold_what_separates_lines(tmp_path: Path, sign: str) -> None:
    path, row = tmp_path / "scores.jsonl", replace(ROWS[0], question=f"one{sign}two")
    kept(path, row)
    assert list(kept(path).known.values()) == [row]


def test_a_line_that_was_cut_off_is_asked_anew(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    kept(path, *ROWS)
    path.write_bytes(path.read_bytes()[:-20])
    assert list(kept(path, ROWS[2]).known.values()) == ROWS[:2]
    assert list(kept(path).known.values()) == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[1, 2]",
        json.dumps({"data": "set"}),
        json.dumps({**ABOUT, "chunks": 4}),
        json.dumps({**ABOUT, "more": 1}),
        json.dumps(ABOUT) + '\n{"query_id": "a"}',
        json.dumps(ABOUT) + "\n[1]",
        json.dumps(ABOUT) + "\n3",
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"scores\.jsonl"):
        ScoreFile(path, ABOUT)
    assert path.read_text("utf-8") == text


def test_what_differs_is_told(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    kept(path, *ROWS)
    with pytest.raises(InputError, match="something else: chunks differs"):
        ScoreFile(path, {**ABOUT, "chunks": 4})


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        ScoreFile(tmp_path / "none" / "scores.jsonl", ABOUT)


@pytest.mark.anyio
async def test_scores_depend_on_collection_and_settings(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), evidence=3) as desk:
        await desk.ingest_text("Leave is 30 days.", source_id="leave", collection="one")
        first = await about(desk, data="set", split="test", collection="one")
        await desk.ingest_text("Hotels cost 120 euros.", source_id="travel", collection="one")
        second = await about(desk, data="set", split="test", collection="one")
    assert (first["evidence"], first["mode"], first["chunks"], second["chunks"]) == (3, "hybrid", 1, 2)
    json.dumps(first)
