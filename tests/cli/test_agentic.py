"""`refdesk ask --agentic` with a scripted model behind HTTP: turns on stderr, the answer on stdout."""

import json
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from tests.cli.calling import as_json, failing
from tests.cli.conftest import QUESTION, Command, Run
from tests.cli.test_process import STYLE, line_of, on_terminal, started

from refdesk.testing.chat_server import ChatServer, Replying, ServerReply, chat_server

Serve = Callable[..., str]
TIME = re.compile(r"\d[\d,]*(?:\.\d)? m?s\b")
ANSWER = "Every employee has thirty days of leave a year [[1]]."
PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
KEYS = ["tool", "arguments", "iteration", "call_id", "outcome", "summary", "returned_chunk_ids", "seconds"]


def calls(*given: tuple[str, Mapping[str, Any]]) -> ServerReply:
    return ServerReply(calls=given, usage=(1000, 20))


SEARCH = calls(("search", {"query": "thirty days of leave a year"}))
FOUND = (SEARCH, calls(("answer", {"text": ANSWER})))


@pytest.fixture
def servers() -> list[ChatServer]:
    """What was served."""
    return []


@pytest.fixture
def serve(servers: list[ChatServer]) -> Iterator[Serve]:
    """Serve replies, and give the model string."""
    with ExitStack() as stack:

        def model(*replies: Replying) -> str:
            servers.append(stack.enter_context(chat_server(*replies)))
            return f"openai:scripted@{servers[-1].base_url}"

        yield model


def without_times(text: str) -> list[str]:
    return TIME.sub("T", text).splitlines()


def test_turns_go_to_stderr_and_the_answer_to_stdout(filled: Run, serve: Serve) -> None:
    result = filled("ask", "--agentic", QUESTION, "--llm", serve(*FOUND))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Every employee has thirty days of leave a year [1].\n\n[1] Leave — ")
    assert without_times(result.stderr) == [
        "turn 1",
        '  search "thirty days of leave a year" limit=5',
        "    5 passages, 5 new: T",
        "turn 2",
        f'  answer "{ANSWER}"',
        "answered after 2 turns: 2 calls, 2 model requests, 2,000 tokens in, 40 out",
    ]
    streamed = filled("ask", "--agentic", QUESTION, "--llm", serve(*FOUND), "--stream")
    assert streamed.stdout == result.stdout
    assert without_times(streamed.stderr) == without_times(result.stderr)


def test_the_json_has_every_call(filled: Run, serve: Serve) -> None:
    reply = calls(("search", {"query": "leave", "limit": 2}), ("serch", {"query": "x"}))
    record = as_json(filled, "ask", "--agentic", QUESTION, "--llm", serve(reply, *FOUND))
    assert record["terminated_by"] == "answered"
    history = record["tool_history"]
    assert [list(one) for one in history] == [KEYS] * 4
    assert [(one["tool"], one["iteration"], one["outcome"]) for one in history] == [
        ("search", 1, "done"),
        ("serch", 1, "error"),
        ("search", 2, "done"),
        ("answer", 3, "done"),
    ]
    assert history[0]["arguments"] == {"query": "leave", "limit": 2}
    assert len(history[0]["returned_chunk_ids"]) == 2
    assert "serch" in history[1]["summary"]
    assert [step["path"] for step in record["trace"] if step["kind"] in ("turn", "tool")] == [
        ["investigate", "turn-1"],
        ["investigate", "turn-1", "search"],
        ["investigate", "turn-2"],
        ["investigate", "turn-2", "search"],
        ["investigate", "turn-3"],
        ["investigate", "turn-3", "answer"],
    ]


def test_a_trace_shows_turns_and_tools(filled: Run, serve: Serve) -> None:
    shown = filled("ask", "--agentic", QUESTION, "--llm", serve(*FOUND), "--trace").stderr
    names = [line.split("─ ")[1].split()[0] for line in shown.splitlines() if "─ " in line]
    loop = ["investigate", "turn-1", "search", "turn-2", "answer"]
    assert names == ["recall", *loop, "cite", "ground", "remember"]
    depths = [line.index("─ ") for line in shown.splitlines() if "─ " in line]
    assert depths == [1, 1, 4, 7, 4, 7, 1, 1, 1]
    assert re.search(r"search  [\d,]+ ms  query=thirty days of leave a year  hits=5\n", shown)


