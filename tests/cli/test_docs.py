"""The generated parts of the docs say all there is to say."""

import importlib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from refdesk.errors import RefdeskError
from refdesk.pipeline import Step
from refdesk.settings import Settings
from refdesk.steps import BUILTIN

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "generate.py"


@pytest.fixture(scope="module")
def generate() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)
        yield importlib.import_module("generate")


def test_every_setting_is_listed_with_its_meaning(generate: ModuleType) -> None:
    table = generate.settings_table()
    for field in fields(Settings):
        assert f"| `{field.name}` | `REFDESK_{field.name.upper()}` |" in table
    assert "Folder of the embedded store" in table


def test_every_error_is_listed(generate: ModuleType) -> None:
    def below(kind: type[RefdeskError]) -> list[type[RefdeskError]]:
        return [kind, *(one for each in kind.__subclasses__() for one in below(each))]

    table = generate.error_codes()
    assert all(f"| `{kind.code}` |" in table and kind.__name__ in table for kind in below(RefdeskError))


def test_every_command_is_listed(generate: ModuleType) -> None:
    text = generate.command_line()
    for name in (
        "ingest",
        "ask",
        "documents show",
        "collections delete",
        "models pull",
        "pipeline check",
        "eval retrieval",
    ):
        assert f"## refdesk {name}\n" in text
        assert f"Usage: refdesk {name} " in text
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


def test_every_step_is_listed_with_what_it_leaves(generate: ModuleType) -> None:
    lines = generate.PARTS["steps"]().splitlines()
    assert lines[0] == "| step | kind | does | reads | writes | `on_error` | when it fails |"
    assert [line.split("`")[1] for line in lines[2:]] == [step.name for step in BUILTIN]
    for step, line in zip(BUILTIN, lines[2:], strict=True):
        assert f"| {step.kind} | {(step.__doc__ or '')[:20]}" in line
        assert line.endswith(f"| {step.leaves} |")
    [search] = [line for line in lines if line.startswith("| `search` ")]
    assert "| `collections`, `filter`, `queries`, " in search
    assert "| `stop` | The results as they were. |" in search


@pytest.mark.parametrize("step", BUILTIN, ids=lambda step: step.name)
def test_every_option_of_a_step_is_listed(generate: ModuleType, step: type[Step]) -> None:
    lines = generate.PARTS[f"step {step.name}"]().splitlines()
    assert lines[0] == "| option | values | default | meaning |"
    assert {line.split("`")[1] for line in lines[2:]} == {one.name for one in fields(step)}
    assert not any(line.endswith("|  |") for line in lines), "Each option says what it means."
    page = f"<!-- generated: step {step.name} -->\n<!-- end -->"
    assert "\n".join(lines) in generate.regenerated(page)


def test_a_part_is_replaced_and_the_rest_left(generate: ModuleType) -> None:
    page = "# Title\n\n<!-- generated: exit codes -->\nstale\n<!-- end -->\n\nText.\n"
    new = generate.regenerated(page)
    assert "stale" not in new
    assert "| 130 |" in new
    assert new.startswith("# Title\n")
    assert new.endswith("<!-- end -->\n\nText.\n")
    assert generate.regenerated(new) == new


def test_an_unknown_part_is_an_error(generate: ModuleType) -> None:
    with pytest.raises(KeyError, match="weather"):
        generate.regenerated("<!-- generated: weather -->\n<!-- end -->")
