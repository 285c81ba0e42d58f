import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.stores.postgres.address import read_address


def test_our_parameter_is_taken_out_and_theirs_stay() -> None:
    address = read_address("postgresql://ann:pw@db.example:5433/desk?schema=docs&sslmode=require")
    assert address.schema == "docs"
    assert address.parameters["sslmode"] == "require"
    assert address.parameters["password"] == "pw"
    assert "schema" not in address.parameters


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgresql://ann:pw@db.example:5433/desk?schema=docs",
            "postgresql://ann@db.example:5433/desk?schema=docs",
        ),
        ("postgres://db.example/desk", "postgresql://db.example/desk"),
        ("postgresql:///desk?host=/run/postgresql", "postgresql:///desk?host=/run/postgresql"),
        ("postgresql://a,b:6000/desk", "postgresql://a,b:,6000/desk"),
        ("postgresql://", "postgresql:///"),
    ],
)
def test_what_is_shown(url: str, expected: str) -> None:
    address = read_address(url)
    assert str(address) == expected
    assert repr(address) == f"Address({expected!r})"


def test_the_name_of_the_application_can_be_chosen() -> None:
    assert read_address("postgresql://h/db").parameters["application_name"] == "refdesk"
    assert read_address("postgresql://h/db?application_name=mine").parameters["application_name"] == "mine"


@pytest.mark.parametrize("schema", ["", "public", "pg_mine", "information_schema", "x" * 64, "ä" * 32])
def test_schemas_that_cannot_be_ours_are_refused(schema: str) -> None:
    with pytest.raises(InputError, match="schema"):
        read_address(f"postgresql://h/db?schema={schema}")


@pytest.mark.parametrize("schema", ["refdesk", "My Library", 'a"b', "x" * 63, "数据"])
def test_other_schemas_are_taken(schema: str) -> None:
    assert read_address(f"postgresql://h/db?schema={schema}").schema == schema


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hush@h/db?colour=red",
        "postgresql://ann:hush@h:port/db",
        "postgresql://ann:hu@sh@h/db",
        "postgresql://ann:hush/@h/db",
        "postgresql://ann:hush#@h/db",
        "postgresql://ann:hush%zz@h/db",
        "postgresql://ann:hush@[::1/db",
    ],
)
def test_a_url_that_cannot_be_read_shows_nothing_of_itself(url: str) -> None:
    with pytest.raises(InputError, match="%40") as raised:
        read_address(url)
    assert "hu" not in str(raised.value).replace("such", "")
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


@given(st.text(min_size=1).map(lambda text: f"hush{text}"))
@example("hush?schema=public")
@example("hush?password=hush")
def test_no_message_shows_a_password(password: str) -> None:
    try:
        shown = repr(read_address(f"postgresql://ann:{password}@db.example/desk"))
    except InputError as error:
        shown = str(error)
    assert "hush" not in shown
