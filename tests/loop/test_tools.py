"""Tools of typed functions: what a model is told of them, what it may write, what it reads back."""

import enum
import functools
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NotRequired
from typing import TypedDict as OldTypedDict

import anyio
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, create_model
from typing_extensions import TypedDict

from refdesk.context import Context
from refdesk.errors import InputError, ToolError
from refdesk.llm import ToolForm
from refdesk.llm.replies import LONGEST
from refdesk.loop.schemas import MOST_NODES
from refdesk.loop.tools import (
    LONGEST_RESULT,
    Tool,
    arguments_of,
    text_of_result,
    tool,
    tool_of,
    tools_of,
)

pytestmark = pytest.mark.anyio


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    city: str
    inside: "list[Place]" = field(default_factory=list)


class Period(TypedDict):
    start: date
    end: NotRequired[date]


class Old(OldTypedDict):
    a: int


def search(query: str, limit: Annotated[int, Field(ge=1, le=20, description="How many.")] = 5) -> str:
    """Search the documents.

    Only those that may be read.
    """
    return f"{query} {limit}"


def plan(
    colour: Colour,
    period: Period,
    where: Place | None = None,
    kind: Literal["a", "b", "c"] = "a",
    tags: list[str] = Field(default_factory=list, max_length=3),  # noqa: B008
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    most: int | None = 4,
    pair: tuple[int, str] = (1, "x"),
    by_name: dict[str, int] | None = None,
) -> None:
    """Plan."""


SEARCH, PLAN = tool_of(search), tool_of(plan)
RIGHT = {"colour": "red", "period": {"start": "2026-01-31"}}


def wrong(tool: Tool, written: Any) -> str:
    with pytest.raises(ToolError) as raised:
        arguments_of(tool, written if isinstance(written, str) else json.dumps(written))
    return str(raised.value)


def test_a_function_becomes_a_tool() -> None:
    assert SEARCH.form == ToolForm(
        name="search",
        description="Search the documents.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 20,
                    "default": 5,
                    "description": "How many.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    )
    assert not SEARCH.acts
    assert tool_of(SEARCH) is SEARCH


def test_a_schema_has_no_titles_and_names_a_form_only_where_it_holds_itself() -> None:
    text = json.dumps(PLAN.parameters)
    assert '"title"' not in text
    assert text.count("$ref") == 2  # in the place inside a place, and in the form that this names
    jsonschema.Draft202012Validator.check_schema(dict(PLAN.parameters))
    properties = PLAN.parameters["properties"]
    assert properties["colour"] == {"type": "string", "enum": ["red", "blue"]}
    assert properties["period"]["required"] == ["start"]
    assert properties["by_name"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert {"type": "null"} in properties["most"]["anyOf"]


def test_a_parameter_may_have_any_name() -> None:
    def odd(title: str, schema: str, model_dump: str, _hidden: str, name: str, function: str) -> str:
        return title + schema + model_dump + _hidden + name + function

    made = tool_of(odd)
    given = {name: name[0] for name in made.parameters["properties"]}
    assert list(given) == ["title", "schema", "model_dump", "_hidden", "name", "function"]
    assert arguments_of(made, json.dumps(given)) == given
    assert anyio.run(functools.partial(made.run, **given)) == "tsm_nf"


def test_what_was_given_goes_before_what_the_function_says() -> None:
    made = tool(search, name="find", description="Find.", acts=True)
    assert (made.name, made.description, made.acts) == ("find", "Find.", True)

    @tool(acts=True)
    def send() -> None:
        """Send."""

    @tool
    def look() -> None: ...

    assert (send.name, send.acts, send.description) == ("send", True, "Send.")
    assert (look.name, look.acts, look.description) == ("look", False, "")
    assert look.parameters["properties"] == {}


class Clerk:
    """Knows a number."""

    number = 7

    def ask(self, what: "str") -> str:
        """Ask the clerk."""
        return f"{what} {self.number}"

    async def __call__(self, what: str) -> str:
        return await self.later(what)

    async def later(self, what: str) -> str:
        return self.ask(what)


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (Clerk().ask, "ask"),
        (Clerk().later, "later"),
        (Clerk(), "clerk"),
        (functools.partial(Clerk.ask, Clerk()), "ask"),
        (wrapped(Clerk().ask), "ask"),
        (wrapped(Clerk().later), "later"),
    ],
    ids=range(6),
)
async def test_methods_objects_and_what_wraps_them(function: Callable[..., Any], name: str) -> None:
    made = tool_of(function)
    assert made.name == name
    assert await made.run(**arguments_of(made, '{"what": "a"}')) == "a 7"


