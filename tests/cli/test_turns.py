"""Lines of what a loop does: readable, each on its own, whatever a model writes."""

import io
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from refdesk.cli.answers import notes
from refdesk.cli.ask import Live
from refdesk.cli.session import Session
from refdesk.cli.traces import tree
from refdesk.cli.turns import LONGEST, Line, Turns, call_text, ending, outcome_text, show, shown
from refdesk.context import NO_USAGE, Answer, Trace, Usage
from refdesk.errors import LLMError
from refdesk.events import (
    Event,
    LoopFinished,
    ModelCalled,
    StepFinished,
    StepStarted,
    Token,
    ToolFinished,
    ToolStarted,
)
from refdesk.tooluse import ToolUse

LOOP = ("investigate",)
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def told(events: Iterable[Event]) -> list[str]:
    """Return the lines that events make, indented as they are shown."""
    turns = Turns()
    return [" " * line.indent + line.text for event in events for line in turns.lines(event)]


def turn(number: int, path: tuple[str, ...] = LOOP) -> StepStarted:
    return StepStarted(run_id="r", path=(*path, f"turn-{number}"), kind="turn")


def turn_ended(number: int, **measures: Any) -> StepFinished:
    path = (*LOOP, f"turn-{number}")
    return StepFinished(run_id="r", path=path, kind="turn", outcome="done", seconds=1.0, measures=measures)


def called(
    iteration: int, tool: str, call_id: str = "", path: tuple[str, ...] = LOOP, **arguments: Any
) -> ToolStarted:
    return ToolStarted(
        run_id="r", path=path, iteration=iteration, call_id=call_id, tool=tool, arguments=arguments
    )


def ended(iteration: int, tool: str, path: tuple[str, ...] = LOOP, **use: Any) -> ToolFinished:
    return ToolFinished(run_id="r", path=path, use=ToolUse(tool=tool, iteration=iteration, **use))


def asked(path: tuple[str, ...], usage: Usage) -> ModelCalled:
    return ModelCalled(run_id="r", path=path, model="m", seconds=1.0, usage=usage)


def finished(how: Any, iterations: int, *uses: ToolUse, path: tuple[str, ...] = LOOP) -> LoopFinished:
    return LoopFinished(run_id="r", path=path, terminated_by=how, iterations=iterations, tool_history=uses)


def test_a_loop_is_told_turn_by_turn() -> None:
    found = ended(1, "search", returned_chunk_ids=("a", "b"), seconds=2.14)
    again = ended(2, "search", call_id="2", returned_chunk_ids=("b", "c", "d"), seconds=0.03)
    assert told(
        [
            turn(1),
            asked((*LOOP, "turn-1"), Usage(requests=1, input_tokens=1200, output_tokens=30, cost=0.001)),
            called(1, "search", query="who directed Alien", collection="films"),
            found,
            turn(2),
            asked((*LOOP, "turn-2"), Usage(requests=1, input_tokens=2800, output_tokens=12, cost=0.0011)),
            called(2, "search", "2", query="Ridley Scott born"),
            again,
            called(3, "answer", text="He was born in 1937 [[3]]."),
            ended(3, "answer", seconds=0.0, summary="Answered."),
            asked(("ground",), Usage(requests=5, input_tokens=1)),
            finished("answered", 3, found.use, again.use, ended(3, "answer").use),
        ]
    ) == [
        "turn 1",
        '  search "who directed Alien" in films',
        "    2 passages, 2 new: 2.1 s",
        "turn 2",
        '  search "Ridley Scott born"',
        "    3 passages, 2 new: 30 ms",
        "turn 3",
        '  answer "He was born in 1937 [[3]]."',
        "answered after 3 turns: 3 calls, 2 model requests, 4,000 tokens in, 42 out, $0.0021",
    ]


