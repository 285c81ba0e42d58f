"""Text that documents bring cannot steer the terminal."""

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from refdesk.cli.terminal import Wrapping, clean, one_line, say

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    assert not CONTROL.search(clean(text))


@given(st.text(st.characters(exclude_categories=["C"])))
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    expected = text.replace("\u2028", "").replace("\u2029", "")
    assert clean(text) == expected


def test_escape_sequences_go_whole() -> None:
    assert clean("a\x1b[31mred\x1b[0m b") == "ared b"
    assert clean("\x1b]0;owned\x07title") == "title"
    assert clean("\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\") == "click"
    assert clean("\x9b2Jx") == "x"


def test_nothing_turns_a_line_around_or_hides_in_it() -> None:
    assert clean("a\u202etxt.exe\u202c \u2066b\u2069\U000e0041") == "atxt.exe b"
    assert clean("سلام\u200f \U0001f468\u200d\U0001f469") == "سلام\u200f \U0001f468\u200d\U0001f469"


def test_an_unfinished_sequence_takes_no_text_with_it() -> None:
    assert clean("\x1b]0;never ends\nnext line") == "]0;never ends\nnext line"


def test_one_line_joins_and_cuts() -> None:
    assert one_line(" a\n b\tc ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


def printed(text: str, *, width: int = 40, terminal: bool, indent: int = 0) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, markup=False, color_system=None)
    say(console, text, indent=indent)
    return stream.getvalue()


def test_markup_is_text() -> None:
    for terminal in (True, False):
        assert printed("[bold red]x[/] :smile:", terminal=terminal).strip() == "[bold red]x[/] :smile:"


def test_a_pipe_gets_long_lines_whole() -> None:
    text = "word " * 100 + "end"
    assert printed(text, terminal=False) == text + "\n"


def test_a_terminal_gets_lines_that_fit() -> None:
    lines = printed("some words " * 30, terminal=True, indent=4).splitlines()
    assert len(lines) > 5
    assert all(len(line) <= 40 and line.startswith("    ") for line in lines)


@given(st.lists(st.text(alphabet="ab \n中文\x1b"), max_size=30), st.integers(0, 20))
def test_a_wrapped_stream_has_the_same_words(pieces: list[str], width: int) -> None:
    wrapping = Wrapping(width)
    shown = "".join(map(wrapping.feed, pieces)) + wrapping.flush()
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", clean("".join(pieces)))
    if not width:
        assert shown == clean("".join(pieces))


@given(st.lists(st.text(alphabet="abc 中", min_size=1, max_size=6), max_size=30))
def test_a_wrapped_stream_fits(pieces: list[str]) -> None:
    wrapping = Wrapping(10)
    shown = "".join(map(wrapping.feed, pieces)) + wrapping.flush()
    for line in shown.split("\n"):
        words = line.split()
        assert cell_len(line.rstrip()) <= 10 or len(words) == 1
