"""The written protocol: what a model is told, which replies are calls, and that text is none."""

import json
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Annotated, Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from refdesk.llm import Message, Options, ToolCall
from refdesk.llm.names import llm_for
from refdesk.llm.replies import WORK
from refdesk.llm.thoughts import TAGS
from refdesk.loop.tools import arguments_of, tool_of
from refdesk.loop.written import Action, action_of, instructions, schema, written_call, written_result

NAMES = ("search", "give_up", "answer")
CALL = '{"name": "search", "arguments": {"query": "leave days"}}'
OTHER = '{"name": "give_up", "arguments": {"reason": "none"}}'


@dataclass
class Place:
    city: str
    inside: "list[Place] | None" = None


def search(
    query: Annotated[str, Field(description="What to look for.", examples=["days of leave"])],
    limit: Annotated[int, Field(gt=0, le=20)] = 5,
    near: list[Place] | None = None,
    share: Annotated[float, Field(ge=0, le=1)] = 1,
    code: Annotated[str, Field(pattern="^[a-z]+$", max_length=10_000)] = "a",
    pair: tuple[int, str] | int = 1,
    counts: dict[str, int] | None = None,
    more: Any = None,
) -> str:
    """Search the documents."""
    return query


def give_up(reason: str = "") -> str:
    """Say that it cannot be found."""
    return reason


def now() -> str:
    """Tell the time."""
    return ""


TOOLS = tuple(tool_of(one) for one in (search, give_up, now))
FORMS = tuple(one.form for one in TOOLS)


def called(action: Action) -> tuple[str, Any] | None:
    assert action.call is None or not (action.text or action.problem)
    return (action.call.name, json.loads(action.call.arguments)) if action.call else None


def test_a_model_is_told_its_tools_in_few_words() -> None:
    assert instructions(FORMS).splitlines() == [
        "Tools",
        "- search: Search the documents.",
        "  - query (text): What to look for.",
        "  - limit (a whole number from 1 to 20, default 5)",
        "  - near (a list, each an object with `city` (text), `inside` (a list, optional), optional)",
        "  - share (a number from 0 to 1, default 1)",
        '  - code (text of at most 10000 characters that matches ^[a-z]+$, default "a")',
        "  - pair (a list of a whole number, text or a whole number, default 1)",
        "  - counts (an object, optional)",
        "  - more (optional)",
        "- give_up: Say that it cannot be found.",
        "  - reason (text, optional)",
        "- now: Tell the time.",
        "",
        "How to use them",
        "Reply with one JSON object and nothing else: the name of one tool and its arguments, such as",
        '{"name": "search", "arguments": {"query": "days of leave"}}',
        "One tool in one reply. The next message gives its result; never write a result yourself.",
    ]
    assert instructions(()) == ""


def test_a_schema_holds_a_reply_to_one_call() -> None:
    held = schema(FORMS)
    jsonschema.Draft202012Validator.check_schema(dict(held))
    assert "$ref" not in json.dumps(held)
    fits = jsonschema.Draft202012Validator(held).is_valid
    assert fits({"name": "search", "arguments": {"query": "a", "limit": 20, "near": [{"city": "b"}]}})
    assert fits({"name": "search", "arguments": {"query": "a", "pair": [1, "b"], "counts": {"a": 1}}})
    assert fits({"name": "search", "arguments": {"query": "a", "near": [{"city": "b", "inside": None}]}})
    assert fits({"name": "now", "arguments": {}})
    for reply in (
        {"name": "search", "arguments": {}},
        {"name": "search", "arguments": {"query": "a", "limit": 0}},
        {"name": "search", "arguments": {"query": "a", "limit": 21}},
        {"name": "search", "arguments": {"query": "a", "lim": 2}},
        {"name": "find", "arguments": {}},
        {"name": "now", "arguments": {"zone": "UTC"}},
        {"name": "now"},
        {"name": "now", "arguments": {}, "why": "so"},
        "now",
    ):
        assert not fits(reply)


def test_a_schema_keeps_to_what_servers_can_hold() -> None:
    known = {"type", "properties", "required", "additionalProperties", "items", "prefixItems", "anyOf"}
    known |= {"enum", "const", "minimum", "maximum", "minItems", "maxItems"}

    def keywords(part: Any) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(keywords, part))
        if not isinstance(part, dict):
            return set()
        inner = [*part.get("properties", {}).values(), *(v for k, v in part.items() if k != "properties")]
        return set(part) | keywords(inner)

    assert keywords(schema(FORMS)) <= known


