"""Values as databases give them."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import SourceError
from refdesk.sources.sql import values

DAY = datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("value", [None, 0, False, "", " ", "0", "f", "False", "NO", b"\x00", Decimal(0)])
def test_flags_that_say_no(value: Any) -> None:
    assert not values.flag(value)


@pytest.mark.parametrize("value", [1, True, "t", "2024-05-01", b"\x01", DAY, "yes", "deleted"])
def test_flags_that_say_yes(value: Any) -> None:
    assert values.flag(value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, ()),
        ("", ()),
        ("a, b,", ("a", "b")),
        ('["a", "b c"]', ("a", "b c")),
        ("[1, null, 2]", (1, 2)),
        (["a", None, "b"], ("a", "b")),
        (b"x,y", ("x", "y")),
        (7, (7,)),
    ],
)
def test_lists(value: Any, found: tuple[Any, ...]) -> None:
    assert values.members(value) == found


@pytest.mark.parametrize("value", ["[1", '[{"a": 1}]', {"a": 1}, [[1]]])
def test_what_is_no_list(value: Any) -> None:
    with pytest.raises(SourceError):
        values.members(value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("public ", ("public ",)),
        (" a", (" a",)),
        ("a, b", ("a", "b")),
        ("a , b ,", ("a ", "b ")),
        ('["a "]', ("a ",)),
        (" ", (" ",)),
        ("", ()),
    ],
)
def test_names_keep_their_blanks(value: str, found: tuple[str, ...]) -> None:
    assert values.members(value, exact=True) == found


def test_another_separator() -> None:
    assert values.members("a,b|c", "|") == ("a,b", "c")


@pytest.mark.parametrize(
    "value",
    [
        DAY,
        datetime(2024, 5, 1, 10),
        "2024-05-01 10:00:00",
        "2024-05-01T12:00:00+02:00",
        DAY.timestamp(),
        int(DAY.timestamp()) * 1000,
        int(DAY.timestamp()) * 1_000_000,
        Decimal(int(DAY.timestamp())),
    ],
)
def test_times(value: Any) -> None:
    assert values.moment(value) == DAY


def test_times_without_a_zone_are_in_the_given_one() -> None:
    assert values.moment("2024-05-01 12:00", ZoneInfo("Europe/Berlin")) == DAY
    assert values.moment(date(2024, 5, 1)) == datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("value", ["soon", True, "0000-00-00 00:00:00", float("nan"), 1e30, b"\xff"])
def test_what_is_no_time(value: Any) -> None:
    with pytest.raises(SourceError):
        values.moment(value)


@pytest.mark.parametrize(
    ("value", "found"), [("3", 3), ("2.5", 2.5), (Decimal("7.0"), 7), (True, 1), (" 1e3 ", 1000)]
)
def test_numbers(value: Any, found: float) -> None:
    assert values.number(value) == found


@pytest.mark.parametrize("value", ["three", "nan", "inf", ""])
def test_what_is_no_number(value: Any) -> None:
    with pytest.raises(SourceError):
        values.number(value)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)), st.integers(0, 10**6))
def test_earlier_is_earlier_in_every_form(when: datetime, seconds: int) -> None:
    by = timedelta(seconds=seconds)
    aware = when.replace(tzinfo=timezone(timedelta(hours=2)))
    assert values.earlier(when, by) == when - by
    assert values.earlier(aware, by) == aware - by
    assert values.earlier(when.date(), by) <= (when - by).date()
    for form in (str, datetime.isoformat, lambda one: one.isoformat(timespec="minutes")):
        # The text of what changed at the earlier time, and so all later ones, sort behind it.
        assert values.earlier(form(when), by) <= form(when - by)
        assert values.earlier(form(aware), by) <= form(aware - by)
    seconds_since, micro = int(aware.timestamp()), int(aware.timestamp() * 1_000_000)
    if seconds_since > 10**6:
        assert values.earlier(seconds_since, by) == seconds_since - seconds
        assert values.earlier(micro, by) == micro - seconds * 1_000_000


def test_what_is_no_time_is_not_made_earlier() -> None:
    assert values.earlier("v12", timedelta(hours=1)) == "v12"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, None),
        (Decimal("1.5"), 1.5),
        (date(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC)),
        ([1, None, "a"], (1, "a")),
        ({"a": [1]}, '{"a": [1]}'),
        ([{"a": 1}], '[{"a": 1}]'),
        (b"text", "text"),
    ],
)
def test_metadata_by_the_type_of_the_column(value: Any, found: Any) -> None:
    assert values.scalar(value) == found
