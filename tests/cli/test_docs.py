"""The generated parts of the docs say all there is to say."""

import importlib.util
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from refdesk.errors import RefdeskError
from refdesk.settings import Settings

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "generate.py"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_setting_is_listed_with_its_meaning(generate: ModuleType) -> None:
    table = generate.settings_table()
    for field in fields(Settings):
        assert f"| `{field.name}` | `REFDESK_{field.name.upper()}` |" in table
    assert "Folder of the embedded store." in table


def test_every_error_is_listed(generate: ModuleType) -> None:
    def below(kind: type[RefdeskError]) -> list[type[RefdeskError]]:
        return [kind, *(one for each in kind.__subclasses__() for one in below(each))]

    table = generate.error_codes()
    assert all(f"| `{kind.code}` |" in table and kind.__name__ in table for kind in below(RefdeskError))


def test_every_command_is_listed(generate: ModuleType) -> None:
    text = generate.command_line()
    for name in ("ingest", "ask", "documents show", "collections delete", "models pull", "eval retrieval"):
        assert f"## refdesk {name}\n" in text
        assert f"Usage: refdesk {name} " in text
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


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
