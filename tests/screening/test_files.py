"""Rules from files: all mistakes at once, with their lines, and nothing allowed while there are any."""

from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import InputError
from refdesk.screening import Rule, load_rules

GOOD = """\
version: 1
rules:
- id: payroll
  any_of: [salary, wage]
  reply: Please ask the payroll office.
- {id: cards, pattern: '\\d{16}', action: flag}
- {id: short, shorter_than: 3}
- {id: tricks, hidden: true, action: flag}
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "rules.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message_for(source: Any) -> str:
    with pytest.raises(InputError) as caught:
        load_rules(source)
    assert "rules" in caught.value.remedy
    return caught.value.message


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_holds_rules(tmp_path: Path, mark: str) -> None:
    rules = load_rules(written(tmp_path, mark + GOOD))
    assert rules == (
        Rule(id="payroll", any_of=("salary", "wage"), reply="Please ask the payroll office."),
        Rule(id="cards", pattern=r"\d{16}", action="flag"),
        Rule(id="short", shorter_than=3),
        Rule(id="tricks", hidden=True, action="flag"),
    )
    assert load_rules(str(tmp_path / "rules.yaml")) == rules


def test_the_same_as_mappings() -> None:
    rule = Rule(id="b", any_of=("x",))
    assert load_rules({"rules": [{"id": "a", "any_of": ["y"]}, rule]}) == (
        Rule(id="a", any_of=("y",)),
        rule,
    )


def test_all_mistakes_are_listed_with_their_lines(tmp_path: Path) -> None:
    text = """\
version: 2
rule: no
rules:
- {id: open, pattern: '('}
- ids: typo
  any_of: [yes]
- {id: nothing}

- {id: open, any_of: [x]}
- just text
- {id: block, action: block, any_of: [x]}
- {id: twice, any_of: [x], pattern: a, any_of: [y]}
"""
    lines = message_for(written(tmp_path, text)).split("\n")
    assert "cannot be used" in lines[0]
    for part in (
        "- its version is 2; there is 1",
        "- it has no field 'rule'",
        "- line 12: the key 'any_of' is there twice",
        "- rule 1 (line 4, 'open'): its pattern '(' cannot be used: missing )",
        "- rule 2 (line 5): id: Field required; any_of.0: Input should be a valid string;"
        " it has no field 'ids'; did you mean 'id'?",
        "- rule 3 (line 7, 'nothing'): it states no condition",
        "- rule 4 (line 9, 'open'): its id is that of rule 1",
        "- rule 5 (line 10): it: Input should be",
        "- rule 6 (line 11, 'block'): action: Input should be 'refuse' or 'flag'",
    ):
        assert any(line.startswith(part) for line in lines), part
    assert len(lines) == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "hold none"),
        ("rules:", "hold none"),
        ("rules: []", "hold none"),
        ("- {id: a, any_of: [x]}", "hold none"),
        ("rules: {a: b}", "hold none"),
        ("rules: [", "cannot be read"),
        ("rules: !!python/object:os.system x", "cannot be read"),
        (b"\xff\xfe\x00", "cannot be read"),
        ("# " + "x" * 1_000_001, "more than 1,000,000 bytes"),
        ("[" * 5000, "cannot be read"),
    ],
)
def test_a_file_without_rules_is_an_error(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in message_for(written(tmp_path, text))


def test_what_is_neither_a_set_nor_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_rules("multilingul")
    assert caught.value.message == "There are no rules 'multilingul', and no such file."
    assert caught.value.remedy == "Known rules: did you mean 'multilingual'?"
    with pytest.raises(InputError, match="Known rules: multilingual, or a file"):
        load_rules(tmp_path / "absent.yaml")


def test_a_set_comes_before_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("multilingual").write_text("rules: [{id: own, any_of: [x]}]", "utf-8")
    assert len(load_rules("multilingual")) > 50
    assert [rule.id for rule in load_rules("./multilingual")] == ["own"]
    assert [rule.id for rule in load_rules(Path("multilingual").absolute())] == ["own"]


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = written(tmp_path, "rules: [{id: a, any_of: [x]}]")
    assert [rule.id for rule in load_rules(path)] == ["a"]
    assert [rule.id for rule in load_rules(written(tmp_path, "rules: [{id: b, any_of: [x]}]"))] == ["b"]


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "missing.yaml" in message_for(tmp_path / "missing.yaml")
    assert "cannot be read" in message_for(tmp_path)


@pytest.mark.parametrize("given", [{}, {"rules": None}, {"rules": "a"}])
def test_mappings_without_rules_are_an_error(given: dict[str, Any]) -> None:
    assert "hold none" in message_for(given)