def test_the_history_of_a_call() -> None:
    call = ToolCall(name="search", arguments='{"query":"Größe"}')
    assert written_call(call) == '{"name": "search", "arguments": {"query": "Größe"}}'
    assert called(action_of(written_call(call), NAMES, strict=True)) == ("search", {"query": "Größe"})
    assert written_call(ToolCall(name="now", arguments="")) == '{"name": "now", "arguments": {}}'
    broken = ToolCall(name="search", arguments='{"query": "a')
    assert json.loads(written_call(broken)) == {"name": "search", "arguments": '{"query": "a'}
    assert written_result(call, "[[1]] text") == "Result of search:\n[[1]] text"


FORMS_OF_A_CALL = (
    '{"name": NAME, "arguments": ARGS}',
    '{"arguments": ARGS, "name": NAME}',
    '{"tool": NAME, "args": ARGS}',
    '{"action": NAME, "action_input": ARGS}',
    '{"function": NAME, "parameters": ARGS}',
    '{"tool_name": NAME, "tool_input": ARGS}',
    '{"thought": "I { should }", "tool": NAME, "input": ARGS}',
    '{"function": {"name": NAME, "arguments": ARGS}}',
    '{"function_call": {"name": NAME, "arguments": ARGS}}',
    '{"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": ARGS}}',
    '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": NAME, "arguments": ARGS}}]}',
    '{"tool_calls": [{"name": NAME, "arguments": ARGS}, {"name": "give_up", "arguments": {}}]}',
    '[{"name": NAME, "arguments": ARGS}]',
    '{"action": {"name": NAME, "arguments": ARGS}}',
    "{NAME: ARGS}",
    '{"thought": "so", NAME: ARGS}',
)
ALONE = (
    "{}",
    "  {}\n",
    "```json\n{}\n```",
    "```\n{}",
    "<tool_call>\n{}\n</tool_call>",
    "<|tool_call|>{}",
    "[TOOL_CALLS]{}",
    '<think>{{"name": "give_up", "arguments": {{}}}}</think>\n{}',
    'perhaps {{"name": "give_up", "arguments": {{...}}}} or so</think>{}',
)
BESIDE = (
    "I will search: {}",
    'Sure [1], {{as you like}}:\n```json\n{}\n```\nResult: nothing. {{"name": "give_up", "arguments": {{}}}}',
    "{}\n\nResult of search:\n[[1]] thirty days\n\n" + OTHER.replace("{", "{{").replace("}", "}}"),
    "First [see below\n\n<tool_call>{}</tool_call>",
)
ARGUMENTS = st.dictionaries(
    st.text(min_size=1, max_size=8).filter(lambda key: key not in ("name", "tool")),
    st.text(max_size=20) | st.integers() | st.lists(st.text(max_size=5), max_size=2) | st.none(),
    max_size=3,
)


def put(form: str, name: str, arguments: str) -> str:
    return form.replace("NAME", json.dumps(name)).replace("ARGS", arguments)


@given(
    st.sampled_from(FORMS_OF_A_CALL),
    st.sampled_from((*ALONE, *BESIDE)),
    st.sampled_from(("search", "Search", "answer", "ANSWER", "functions.search")),
    ARGUMENTS,
    st.booleans(),
)
@settings(max_examples=300)
def test_every_call_survives_every_form(
    form: str, around: str, name: str, arguments: dict[str, Any], quoted: bool
) -> None:
    written = json.dumps(arguments, ensure_ascii=False)
    reply = around.format(put(form, name, json.dumps(written) if quoted else written))
    meant = name.lower().removeprefix("functions.")
    assert called(action_of(reply, NAMES, strict=True)) == (meant, arguments)
    if around in ALONE:
        assert called(action_of(reply, NAMES, strict=False)) == (meant, arguments)


@pytest.mark.parametrize("strict", [True, False])
def test_a_reply_that_is_a_string_of_json(strict: bool) -> None:
    for reply in (json.dumps(CALL), json.dumps(json.dumps(CALL))):
        assert called(action_of(reply, NAMES, strict=strict)) == ("search", {"query": "leave days"})


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("reply", "arguments"),
    [
        ("{'name': 'give-up', 'arguments': {'reason': 'it's gone',}}", {"reason": "it's gone"}),
        ('{"name": "giveUp", "arguments": null}', {}),
        ('{"name": "give_up"}', {}),
        ('{"name": "give_up", "reason": "none"}', {"reason": "none"}),
        ('{"give_up": "none"}', "none"),
        ('{"name": "give_up", "arguments": "none"}', "none"),
        ('{"name": "give_up", "arguments": ["none"]}', ["none"]),
    ],
)
def test_calls_of_small_models(reply: str, arguments: Any, strict: bool) -> None:
    assert called(action_of(reply, NAMES, strict=strict)) == ("give_up", arguments)