async def test_what_was_fixed_before_is_no_parameter() -> None:
    made = tool_of(functools.partial(search, limit=3))
    assert list(made.parameters["properties"]) == ["query"]
    assert await made.run(**arguments_of(made, "days")) == "days 3"


async def test_a_sync_function_runs_in_a_thread_and_an_async_one_here() -> None:
    here = threading.get_ident()

    async def there() -> int:
        return threading.get_ident()

    assert await tool_of(there).run() == here
    assert await tool(lambda: threading.get_ident(), name="aside").run() != here


async def test_a_sync_function_that_hangs_is_left_behind() -> None:
    ended = threading.Event()

    def hang() -> None:
        ended.wait(30)

    try:
        with anyio.move_on_after(0.05) as scope:
            await tool_of(hang).run()
        assert scope.cancelled_caught
    finally:
        ended.set()


def no_type(query) -> None: ...  # type: ignore[no-untyped-def]
def any_number(*queries: str) -> None: ...
def any_names(**queries: str) -> None: ...
def by_place(query: str, /) -> None: ...
def unknown_type(query: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def no_json(query: threading.Lock) -> None: ...
def a_function(query: Callable[[int], int]) -> None: ...
def old(given: Old) -> None: ...
def no_regex(query: Annotated[str, Field(pattern="(?=a)b")]) -> None: ...
def yields(query: str) -> Iterator[str]:
    yield query


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (no_type, "'query'.*no type"),
        (any_number, "'queries'.*any number"),
        (any_names, "'queries'.*any number"),
        (by_place, "'query'.*no name"),
        (Clerk.ask, "'self'.*object's method"),
        (unknown_type, "Nowhere"),
        (no_json, "lock"),
        (a_function, "callable"),
        (old, "typing_extensions"),
        (no_regex, "look-around"),
        (yields, "yields"),
        (Clerk, "class"),
        ("search", "cannot be called"),
        (None, "cannot be called"),
        (lambda: 1, "<lambda>"),
        (len, "no name"),
        (threading.get_ident, "no signature"),
    ],
    ids=range(17),
)
def test_what_is_no_tool_is_refused_in_words(function: Any, reason: str) -> None:
    with pytest.raises(InputError, match=f"(?i){reason}") as raised:
        tool_of(function)
    assert raised.value.remedy