def test_calls_of_one_turn_at_once_can_be_told_apart() -> None:
    assert told(
        [
            turn(1),
            called(1, "search", "1", query="Alien"),
            called(1, "search", "2", query="Blade Runner"),
            ended(1, "search", call_id="2", returned_chunk_ids=("b",), seconds=0.5),
            ended(1, "search", call_id="1", returned_chunk_ids=("a", "b"), seconds=1.5),
        ]
    ) == [
        "turn 1",
        '  search "Alien"',
        '  search "Blade Runner"',
        "    1 passage, 1 new: 500 ms",
        '    search "Alien" — 2 passages, 1 new: 1.5 s',
    ]


def test_calls_without_ids_are_matched_in_order() -> None:
    lines = told(
        [
            called(1, "search", query="one"),
            called(1, "search", query="two"),
            ended(1, "search", outcome="repeated"),
            ended(1, "search", returned_chunk_ids=("a",), seconds=1),
        ]
    )
    assert lines[3:] == ['    search "one" — asked before', '    search "two" — 1 passage, 1 new: 1.0 s']


def test_calls_that_were_never_run_are_told_too() -> None:
    assert told(
        [
            turn(1),
            ended(
                1, "serch", arguments={"raw": "{oops"}, outcome="error", summary="There is no tool 'serch'."
            ),
            ended(
                1, "search", arguments={"query": "x"}, outcome="refused", summary="No more calls are left."
            ),
        ]
    ) == [
        "turn 1",
        "  serch {oops",
        "    error: There is no tool 'serch'.",
        '  search "x"',
        "    refused: No more calls are left.",
    ]


def test_a_turn_without_a_call_says_so() -> None:
    assert told([turn(1), turn_ended(1)]) == ["turn 1", "  no tool was called: its words are the answer"]
    sent_back = told([turn(1), turn_ended(1, remark="Search\nfirst.")])
    assert sent_back == ["turn 1", "  no tool was called; the model is told: Search first."]
    assert told([turn(1), called(1, "search", query="x"), turn_ended(1)])[-1] == '  search "x"'


def test_loops_of_one_run_are_told_apart() -> None:
    second = ("repeat", "2", "investigate")
    lines = told(
        [
            turn(1),
            called(1, "search", query="x"),
            ended(1, "search", returned_chunk_ids=("a",)),
            turn(1, second),
            called(1, "search", path=second, query="x"),
            ended(1, "search", path=second, returned_chunk_ids=("a",), seconds=1),
            asked((*second, "turn-1"), Usage(requests=1)),
            finished("gave_up", 1, path=second),
        ]
    )
    assert lines[0] == "turn 1"
    assert lines[3:] == [
        "repeat / 2 / investigate: turn 1",
        '  search "x"',
        "    1 passage, 1 new: 1.0 s",
        "repeat / 2 / investigate: gave up after 1 turn: 0 calls, 1 model request, 0 tokens in, 0 out",
    ]


def test_events_of_other_steps_make_no_lines() -> None:
    step = StepStarted(run_id="r", path=("search",), kind="retriever")
    done = StepFinished(run_id="r", path=("search",), kind="retriever", outcome="done", seconds=1)
    part = StepStarted(run_id="r", path=("answer", "self_correct"), kind="part")
    assert told([step, done, part, asked(("answer",), Usage(requests=1))]) == []


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("answered", "answered after 2 turns: 0 calls"),
        ("gave_up", "gave up after 2 turns: 0 calls"),
        ("max_iterations", "ran out of turns after 2 turns: 0 calls"),
        ("budget", "stopped at a limit after 2 turns: 0 calls"),
        ("error", "ended by an error after 2 turns: 0 calls"),
        ("cancelled", "broken off after 2 turns: 0 calls"),
    ],
)
def test_every_ending_is_said(how: Any, said: str) -> None:
    assert ending(finished(how, 2), NO_USAGE) == said


