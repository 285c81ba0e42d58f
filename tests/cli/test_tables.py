"""Tables in a pipe, in a wide and in a narrow terminal."""

import io

from rich.cells import cell_len
from rich.console import Console

from refdesk.cli.tables import facts, table

HEADINGS = ("source", "title", "chunks")
ROWS = [("a.md", "[red]First[/]", 3), ("folder/中文.md", "\x1b[31mSecond " + "word " * 20, 1200)]


def shown(*, terminal: bool, width: int = 80) -> list[str]:
    stream = io.StringIO()
    options = {"force_terminal": terminal, "width": width, "color_system": None}
    table(Console(file=stream, markup=False, emoji=False, **options), HEADINGS, ROWS)  # type: ignore[arg-type]
    return stream.getvalue().splitlines()


def test_a_pipe_gets_aligned_columns_and_nothing_cut() -> None:
    head, first, second = shown(terminal=False)
    places = {line.index("title" if line is head else "[red]") for line in (head, first)}
    assert len(places) == 1
    assert cell_len(second[: second.index("Second")]) == places.pop()
    assert second.rstrip().endswith("1,200")
    assert second.count("word") == 20
    assert "\x1b" not in second


def test_a_wide_terminal_gets_a_grid_that_fits() -> None:
    lines = shown(terminal=True, width=80)
    assert all(cell_len(line) <= 80 for line in lines)
    assert "[red]First[/]" in lines[1]


def test_a_narrow_terminal_gets_blocks() -> None:
    lines = shown(terminal=True, width=40)
    assert all(cell_len(line) <= 40 for line in lines)
    assert lines[0].rstrip() == "a.md"
    assert lines[1].rstrip() == "  title: [red]First[/]"


def test_facts_leave_out_what_is_empty() -> None:
    stream = io.StringIO()
    pairs = [("title", "T"), ("url", None), ("languages", ("de", "en")), ("new", True)]
    facts(Console(file=stream, force_terminal=False), pairs)
    assert stream.getvalue().splitlines() == ["title      T", "languages  de, en", "new        yes"]