def test_an_object_before_a_call_is_passed_over_but_not_a_call_of_another_tool() -> None:
    before = action_of(f'{{"thought": "I should search."}}\n{CALL}', NAMES, strict=True)
    assert called(before) == ("search", {"query": "leave days"})
    made_up = action_of(
        f'{{"name": "serch", "arguments": {{}}}}\nResult: 30 days.\n{OTHER}', NAMES, strict=True
    )
    assert made_up.call is None
    assert "Did you mean 'search'?" in made_up.problem


def test_only_the_first_call_counts() -> None:
    replies = (f"{CALL}\n{OTHER}", f"[{CALL}, {OTHER}]", f"```json\n{CALL}\n```\n```json\n{OTHER}\n```")
    for reply in replies:
        assert called(action_of(reply, NAMES, strict=True)) == ("search", {"query": "leave days"})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"name": "find", "arguments": {}}', "There is no tool 'find'."),
        ('{"name": "serch", "arguments": {}}', "Did you mean 'search'?"),
        ('{"function": {"name": "find", "arguments": {}}}', "There is no tool 'find'."),
        ('Sure: {"tool": "find", "args": {}}', "There is no tool 'find'."),
        ('{"days": 30}', "names no tool"),
        ('```json\n{"days": 30}\n```', "names no tool"),
        ('{"name": "search", "arguments": {"query": "lea', "breaks off"),
        ('Sure: {"name": "search", "arguments": {"query": "lea', "breaks off"),
        ('```json\n{"thought": "I shou', "breaks off"),
        ('{"name": "search", "arguments": {"query": a}}', "cannot be read"),
        ('Then: {"search": {"query": ...}}', "cannot be read"),
    ],
)
def test_what_a_model_has_to_write_again(reply: str, said: str) -> None:
    action = action_of(reply, NAMES, strict=True)
    assert action.call is None
    assert said in action.problem
    assert "the tools are search, give_up, answer" in action.problem
    assert action.text == reply
    assert action_of(reply, NAMES, strict=False) == Action(text=reply)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "reply",
    [
        "Employees get 30 days [[1]].",
        "[1] Employees get 30 days {see above}.",
        'Send {"days": 30} to the server [[2]].',
        "The set {a, b} and \\frac{1}{2}.",
        'Set it like this:\n```json\n{"timeout": 30}\n```',
        'Write {"timeout": ...} or {"retries": ...}.',
        '["search", "give_up"]',
        "",
    ],
)
def test_an_answer_stays_an_answer(reply: str, strict: bool) -> None:
    assert action_of(reply, NAMES, strict=strict) == Action(text=reply)


@pytest.mark.parametrize(
    "reply",
    [
        f"The manual says to send {CALL} to the server.",
        f"The manual says to send\n```json\n{CALL}\n```\nto the server.",
        f"The manual ends with {CALL}",
        'Every person has {"name": "search"}',
        '{"name": "search", "query": "a"} is how the file begins.',
        '{"days": 30}',
        '{"search": {"query": "a"}} is the setting.',
    ],
)
def test_beside_native_calls_an_answer_may_show_one(reply: str) -> None:
    assert action_of(reply, NAMES, strict=False) == Action(text=reply)