def test_an_answer_made_at_a_limit_comes_after_the_end() -> None:
    end = finished("budget", 1, ToolUse(tool="search", iteration=1))
    made = ended(1, "synthesis", arguments={"text": "Long."}, summary="Made of 5 passages by m.")
    assert told([turn(1), called(1, "search", query="x"), ended(1, "search"), end, made])[-2:] == [
        "stopped at a limit after 1 turn: 1 call",
        "an answer from what was found: Made of 5 passages by m.",
    ]


def live(*, streams: bool, json: bool = False, terminal: bool = False) -> tuple[Live, io.StringIO]:
    """Return what shows a run, and where both streams come together, as on a terminal."""
    both = io.StringIO()
    console = Console(file=both, width=60, force_terminal=terminal, color_system=None, markup=False)
    session = Session(library=None, verbose=False, json=json, out=console, err=console)
    return Live(session, streams=streams), both


def test_a_turn_never_breaks_a_line_of_the_answer() -> None:
    shows, both = live(streams=True)
    for event in (turn(1), Token("Thirty "), called(1, "search", query="x"), Token("days.")):
        shows(event)
    assert both.getvalue() == "turn 1\nThirty days."
    shows.end()
    assert both.getvalue() == 'turn 1\nThirty days.\n  search "x"\n'


def test_pieces_are_not_shown_where_nothing_streams() -> None:
    shows, both = live(streams=False)
    for event in (turn(1), Token("Thirty "), called(1, "search", query="x")):
        shows(event)
    shows.end()
    assert both.getvalue() == 'turn 1\n  search "x"\n'


@pytest.mark.parametrize(("terminal", "lines"), [(True, "turn 1\n"), (False, "")])
def test_json_has_turns_beside_it_only_on_a_terminal(terminal: bool, lines: str) -> None:
    shows, both = live(streams=False, json=True, terminal=terminal)
    shows(turn(1))
    shows.end()
    assert re.sub(r"\x1b\[[0-9;]*m", "", both.getvalue()) == lines


def test_estimated_figures_say_so_and_the_synthesis_is_no_call() -> None:
    event = finished("budget", 1, ToolUse(tool="search", iteration=1), ToolUse(tool="synthesis", iteration=1))
    usage = Usage(requests=2, input_tokens=10, output_tokens=5, estimated=True)
    assert ending(event, usage).endswith(": 1 call, 2 model requests, about 10 tokens in, about 5 out")


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("search", {"query": "a", "limit": 5, "collection": None}, 'search "a" limit=5'),
        ("search", {"query": 'say "hi"', "collection": "b c"}, 'search "say \\"hi\\"" in b c'),
        ("read", {"passage": 3, "before": 1}, "read passage=3, before=1"),
        ("give_up", {"reason": "nothing\non it"}, 'give_up "nothing on it"'),
        ("weather", {"city": "New York", "days": [1, 2]}, 'weather city="New York", days=[1, 2]'),
        ("search", {"query": ["a"], "collection": 7}, 'search query=["a"], collection=7'),
        ("list", {}, "list"),
    ],
)
def test_a_call_is_one_readable_line(tool: str, arguments: dict[str, Any], text: str) -> None:
    assert call_text(tool, arguments) == text


def test_arguments_too_deep_for_json_are_shown_as_dots() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert call_text("weather", {"city": deep}) == "weather city=…"


def test_what_came_of_a_call() -> None:
    def came(tool: str, **fields: Any) -> str:
        return outcome_text(ToolUse(tool=tool, iteration=1, **fields), 0)

    assert came("search", seconds=0.25) == "nothing found: 250 ms"
    assert came("weather", summary="12 degrees", seconds=61) == "12 degrees: 61.0 s"
    assert came("weather") == "done: 0 ms"
    assert came("answer", summary="Answered.") == ""
    assert came("answer", outcome="refused", summary="Search first.") == "refused: Search first."


HOSTILE = (
    "a\x1b[2J\x1b]0;owned\x07b",
    "one\r\ntwo\nturn 9\n  answer",
    "\u202etxt.exe\u2066 \U000e0041",
    "[bold red]x[/] :smile:",
    "\x9b31m\x85\u2028",
    "\ud800",
    "z" * 1_000_000,
    "zero\u200bwidth\u200f",
)


