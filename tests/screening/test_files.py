"""Rules from files: all mistakes at once, with their lines, and nothing allowed while there are any."""

from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import InputError
from refdesk.screening import Rule, load_rules

GOOD = """\
version: 1
rules:
- name: payroll
  words: [salary, wage]
  message: Please ask the payroll office.
- {name: cards, pattern: '\\d{16}', action: flag}
- {name: short, shorter_than: 3}
- {name: tricks, hidden: true, action: flag}
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
        Rule(name="payroll", words=("salary", "wage"), message="Please ask the payroll office."),
        Rule(name="cards", pattern=r"\d{16}", action="flag"),
        Rule(name="short", shorter_than=3),
        Rule(name="tricks", hidden=True, action="flag"),
    )
    assert load_rules(str(tmp_path / "rules.yaml")) == rules


def test_the_same_as_mappings() -> None:
    rule = Rule(name="b", words=("x",))
    assert load_rules({"rules": [{"name": "a", "words": ["y"]}, rule]}) == (
        Rule(name="a", words=("y",)),
        rule,
    )


def test_all_mistakes_are_listed_with_their_lines(tmp_path: Path) -> None:
    text = """\
version: 2
rule: no
rules:
- {name: open, pattern: '('}
- nam: typo
  words: [yes]
- {name: nothing}

- {name: open, words: [x]}
- just text
- {name: block, action: block, words: [x]}
- {name: twice, words: [x], pattern: a, words: [y]}
"""
    lines = message_for(written(tmp_path, text)).split("\n")
    assert "cannot be used" in lines[0]
    for part in (
        "- its version is 2; there is 1",
        "- it has no field 'rule'",
        "- line 12: the key 'words' is there twice",
        "- rule 1 (line 4, 'open'): its pattern '(' cannot be used: missing )",
        "- rule 2 (line 5): name: Field required; words.0: Input should be a valid string;"
        " it has no field 'nam'; did you mean 'name'?",
        "- rule 3 (line 7, 'nothing'): it states no condition",
        "- rule 4 (line 9, 'open'): its name is that of rule 1",
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
        ("- {name: a, words: [x]}", "hold none"),
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


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "missing.yaml" in message_for(tmp_path / "missing.yaml")
    assert "cannot be read" in message_for(tmp_path)


@pytest.mark.parametrize("given", [{}, {"rules": None}, {"rules": "a"}])
def test_mappings_without_rules_are_an_error(given: dict[str, Any]) -> None:
    assert "hold none" in message_for(given)
