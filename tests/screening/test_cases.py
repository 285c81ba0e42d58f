"""Cases, and rules on cases: hits, misses and false alarms."""

import json
from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import InputError
from refdesk.screening import Case, Rule, case_sets, load_cases, load_rules, rule_sets, screen, try_rules

RULES = (
    Rule(id="odd", action="flag", any_of=("odd",)),
    Rule(id="pay", any_of=("salary", "wage")),
    Rule(id="car", any_of=("car",)),
)
IDS = [rule.id for rule in RULES]
YAML = """\
cases:
- {text: "My salary?", expect: pay, language: en}
- {text: "Any car?", expect: true}
- {text: "Leave?", expect: false}
- {text: "Holidays?", expect: null}
"""


def written(folder: Path, text: str, name: str = "cases.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_cases_are_yaml_or_json_lines(tmp_path: Path) -> None:
    cases = load_cases(written(tmp_path, YAML), IDS)
    assert cases == (
        Case(text="My salary?", expect="pay", language="en"),
        Case(text="Any car?", expect=True),
        Case(text="Leave?", expect=False),
        Case(text="Holidays?", expect=None),
    )
    lines = "\n\n".join(
        json.dumps({"text": one.text, "expect": one.expect, "language": one.language}) for one in cases
    )
    assert load_cases(written(tmp_path, lines + "\n", "cases.jsonl"), IDS) == cases


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        (
            "cases.yaml",
            "version: 1\ncase: no\ncases:\n- {text: a, expect: py}\n- {text: '', expect: pay}\n"
            "- {text: a}\n- {text: a, expect: 1}\n"
            "- {text: a, expect: pay, lang: en}\n- {text: a, text: b, expect: pay}\n- a\n",
            [
                "it has no field 'case'",
                "case 1 (line 4): it expects the rule 'py', and there is none; did you mean 'pay'?",
                "case 2 (line 5): text: String should have at least 1 character",
                "case 3 (line 6): expect: Field required",
                "case 4 (line 7): expect",
                "case 5 (line 8): it has no field 'lang'; did you mean 'language'?",
                "line 9: the key 'text' is there twice",
                "case 7 (line 10): it: Input should be",
            ],
        ),
        ("cases.jsonl", '{"text": "a", "expect": "pay"}\n{"text"', ["line 2: Expecting"]),
        (
            "cases.jsonl",
            '\n\n{"text": "a", "expect": "none"}',
            ["case 1 (line 3): it expects the rule 'none'"],
        ),
        ("cases.jsonl", "", ["hold none"]),
        ("cases.yaml", "rules: []", ["hold none"]),
        ("cases.yaml", "[", ["cannot be read"]),
    ],
)
def test_all_mistakes_of_cases_are_listed(tmp_path: Path, name: str, text: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        load_cases(written(tmp_path, text, name), IDS)
    for part in parts:
        assert part in caught.value.message, part
    with pytest.raises(InputError, match="Known cases"):
        load_cases(tmp_path / "absent.yaml", IDS)


def test_a_trial_counts_by_rule_by_language_and_overall() -> None:
    cases = [
        Case(text="My salary?", expect="pay", language="en"),
        Case(text="My earnings?", expect="pay", language="en"),
        Case(text="The salary of a car driver?", expect="car", language="en"),
        Case(text="An odd car", expect="odd"),
        Case(text="Any car", expect=True),
        Case(text="Any bicycle", expect=True),
        Case(text="Leave?", expect=None, language="de"),
        Case(text="Parking of the car?", expect=False, language="de"),
        Case(text="Odd hours?", expect=None),
    ]
    trial = try_rules(RULES, cases)
    assert [one.case.text for one in trial.wrong] == [
        "My earnings?",
        "The salary of a car driver?",
        "Any bicycle",
        "Parking of the car?",
        "Odd hours?",
    ]
    overall = trial.overall
    assert (overall.expected, overall.hits, overall.misses) == (6, 4, 2)
    assert (overall.harmless, overall.false_alarms) == (3, 2)
    assert (overall.recall, overall.false_alarm_rate) == (4 / 6, 2 / 3)
    counts = {one.name: (one.expected, one.hits, one.misses, one.false_alarms) for one in trial.rules}
    assert counts == {"odd": (1, 1, 0, 1), "pay": (2, 1, 1, 0), "car": (1, 0, 1, 1)}
    spoken = {one.name: (one.recall, one.false_alarm_rate) for one in trial.languages}
    assert spoken == {"de": (None, 0.5), "en": (2 / 3, None)}
    assert not trial.ok
    assert try_rules(RULES, cases[:1]).ok


@pytest.mark.parametrize(
    ("name", "expected", "least", "harmless"),
    [
        ("multilingual", 195, 193, 110),
        ("multilingual-held-out", 61, 61, 49),
        ("multilingual-fresh", 60, 14, 24),
    ],
)
def test_the_set_does_what_its_page_says(name: str, expected: int, least: int, harmless: int) -> None:
    """The figures of docs/screening.md; no case is a false alarm."""
    rules = load_rules("multilingual")
    trial = try_rules(rules, load_cases(name, [rule.id for rule in rules]))
    assert (trial.overall.expected, trial.overall.harmless) == (expected, harmless)
    assert trial.overall.hits == least
    assert trial.overall.false_alarms == 0
    page = (Path(__file__).parents[2] / "docs" / "screening.md").read_text("utf-8")
    assert f"| `{name}` | {least} of {expected} | 0 of {harmless} |" in page
    assert {one.name for one in trial.languages} == {"en", "fr", "de", "es"}


def test_what_comes_with_refdesk_is_known_by_name() -> None:
    assert rule_sets() == ("multilingual",)
    assert case_sets() == ("multilingual", "multilingual-fresh", "multilingual-held-out")


def test_every_rule_of_the_set_is_tried_and_replies_in_its_language() -> None:
    rules = load_rules("multilingual")
    cases = load_cases("multilingual", [rule.id for rule in rules])
    tried = {case.expect for case in cases}
    assert {rule.id for rule in rules} - tried == {"length", "hidden_characters"}
    kinds = {rule.id.rpartition("-")[0] for rule in rules if "-" in rule.id}
    for kind in kinds:
        replies = {rule.reply for rule in rules if rule.id.startswith(f"{kind}-")}
        assert len(replies) == 4, kind
    assert not screen("a" * 8001, rules).allowed


@pytest.mark.parametrize("wrong", [None, 5, "", {}])
def test_cases_need_a_text(wrong: Any, tmp_path: Path) -> None:
    line = json.dumps({"text": wrong, "expect": True})
    with pytest.raises(InputError, match="case 1"):
        load_cases(written(tmp_path, line, "cases.jsonl"), IDS)