def test_a_model_that_gives_up(filled: Run, serve: Serve) -> None:
    llm = serve(SEARCH, calls(("give_up", {"reason": "Nothing on it."})))
    result = filled("ask", "--agentic", QUESTION, "--llm", llm)
    assert result.exit_code == 0
    assert "Nothing on it." in result.stdout
    assert result.stderr.splitlines()[4:] == [
        '  give_up "Nothing on it."',
        "gave up after 2 turns: 2 calls, 2 model requests, 2,000 tokens in, 40 out",
        "no answer [gave_up]: the model searched and did not find enough.",
    ]


def test_a_model_that_goes_round_in_circles(filled: Run, serve: Serve) -> None:
    result = filled("ask", "--agentic", QUESTION, "--llm", serve(SEARCH))
    assert result.exit_code == 0
    shown = result.stderr.splitlines()
    assert shown.count("    asked before") == 2
    assert any(line.startswith("stopped at a limit after 3 turns: 3 calls, ") for line in shown)
    assert any(line.startswith("no answer [unfinished]: the search came to a limit") for line in shown)
    record = as_json(filled, "ask", "--agentic", QUESTION, "--llm", serve(SEARCH))
    assert (record["terminated_by"], record["refusal"]) == ("budget", "unfinished")


def test_a_server_that_fails_in_the_midst(filled: Run, serve: Serve) -> None:
    llm = serve(SEARCH, ServerReply(status=400, error="out of order"))
    result = filled("ask", "--agentic", QUESTION, "--llm", llm)
    assert (result.exit_code, result.stdout) == (1, "")
    *turns, ending, error = result.stderr.splitlines()
    assert without_times("\n".join(turns))[2:] == ["    5 passages, 5 new: T", "turn 2"]
    assert re.match(r"ended by an error after 2 turns: 1 call, \d model requests, ", ending)
    assert error.startswith("error [llm_failed]: ")


def test_a_model_that_writes_its_calls(filled: Run, serve: Serve) -> None:
    search = json.dumps({"name": "search", "arguments": {"query": "thirty days of leave a year"}})
    answer = json.dumps({"name": "answer", "arguments": {"text": ANSWER}})
    llm = serve(
        ServerReply(status=400, error="tools are not supported"),
        ServerReply(pieces=[search[:9], search[9:]]),
        ServerReply(pieces=[answer]),
    )
    shown = without_times(filled("ask", "--agentic", QUESTION, "--llm", llm).stderr)
    assert shown[:5] == [
        "turn 1",
        '  search "thirty days of leave a year" limit=5',
        "    5 passages, 5 new: T",
        "turn 2",
        f'  answer "{ANSWER}"',
    ]


def test_texts_of_a_model_do_not_steer_the_terminal(filled: Run, serve: Serve) -> None:
    evil = "a\x1b[2J\u202eb\nturn 9\n[bold red]x[/]" + "z" * 5000
    llm = serve(
        calls(("search", {"query": evil}), (f"tool{evil[:9]}", {evil: evil})),
        calls(("give_up", {"reason": evil})),
    )
    result = filled("ask", "--agentic", QUESTION, "--llm", llm, "--trace")
    assert result.exit_code == 0, result.output
    assert not set(result.output) & {"\x1b", "\u202e", "\x07"}
    assert '  search "a[2Jb turn 9 [bold red]x[/]zzz' in result.stderr
    assert [line for line in result.stderr.splitlines() if line.startswith("turn")] == ["turn 1", "turn 2"]