def printed(lines: Iterable[Line], *, terminal: bool, width: int = 60) -> str:
    stream = io.StringIO()
    show(Console(file=stream, width=width, force_terminal=terminal, color_system=None, markup=False), lines)
    return stream.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_of_a_model_are_text(text: str, terminal: bool) -> None:
    arguments: dict[str, Any] = {"query": text, "collection": text, f"x{text}": [text]}
    events: list[Event] = [
        called(1, text, text, **arguments),
        ended(1, text, call_id=text, outcome="error", summary=text),
        ended(1, text, outcome="refused", summary=text, arguments={"raw": text}),
    ]
    turns = Turns()
    shown_all = printed((line for event in events for line in turns.lines(event)), terminal=terminal)
    assert not CONTROL.search(shown_all)
    assert not set(shown_all) & set("\u200b\u200f\U000e0041\ud800")
    heads = [line for line in shown_all.splitlines() if not line.startswith(" ")]
    assert heads == ["turn 1"]
    assert all(cell_len(line) <= (60 if terminal else LONGEST * 2 + 10) for line in shown_all.splitlines())
    if "[bold" in text:
        assert "[bold red]x[/] :smile:" in " ".join(shown_all.split())


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text() | st.lists(st.floats() | st.text())))
def test_a_call_stays_on_its_line(tool: str, query: str, more: dict[str, Any]) -> None:
    line = call_text(tool, {**more, "query": query})
    assert "\n" not in line
    assert not CONTROL.search(line)
    assert len(line) <= LONGEST


def test_wide_characters_fit_a_narrow_terminal() -> None:
    turns = Turns()
    event = called(1, "search", query="那部电影的导演是谁" * 10)
    lines = printed(turns.lines(event), terminal=True, width=30).splitlines()
    assert len(lines) > 4
    assert all(cell_len(line) <= 30 for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])


def test_a_reader_that_is_gone_is_no_error() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    show(Console(file=Gone(), markup=False), [Line("turn 1")])


def test_a_text_is_cut_before_it_is_cleaned() -> None:
    assert shown("a" * 10_000_000, 10) == "aaaaaaaaa…"


def test_refusals_of_a_loop_read_well() -> None:
    def noted(refusal: str) -> list[str]:
        return list(notes(Answer(question="?", text="", refusal=refusal)))

    assert noted("gave_up") == ["no answer [gave_up]: the model searched and did not find enough."]
    assert noted("unfinished") == [
        "no answer [unfinished]: the search came to a limit before there was an answer."
    ]
    assert noted("nothing_found") == ["no answer [nothing_found]"]


def test_a_trace_has_tools_inside_of_turns() -> None:
    def trace(*path: str, kind: str, started: float, **measures: Any) -> Trace:
        return Trace(path=path, kind=kind, outcome="done", started=started, seconds=0.01, measures=measures)

    lines = list(
        tree(
            [
                trace("investigate", "turn-1", "search", kind="tool", started=0.2, iteration=1, hits=5),
                trace("investigate", "turn-1", "a\nb", kind="tool", started=0.3, outcome="error"),
                trace("investigate", "turn-1", kind="turn", started=0.1),
                trace("investigate", kind="answer_generator", started=0.0, iterations=1),
            ]
        )
    )
    assert lines == [
        "└─ investigate  10 ms  iterations=1",
        "   └─ turn-1  10 ms",
        "      ├─ search  10 ms  hits=5",
        "      └─ a b  10 ms  outcome=error",
    ]


def test_a_request_that_failed_is_no_line() -> None:
    failed = ModelCalled(
        run_id="r", path=LOOP, model="m", seconds=1, usage=Usage(requests=1), error=LLMError("down")
    )
    assert told([failed, finished("error", 1)]) == [
        "ended by an error after 1 turn: 0 calls, 1 model request, 0 tokens in, 0 out"
    ]
