"""`refdesk eval calibrate` and `refdesk eval zones`, on a library of a tiny model with random weights."""

import json
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Command, Run

from refdesk.evaluation.calibrating.scorefile import ScoreFile

RERANKED = {"REFDESK_RERANKER": "maxsim"}
SIZES = ("zinc", "iron", "gold", "lead", "neon", "argon", "boron", "cobalt")
PLACES = ("Oslo", "Bern", "Rome", "Lima", "Cairo", "Delhi")


@pytest.fixture
def questions(place: Path) -> tuple[Path, Path]:
    """A data set of 48 documents, each with a question, and a file of questions off topic."""
    data = place / "metals"
    (data / "qrels").mkdir(parents=True)
    names = [(metal, town) for metal in SIZES for town in PLACES]
    corpus = [
        {"_id": f"d{n}", "title": "", "text": f"The {metal} of {town} is kept in store {n}."}
        for n, (metal, town) in enumerate(names)
    ]
    asked = [{"_id": f"q{n}", "text": f"{metal} of {town} store"} for n, (metal, town) in enumerate(names)]
    (data / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    judged = [f"q{n}\td{n}\t1" for n in range(len(names))]
    (data / "qrels" / "test.tsv").write_text("\n".join(judged), "utf-8")
    off = place / "off.txt"
    off.write_text("\n".join(f"Who won the cup in {year}?" for year in range(1990, 2020)), "utf-8")
    return data, off


def test_calibrate_writes_what_assess_and_zones_read(run: Run, questions: tuple[Path, Path]) -> None:
    args = ("--data", "metals", "--off-topic", "off.txt", "--max-refused", "0.05", "--scores", "scores.jsonl")
    result = run("eval", "calibrate", *args, "--plot", "zones.png", env=RERANKED)
    assert result.exit_code == 0, result.output
    assert "Fitted on 24 questions on topic and 15 off topic" in result.stdout
    assert "metals, test: 24 questions on topic, 15 off topic (off.txt)" in result.stdout
    assert "abstain_below" in result.stdout
    assert "AUC, on topic against off topic" in result.stdout
    assert Path("zones.png").read_bytes().startswith(b"\x89PNG")
    written = yaml.safe_load(Path(".refdesk/calibration.yaml").read_text("utf-8"))
    [(name, limits)] = written["rerankers"].items()
    assert name.startswith("maxsim(")
    assert limits["measured_on"] == "metals, test: 24 questions on topic, 15 off topic (off.txt)"
    assert "Written to .refdesk/calibration.yaml." in result.stderr

    shown = run("eval", "zones", *args[:4], "--scores", "scores.jsonl", env=RERANKED)
    assert shown.exit_code == 0, shown.output
    assert f"Zones, abstain below {limits['abstain_below']:.4g}, weak below" in shown.stdout
    assert "metals, test: 48 questions on topic, 30 off topic (off.txt)" in shown.stdout
    assert len(Path("scores.jsonl").read_text("utf-8").splitlines()) == 1 + 48 + 30

    Path("assess.yaml").write_text("version: 1\nsteps: [search, rerank, assess, answer, cite]", "utf-8")
    asked = (
        "ask",
        "zinc of Oslo store",
        "--pipeline",
        "assess.yaml",
        "--collection",
        "eval-metals",
        "--json",
    )
    answer = json.loads(run(*asked, env=RERANKED).stdout)
    assert "calibrate" not in "".join(answer["warnings"])
    Path(".refdesk/calibration.yaml").unlink()
    answer = json.loads(run(*asked, env=RERANKED).stdout)
    assert "Measure them with `refdesk eval calibrate`" in "".join(answer["warnings"])


def test_a_dry_run_writes_nothing(run: Run, questions: tuple[Path, Path]) -> None:
    args = ("eval", "calibrate", "--data", "metals", "--dry-run", "--seed", "4")
    result = run(*args, env=RERANKED)
    assert result.exit_code == 0, result.output
    assert "Nothing was written. Without --dry-run: .refdesk/calibration.yaml." in result.stderr
    assert "warning: No questions off topic" in result.stderr
    assert "off topic" not in result.stdout
    assert not Path(".refdesk/calibration.yaml").exists()


def test_as_json(run: Run, questions: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFDESK_RERANKER", "maxsim")
    monkeypatch.setenv("REFDESK_CALIBRATION", "own.yaml")
    args = ("--data", "metals", "--off-topic", "metals", "--off-topic-limit", "5")
    env_run: Run = lambda *words, **rest: run(*words, env=RERANKED, **rest)  # noqa: E731
    record = as_json(env_run, "eval", "calibrate", *args)
    assert record["written"] == "own.yaml"
    assert record["thresholds"] == next(
        iter(yaml.safe_load(Path("own.yaml").read_text())["rerankers"].values())
    )
    assert record["fitted_on"] == 24
    assert "asked" not in record["held_out"]
    zones = as_json(env_run, "eval", "zones", *args, "--limit", "10", "--per-query")
    assert len(zones["asked"]) == 15
    assert zones["thresholds"] == record["thresholds"]
    own = as_json(
        env_run, "eval", "zones", *args, "--limit", "10", "--abstain-below", "0", "--weak-below", "9"
    )
    assert own["thresholds"]["weak_below"] == 9
    assert own["zones"][0]["weak"]["value"] == 1.0


def test_questions_about_a_collection_that_is_there(run: Run, questions: tuple[Path, Path]) -> None:
    data, _ = questions
    assert run("eval", "zones", "--data", "metals", "--limit", "1", env=RERANKED).exit_code == 0
    (data / "corpus.jsonl").unlink()
    line = failing(run, "eval", "zones", "--data", "metals", code=1)
    assert "has no corpus.jsonl, and no collection is named" in line
    result = run("eval", "zones", "--data", "metals", "-c", "eval-metals", "--limit", "4", env=RERANKED)
    assert result.stdout.startswith("metals, test: 4 questions on topic\n"), result.output
    assert "No limits are known for this reranker; `refdesk eval calibrate` measures them." in result.stderr


def own_questions() -> list[dict[str, object]]:
    """Return the questions of the data set in the form of a question file, and a few off topic."""
    names = [f"{metal} of {town}" for metal in SIZES for town in PLACES]
    asked: list[dict[str, object]] = [
        {"id": f"o{n}", "question": f"{name} store", "expected": {"document": f"d{n}"}}
        for n, name in enumerate(names)
    ]
    off = ({"id": f"off{n}", "question": f"Who sang in {1960 + n}?", "off_topic": True} for n in range(9))
    return [*asked, *off]


def test_questions_of_ones_own_about_a_collection_that_is_there(
    run: Run, questions: tuple[Path, Path]
) -> None:
    assert run("eval", "zones", "--data", "metals", "--limit", "1", env=RERANKED).exit_code == 0
    rows = [*own_questions(), {"id": "gone", "question": "Where is tin?", "expected": "d-gone"}]
    Path("own.yaml").write_text(json.dumps(rows), "utf-8")
    args = ("--data", "own.yaml", "-c", "eval-metals")
    fitted = run("eval", "calibrate", *args, "--max-refused", "0.05", env=RERANKED)
    assert fitted.exit_code == 0, fitted.output
    assert "Fitted on 25 questions on topic and 5 off topic" in fitted.stdout
    assert "own: 24 questions on topic, 4 off topic (own)\n" in fitted.stdout
    told = "warning: 1 gold document is missing, and will not be found: d-gone."
    assert fitted.stderr.splitlines()[0] == told
    [limits] = yaml.safe_load(Path(".refdesk/calibration.yaml").read_text("utf-8"))["rerankers"].values()
    assert limits["measured_on"] == "own: 25 questions on topic, 5 off topic (own)"
    shown = run("eval", "zones", *args, "--off-topic", "off.txt", env=RERANKED)
    assert shown.stdout.startswith("own: 49 questions on topic, 39 off topic (own, off.txt)\n"), shown.output
    apart = run("eval", "zones", "--data", "metals", "--off-topic", "own.yaml", env=RERANKED)
    assert apart.stdout.startswith("metals, test: 48 questions on topic, 58 off topic (own.yaml)\n")


def test_an_excerpt_is_calibrated_apart_from_whole_hits(run: Run, questions: tuple[Path, Path]) -> None:
    args = ("--data", "metals", "--off-topic", "off.txt", "--max-refused", "0.05", "--scores", "scores.jsonl")
    short = ("--excerpt", "20", *args[:-1], "short.jsonl")
    for given in (args, short):
        assert run("eval", "calibrate", *given, env=RERANKED).exit_code == 0
    known = yaml.safe_load(Path(".refdesk/calibration.yaml").read_text("utf-8"))["rerankers"]
    whole, excerpt = known
    assert excerpt == f"{whole}, 20 characters"
    mixed = run("eval", "zones", *args[:4], *args[6:], "--excerpt", "20", env=RERANKED)
    assert (mixed.exit_code, "excerpt" in mixed.stderr) == (1, True), mixed.output
    forum = "version: 1\nsteps: [search, {rerank: {excerpt: 20}}, assess, answer, cite]"
    Path("assess.yaml").write_text(forum, "utf-8")
    asked = ("ask", "zinc of Oslo store", "--pipeline", "assess.yaml", "-c", "eval-metals", "--json")
    answer = json.loads(run(*asked, env=RERANKED).stdout)
    assert "calibrate" not in "".join(answer["warnings"])


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--data", "nowhere"), "There is no data set 'nowhere'"),
        (("--data", "metals", "--split", "dev"), "Splits are test."),
        (("--data", "metals", "--off-topic", "nowhere.txt"), "Cannot read nowhere.txt"),
        (("--data", "metals", "--plot", "zones.bmp"), ".png, .svg, .pdf"),
        (("--data", "metals", "--max-refused", "2"), "from 0 to less than 1"),
        (("--data", "metals", "--limit", "30"), "15 questions on topic to fit"),
        (("--data", "metals", "--scores", "off.txt"), "off.txt"),
    ],
)
def test_what_goes_wrong(run: Run, questions: tuple[Path, Path], args: tuple[str, ...], told: str) -> None:
    result = run("eval", "calibrate", *args, env=RERANKED)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path(".refdesk/calibration.yaml").exists()
    assert Path("off.txt").read_text("utf-8").startswith("Who won")