def test_a_pipeline_of_ones_own_with_a_loop(filled: Run, serve: Serve, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    steps = "- search: {top_k: 1}\n- investigate: {id: dig, max_iterations: 1, fallback_synthesis: false}\n"
    own.write_text(f"version: 1\nsteps:\n{steps}", "utf-8")
    llm = serve(calls(("read", {"passage": 1})))
    result = filled("ask", QUESTION, "--pipeline", str(own), "--llm", llm)
    assert result.exit_code == 0, result.output
    shown = without_times(result.stderr)
    assert shown[:2] == ["turn 1", "  read passage=1, before=1, after=1"]
    assert shown[3].startswith("ran out of turns after 1 turn: 1 call, ")
    record = as_json(filled, "ask", QUESTION, "--pipeline", str(own), "--llm", llm)
    assert (record["terminated_by"], record["refusal"]) == ("max_iterations", "unfinished")


def test_an_answer_from_what_was_found_at_a_limit(
    filled: Run, serve: Serve, servers: list[ChatServer], tmp_path: Path
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("version: 1\nsteps:\n- investigate: {max_iterations: 1}\n- cite\n", "utf-8")
    written = ServerReply(pieces=["Every employee has thirty days of leave a year [[", "1]]."], usage=(9, 9))
    for streams in ("--stream", "--no-stream"):
        result = filled("ask", QUESTION, "--pipeline", str(own), "--llm", serve(SEARCH, written), streams)
        assert result.stdout.startswith("Every employee has thirty days of leave a year [1].\n\n[1] Leave")
        assert result.stderr.splitlines()[3:5] == [
            "ran out of turns after 1 turn: 1 call, 1 model request, 1,000 tokens in, 20 out",
            f"an answer from what was found: Made of 5 passages by openai:scripted@{servers[-1].base_url}.",
        ]


def test_agentic_is_short_for_a_pipeline(filled: Run, serve: Serve) -> None:
    both = filled("ask", "--agentic", "--pipeline", "agentic", QUESTION, "--llm", serve(*FOUND))
    assert both.exit_code == 0
    assert "answered after 2 turns" in both.stderr
    line = failing(filled, "ask", "--agentic", "--pipeline", "simple", QUESTION, code=2)
    assert "--agentic: it is short for --pipeline agentic, and --pipeline is 'simple'." in line


def test_agentic_needs_a_model(filled: Run) -> None:
    result = filled("ask", "--agentic", QUESTION)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "needs a language model" in result.stderr
    assert "turn" not in result.stderr


def test_a_pipeline_without_a_loop_looks_as_ever(filled: Run, llm: str) -> None:
    assert filled("ask", QUESTION, "--llm", llm).stderr == ""
    assert filled("ask", QUESTION, "--llm", llm, "--stream").stderr == ""


def test_a_terminal_shows_turns_before_the_answer(filled: Run, command: Command, serve: Serve) -> None:
    search = calls(("search", {"query": "thirty days of leave a year, also for people who work part-time"}))
    llm = serve(search, FOUND[1])
    code, shown = on_terminal(command, "ask", "--agentic", QUESTION, "--llm", llm, columns=40)
    assert code == 0, shown
    lines = STYLE.sub("", shown).splitlines()
    assert not [line for line in lines if cell_len(line) > 40]
    assert lines[:3] == [
        "turn 1",
        '  search "thirty days of leave a year,',
        '  also for people who work part-time"',
    ]
    text = " ".join(" ".join(lines).split())
    assert text.index("answered after 2 turns") < text.index("leave a year [1].") < text.index("[1] Leave —")


def test_json_on_a_terminal_shows_turns_and_one_document(filled: Run, command: Command, serve: Serve) -> None:
    args = ("ask", "--agentic", QUESTION, "--llm", serve(*FOUND), "--json")
    code, shown = on_terminal(command, *args, columns=80)
    assert code == 0, shown
    turns, _, document = STYLE.sub("", shown).partition("{\n")
    assert "answered after 2 turns" in turns
    assert json.loads("{" + document)["terminated_by"] == "answered"


def test_an_interrupt_says_how_far_the_loop_came(filled: Run, command: Command, serve: Serve) -> None:
    llm = serve(SEARCH, ServerReply(pieces=["Let me ", "think. "], endless=True))
    process = started(command, "ask", "--agentic", QUESTION, "--llm", llm)
    line_of(process.stderr, "turn 2")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output) == (130, "")
    ending, interrupted = errors.splitlines()
    assert ending.startswith("broken off after 2 turns: 1 call, 2 model requests, about ")
    assert interrupted == "Interrupted."


def test_the_page_shows_what_is_shown(filled: Run, serve: Serve) -> None:
    page = PAGE.read_text("utf-8")
    found = re.search(r'^\$ refdesk ask --agentic "([^"]*)"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    assert found, "The page has an example with its output."
    llm = serve(
        calls(("search", {"query": "days of leave a year", "limit": 3})),
        calls(
            ("search", {"query": "carrying over", "limit": 3}),
            ("search", {"query": "days carried over", "limit": 3}),
        ),
        calls(
            (
                "answer",
                {"text": "Every employee has thirty days of leave [[1]]. Ten may be carried over [[5]]."},
            )
        ),
    )
    result = filled("ask", "--agentic", found[1], "--llm", llm)
    assert without_times(found[2]) == without_times(result.stderr + result.stdout)