@pytest.mark.parametrize("name", ["Search", "1a", "a-b", "a" * 65, "é", "a\n", "_a"])
def test_names_that_models_cannot_call(name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        tool(search, name=name)
    with pytest.raises(InputError, match="cannot be called"):
        Tool(name=name, description="", parameters={}, run=SEARCH.run, check=SEARCH.check)


def test_two_tools_of_one_name() -> None:
    assert [one.name for one in tools_of([search, PLAN])] == ["search", "plan"]
    with pytest.raises(InputError, match="two tools 'search'"):
        tools_of([search, tool(plan, name="search")])
    with pytest.raises(InputError, match="two tools 'search'"):
        tools_of([search], taken=("search",))


def test_a_form_that_is_used_again_and_again_is_refused() -> None:
    inner: Any = int
    for level in range(12):
        inner = create_model(f"Level{level}", a=inner, b=inner)

    def nested(given: inner) -> None: ...

    with pytest.raises(InputError, match=str(MOST_NODES)):
        tool_of(nested)


WRITTEN: list[tuple[str, dict[str, Any]]] = [
    ('{"query": "leave days", "limit": 3}', {"query": "leave days", "limit": 3}),
    ('"leave days"', {"query": "leave days", "limit": 5}),
    ("leave days", {"query": "leave days", "limit": 5}),
    ("```json\n{'query': 'leave', 'limit': '3',}\n```", {"query": "leave", "limit": 3}),
    (json.dumps('{"query": "leave"}'), {"query": "leave", "limit": 5}),
    (json.dumps(json.dumps('{"query": "leave"}')), {"query": "leave", "limit": 5}),
    ('Sure: {"query": "leave"}', {"query": "leave", "limit": 5}),
    ('[{"query": "leave"}]', {"query": "leave", "limit": 5}),
    ('{"arguments": {"query": "leave"}}', {"query": "leave", "limit": 5}),
    ('{"Query": "leave", "LIMIT": 2.0}', {"query": "leave", "limit": 2}),
    ('{"query": 2024, "limit": null}', {"query": "2024", "limit": 5}),
    ('{"query": "half \\ud83d"}', {"query": "half \ufffd", "limit": 5}),
    ('{"query": "{\\"a\\": 1}"}', {"query": '{"a": 1}', "limit": 5}),
]


@pytest.mark.parametrize(("written", "read"), WRITTEN)
def test_arguments_as_models_write_them(written: str, read: dict[str, Any]) -> None:
    assert arguments_of(SEARCH, written) == read


@pytest.mark.parametrize("written", ["", "  ", "null", "{}"])
def test_no_arguments(written: str) -> None:
    assert arguments_of(tool(lambda: None, name="now"), written) == {}
    assert wrong(SEARCH, written) == "search: `query` is missing; give text."


def test_values_come_as_the_function_wants_them() -> None:
    given = {**RIGHT, "where": '{"city": "Bonn", "inside": [{"city": "Hof"}]}', "tags": "one", "most": None}
    read = arguments_of(PLAN, json.dumps(given))
    assert read == {
        "colour": Colour.RED,
        "period": {"start": date(2026, 1, 31)},
        "where": Place("Bonn", [Place("Hof")]),
        "kind": "a",
        "tags": ["one"],
        "share": 0.5,
        "most": None,
        "pair": (1, "x"),
        "by_name": None,
    }
    assert arguments_of(PLAN, json.dumps({**RIGHT, "tags": "['a', 'b']"}))["tags"] == ["a", "b"]


def test_a_default_is_never_shared() -> None:
    def gather(found: list[str] = []) -> list[str]:  # noqa: B006
        return found

    first = arguments_of(tool_of(gather), "{}")["found"]
    first.append("a")
    assert arguments_of(tool_of(gather), "{}") == {"found": []}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limit": 2}, "`query` is missing; give text."),
        ({"query": "a", "limit": "many"}, "`limit` is 'many'; a whole number from 1 to 20 is allowed."),
        ({"query": "a", "limit": 50}, "`limit` is 50; a whole number from 1 to 20 is allowed."),
        ({"query": ["a"]}, '`query` is ["a"]; text is allowed.'),
        (
            {"query": "a", "limt": 2},
            "There is no parameter `limt`; did you mean `limit`? Allowed are `query`, `limit`.",
        ),
        ({"query": "a", "zz": 2}, "There is no parameter `zz`. Allowed are `query`, `limit`."),
        ('{"query": "lea', 'the arguments \'{"query": "lea\' are no whole JSON; write a JSON object with'),
        ('{"query": "leave", "limit": 1', "the arguments break off"),
        ("{query: leave}", "are no whole JSON; write a JSON object with `query`, `limit` (optional)."),
        ('{"query": NaN}', "are no whole JSON"),
        ([1, 2], "`query` is [1, 2]; text is allowed."),
    ],
)
def test_mistakes_in_words(given: Any, said: str) -> None:
    assert said in wrong(SEARCH, given)
    assert wrong(SEARCH, given).startswith("search: ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"colour": "green"}, '`colour` is \'green\'; "red" or "blue" is allowed.'),
        ({"kind": "q"}, '`kind` is \'q\'; one of "a", "b", "c" is allowed.'),
        ({"period": {"start": "soon"}}, "`period.start` is 'soon'; a date such as 2026-01-31 is allowed."),
        ({"period": {}}, "`period.start` is missing; give a date such as 2026-01-31."),
        ({"period": {"start": "2026-01-31", "to": 1}}, "`period.to` is no key that is allowed."),
        ({"where": {"city": "a", "inside": [{"city": []}]}}, "`where.inside.0.city` is []; text is allowed."),
        ({"tags": ["a"] * 4}, "a list of 0 to 3, each text is allowed."),
        ({"share": 2}, "`share` is 2; a number above 0 and below 1 is allowed."),
        ({"most": "x"}, "`most` is 'x'; a whole number is allowed."),
        ({"pair": [1]}, "`pair.1` is missing; give text."),
        ({"by_name": {"a": "b"}}, "`by_name.a` is 'b'; a whole number is allowed."),
    ],
)
def test_mistakes_inside_values(given: dict[str, Any], said: str) -> None:
    assert said in wrong(PLAN, {**RIGHT, **given})


def test_several_mistakes_are_told_at_once_and_long_values_are_cut() -> None:
    said = wrong(PLAN, {"colour": "x" * 1000, "kind": "q"})
    assert "`colour`" in said
    assert "`kind`" in said
    assert "`period` is missing" in said
    assert len(said) < 500