def test_without_a_reranker_nothing_is_calibrated(run: Run, questions: tuple[Path, Path]) -> None:
    line = failing(run, "eval", "calibrate", "--data", "metals", code=1)
    assert "no reranker scores" in line


def test_what_was_broken_off_goes_on(run: Run, questions: tuple[Path, Path]) -> None:
    args = ("eval", "zones", "--data", "metals", "--scores", "scores.jsonl")
    assert run(*args, "--limit", "6", env=RERANKED).exit_code == 0
    kept = Path("scores.jsonl").read_text("utf-8").splitlines()
    Path("scores.jsonl").write_text("\n".join(kept[:-2]) + "\n" + kept[-1][:30], "utf-8")
    assert run(*args, "--limit", "8", env=RERANKED).exit_code == 0
    lines = [json.loads(line) for line in Path("scores.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) >= 1 + 8
    assert lines[0]["data"] == "metals"


def test_ctrl_c_keeps_what_was_asked(command: Command, questions: tuple[Path, Path]) -> None:
    kept = Path("scores.jsonl").absolute()
    args = ("--data", "metals", "--off-topic", "off.txt", "--scores", str(kept))
    words, environment = command("eval", "zones", *args, env=RERANKED)
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (kept.exists() and kept.read_text("utf-8").count("\n") > 3):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert told == "The scores so far are kept; run the same command again to go on.\nInterrupted.\n"
    assert process.returncode == 130
    with closing(ScoreFile(kept, json.loads(kept.read_text("utf-8").splitlines()[0]))) as file:
        assert 3 <= len(file.known) < 48 + 30
