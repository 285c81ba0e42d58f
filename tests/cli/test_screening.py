"""`refdesk screen`: rules are checked and tried without a library, a model or a setting."""

from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Run

RULES = "rules:\n- {id: pay, any_of: [salary]}\n- {id: car, any_of: [car]}\n"
CASES = """\
cases:
- {text: "My salary?", expect: pay, language: en}
- {text: "My wage?", expect: pay, language: en}
- {text: "Salary of the car driver?", expect: car, language: en}
- {text: "The car park?", expect: null, language: en}
- {text: "Leave?", expect: false, language: en}
"""


@pytest.fixture
def own(place: Path) -> Path:
    (place / "rules.yaml").write_text(RULES, "utf-8")
    (place / "broken.yaml").write_text(
        "rules:\n- {id: a, pattern: '(?=a)'}\n- {id: a, any_of: [x], languages: [ger]}\n", "utf-8"
    )
    (place / "cases.yaml").write_text(CASES, "utf-8")
    (place / "good.jsonl").write_text('{"text": "My salary?", "expect": "pay"}\n', "utf-8")
    return place


def test_check(run: Run, own: Path) -> None:
    result = run("screen", "check", "rules.yaml")
    assert (result.exit_code, result.stdout) == (0, "ok: 2 rules\n")
    assert as_json(run, "screen", "check", "rules.yaml") == {
        "source": "rules.yaml",
        "ok": True,
        "rules": ["pay", "car"],
        "problems": [],
    }
    assert run("screen", "check", "multilingual").exit_code == 0
    assert sorted(path.name for path in own.iterdir()) == [
        "broken.yaml",
        "cases.yaml",
        "good.jsonl",
        "handbook",
        "rules.yaml",
    ]


def test_check_lists_every_mistake(run: Run, own: Path) -> None:
    result = run("screen", "check", "broken.yaml")
    assert result.exit_code == 1
    first, second = result.stdout.splitlines()
    assert first.startswith(
        "rule 1 (line 2, 'a'): its pattern '(?=a)' cannot be used: it has `(?=`, which looks"
    )
    assert second.startswith("rule 2 (line 3, 'a'): its language 'ger' is no ISO 639-1 code")
    assert second.endswith("its id is that of rule 1")
    assert result.stderr.startswith("error [input_invalid]: 'broken.yaml' has 2 problems")
    assert len(as_json(run, "screen", "check", "broken.yaml", code=1)["problems"]) == 2
    assert "no such file" in failing(run, "screen", "check", "absent.yaml", code=1)


def test_a_trial_in_which_all_is_right(run: Run, own: Path) -> None:
    result = run("screen", "test", "rules.yaml", "good.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["rule", "expected", "hits", "misses", "false", "alarms"],
        ["pay", "1", "1", "0", "0"],
        [],
        [
            "cases",
            "expected",
            "hits",
            "misses",
            "recall",
            "harmless",
            "false",
            "alarms",
            "false",
            "alarm",
            "rate",
        ],
        ["all", "1", "1", "0", "1.000", "0", "0"],
    ]


def test_a_trial_lists_what_is_wrong(run: Run, own: Path) -> None:
    result = run("screen", "test", "rules.yaml", "cases.yaml")
    assert result.exit_code == 1
    assert result.stderr == "error [input_invalid]: 3 of 5 cases came out wrong.\n"
    wrong = result.stdout.partition("wrong ")[2].splitlines()[1:]
    assert [line.split("  ")[0] for line in wrong] == ["miss", "other rule", "false alarm"]
    assert "My wage?" in wrong[0]
    record = as_json(run, "screen", "test", "rules.yaml", "cases.yaml", code=1)
    assert record["overall"] == {
        "expected": 3,
        "hits": 2,
        "misses": 1,
        "recall": 2 / 3,
        "harmless": 2,
        "false_alarms": 1,
        "false_alarm_rate": 0.5,
    }
    assert record["by_language"] == {"en": record["overall"]}
    assert record["by_rule"]["car"] == {"expected": 1, "hits": 0, "misses": 1, "false_alarms": 1}
    assert record["wrong"][1] == {
        "text": "Salary of the car driver?",
        "expect": "car",
        "found": ["pay"],
        "what": "other rule",
    }
    assert not record["ok"]


def test_a_trial_of_what_cannot_be_read(run: Run, own: Path) -> None:
    assert "cannot be used" in failing(run, "screen", "test", "broken.yaml", "cases.yaml", code=1)
    assert "expects the rule" in failing(run, "screen", "test", "multilingual", "cases.yaml", code=1)
    assert failing(run, "screen", "test", "rules.yaml", code=2)


def test_the_set_on_cases_of_its_own(run: Run, place: Path) -> None:
    record = as_json(run, "screen", "test", "multilingual", "multilingual-held-out")
    assert (record["ok"], record["overall"]["false_alarms"]) == (True, 0)


def test_pipeline_check_reads_the_rules_of_a_step(run: Run, own: Path) -> None:
    (own / "own.yaml").write_text(
        "version: 1\nsteps:\n- search\n- when:\n    condition: hits<3\n    steps:\n"
        "    - screen: {rules: broken.yaml}\n- screen: {id: two, rules: absent.yaml}\n- answer\n",
        "utf-8",
    )
    record = as_json(run, "pipeline", "check", "own.yaml", code=1)
    places = [(one["position"], one["step"], one["line"]) for one in record["problems"]]
    assert places == [("2.1", "screen", 7), ("2.1", "screen", 7), ("3", "two", 8)]
    assert "rule 1 (line 2, 'a')" in record["problems"][0]["reason"]
    assert "There are no rules 'absent.yaml'" in record["problems"][2]["reason"]
    (own / "own.yaml").write_text("version: 1\nsteps:\n- screen: {rules: rules.yaml}\n- answer\n", "utf-8")
    assert as_json(run, "pipeline", "check", "own.yaml")["ok"]