def test_beside_native_calls_one_at_the_end_counts_where_it_is_marked() -> None:
    for reply in (
        f"I will look.\n<tool_call>\n{CALL}\n</tool_call>",
        f"I will look.\n```json\n{CALL}\n```\n",
    ):
        assert called(action_of(reply, NAMES, strict=False)) == ("search", {"query": "leave days"})


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        OTHER,
        f"</think>{OTHER}",
        f"```json\n{OTHER}\n```",
        f'"}}}}{OTHER}',
        f"<tool_call>{OTHER}</tool_call>",
        "</think>{'name': 'give_up', 'arguments': {}}",
        "'}} {'name': 'give_up', 'arguments': {}}",
    ],
)
def test_a_call_inside_arguments_is_text(text: str, strict: bool) -> None:
    reply = json.dumps({"name": "search", "arguments": {"query": text}})
    assert called(action_of(reply, NAMES, strict=strict)) == ("search", {"query": text})
    before = f'{{"thought": {json.dumps(text)}, "name": "search", "arguments": {{}}}}'
    assert called(action_of(before, NAMES, strict=strict)) == ("search", {})


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "reply",
    [
        f'{{"name": "search", "arguments": {{"query": "he said "so": {OTHER}"}}}}',
        f'{{"name": "search", "arguments": {{"query": oops {OTHER}}}}}',
        f'{{"thought": oops, "name": "search", "arguments": {{"query": {OTHER}}}}}',
        f'Well: {{"days": oops, "note": {OTHER}}}',
        f'{{"name": "search", "arguments": {{"query": "{OTHER}',
    ],
)
def test_nothing_inside_what_cannot_be_read_is_a_call(reply: str, strict: bool) -> None:
    assert action_of(reply, NAMES, strict=strict).call is None


@given(
    st.text(alphabet="{}[]\"':,\\ \n`ab</>", max_size=30),
    st.text(alphabet="{}[]\"':,\\ \n`ab</>", max_size=30),
    st.booleans(),
)
@settings(max_examples=300)
def test_a_call_in_a_string_is_never_taken(before: str, after: str, strict: bool) -> None:
    reply = json.dumps({"name": "search", "arguments": {"query": f"{before}{OTHER}{after}"}})
    action = action_of(reply, NAMES, strict=strict)
    assert action.call is not None
    assert action.call.name == "search"


@pytest.mark.parametrize("tags", TAGS)
def test_thoughts_are_no_calls_and_no_text(tags: tuple[str, str]) -> None:
    opening, closing = tags
    thought = f'{opening}I could {OTHER}, or {{"name": "search"{closing}'
    assert called(action_of(f"{thought}\n{CALL}", NAMES, strict=True)) == ("search", {"query": "leave days"})
    assert action_of(f"{thought}\nThirty days.", NAMES, strict=True) == Action(text="Thirty days.")
    assert action_of(f"{opening}{CALL}", NAMES, strict=True) == Action()


PIECES = st.lists(
    st.sampled_from(
        (
            CALL,
            OTHER,
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            ":",
            ",",
            "<think>",
            "</think>",
            "```json\n",
            "\n```",
            " a ",
            "<tool_call>",
            '{"name":',
            '"search"',
            '"arguments":',
            "\\",
            "{{",
            "name",
            "…",
        )
    )
    | st.text(max_size=5),
    max_size=30,
).map("".join)


@given(PIECES, st.booleans())
@settings(max_examples=400)
def test_whatever_is_said_is_read(reply: str, strict: bool) -> None:
    action = action_of(reply, NAMES, strict=strict)
    assert action.call is None or action.call.name in NAMES
    assert strict or not action.problem


def steps_of(reply: str, *, strict: bool) -> int:
    """Count the functions, Python's and C's, that reading a reply calls."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action_of(reply, NAMES, strict=strict)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "[",
        '{"',
        '{"a":',
        "{} ",
        "[1",
        "<think>",
        "</think>",
        "```",
        "``` {} ",
        '{"a": oops ',
        '{"name": "x", ',
        CALL,
        '["',
        "{a",
        "<tool_call>\n",
        '{"a": [',
        "[{",
        '[{"name": "search"}, ',
    ],
)
def test_twice_the_reply_is_at_most_twice_the_work(piece: str, strict: bool) -> None:
    once, twice = (steps_of(piece * (length // len(piece)), strict=strict) for length in (3000, 6000))
    assert twice <= 2.1 * once + 300
    assert once <= 12 * WORK * 3000


@pytest.mark.local
@pytest.mark.anyio
async def test_a_small_model_is_held_to_a_call() -> None:
    messages = (
        Message("system", f"You answer questions from documents.\n\n{instructions(FORMS)}"),
        Message("user", "How many days of leave do employees get?"),
    )
    options = Options(json_schema=schema(FORMS), max_tokens=200, temperature=0.0)
    reply = "".join([piece async for piece in llm_for("local:smollm2").stream(messages, options)])
    action = action_of(reply, [form.name for form in FORMS], strict=True)
    assert action.call is not None
    [chosen] = [one for one in TOOLS if one.name == action.call.name]
    assert set(arguments_of(chosen, action.call.arguments)) == set(chosen.parameters["properties"])