def test_a_tool_without_parameters_takes_none() -> None:
    now = tool(lambda: None, name="now")
    assert wrong(now, {"zone": "UTC"}) == "now: There is no parameter `zone`. It takes none."
    assert wrong(now, '"UTC"') == "now: the arguments are 'UTC'; it takes none, write {}."


def test_a_bare_value_for_a_tool_of_several_parameters() -> None:
    assert "write a JSON object with `colour`, `period`, `where` (optional)" in wrong(PLAN, '"red"')


def test_a_check_of_ones_own_is_quoted_and_a_broken_one_is_told() -> None:
    def even(value: int) -> int:
        if value % 2:
            raise ValueError("is odd")
        return value // (value - 2) * value

    def take(number: Annotated[int, AfterValidator(even)]) -> None: ...

    made = tool_of(take)
    assert wrong(made, {"number": 3}) == "take: `number` is 3; is odd."
    assert "cannot be checked: ZeroDivisionError" in wrong(made, {"number": 2})


def test_very_long_arguments_are_refused_unread() -> None:
    assert str(LONGEST) in wrong(SEARCH, "x" * 10_000_000)
    assert "no whole JSON" in wrong(SEARCH, '{"query": ' + "[" * 50_000)


@given(st.text() | st.text(alphabet="{}[]\"':,\\ quernylimt0123456789"))
def test_whatever_is_written_is_read_or_refused(written: str) -> None:
    read: Mapping[str, Any] = {"query": "", "limit": 1}
    with suppress(ToolError):
        read = arguments_of(SEARCH, written)
    assert isinstance(read["query"], str)
    assert 1 <= read["limit"] <= 20


@given(
    st.fixed_dictionaries(
        {"query": st.text()}, optional={"limit": st.integers(1, 20) | st.integers(1, 20).map(str)}
    ),
    st.booleans(),
)
@settings(max_examples=50)
def test_right_arguments_always_arrive(given: dict[str, Any], twice: bool) -> None:
    written = json.dumps(given)
    read = arguments_of(SEARCH, json.dumps(written) if twice else written)
    assert read == {"query": given["query"], "limit": int(given.get("limit", 5))}


class Found(BaseModel):
    title: str
    day: date


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    found: tuple[Found, ...] = ()


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("as it is\n", "as it is\n"),
        (None, "Done."),
        (" ", "(empty)"),
        ([], "[]"),
        ({"a": [1, None, "ü"]}, '{"a":[1,null,"ü"]}'),
        (
            Row("a", (Found(title="t", day=date(2026, 1, 31)),)),
            '{"name":"a","found":[{"title":"t","day":"2026-01-31"}]}',
        ),
        (date(2026, 1, 31), "2026-01-31"),
        (Colour.RED, "red"),
        (True, "true"),
        (1.5, "1.5"),
        (float("nan"), "NaN"),
        ("half \ud83d", "half ?"),
    ],
    ids=range(12),
)
def test_results_as_text(returned: Any, text: str) -> None:
    assert text_of_result(returned) == text


def test_a_long_result_is_cut_and_says_so() -> None:
    text = text_of_result("x" * (LONGEST_RESULT + 5))
    assert text.startswith("x" * LONGEST_RESULT)
    assert text.endswith("(cut here; 5 more characters were left out)")


def in_a_circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    "returned", [b"x", object(), {"a": object()}, iter("ab"), (x for x in "ab"), in_a_circle()], ids=range(6)
)
def test_results_that_cannot_be_shown(returned: Any) -> None:
    with pytest.raises(ToolError, match=type(returned).__name__):
        text_of_result(returned)


async def test_a_function_that_returns_what_has_to_be_awaited() -> None:
    def later(what: str) -> Awaitable[str]:
        return Clerk().later(what)

    assert await tool_of(later).run(what="a") == "a 7"


async def test_the_context_is_filled_by_the_loop() -> None:
    def whose(what: str, run: Context, times: int = 1) -> str:
        """Say whose it is."""
        return f"{what} of {run.user}" * times

    made = tool_of(whose)
    assert list(made.parameters["properties"]) == ["what", "times"]
    within = made.within(Context(question="", user="anna"))
    assert await within.run(**arguments_of(within, '{"what": "a hat"}')) == "a hat of anna"
    with pytest.raises(ToolError, match="`run`"):
        arguments_of(made, '{"what": "a", "run": "b"}')
    with pytest.raises(InputError, match="takes the context twice: one and two"):
        tool_of(twice)


def twice(one: Context, two: Context) -> None:
    """Take the context twice."""
