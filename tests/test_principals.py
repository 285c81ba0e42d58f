"""Names of principals are taken as they are written, and refused where they cannot be meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import PUBLIC, Scope
from refdesk.errors import InputError
from refdesk.principals import as_acl, as_principals


def test_one_name_or_several_are_kept_in_order_each_once() -> None:
    assert as_principals("anna", "x") == ("anna",)
    assert as_principals(["staff", "anna", "staff"], "x") == ("staff", "anna")
    assert as_principals({"anna"}, "x") == ("anna",)
    assert as_principals((), "x") == as_principals(None, "x") == ()


@pytest.mark.parametrize(
    "name", ["", "  ", "public ", " anna", "a\nb", "a\x00b", "\ud800", 3, None, ("a",), b"a"]
)
def test_what_is_no_name_is_refused_with_its_place(name: object) -> None:
    with pytest.raises(InputError, match="The ACL of 'doc'"):
        as_principals([name], "The ACL of 'doc'")


@pytest.mark.parametrize("given", [3, b"anna", {"anna": True}, object()])
def test_what_is_no_list_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="names of users and groups are allowed"):
        as_principals(given, "`principals`")


@pytest.mark.parametrize("nobody", [None, (), []])
def test_an_acl_that_names_nobody_is_refused(nobody: object) -> None:
    with pytest.raises(InputError, match="names nobody"):
        as_acl(nobody, "The ACL")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1))
def test_any_other_name_stays_what_it_is(name: str) -> None:
    if name.strip() == name:
        assert as_principals(name, "x") == (name,)


def test_everyone_is_public_and_nobody_is_more() -> None:
    assert Scope().readers == {PUBLIC}
    assert Scope(principals=("anna",)).readers == {PUBLIC, "anna"}


def test_a_scope_is_not_given_one_name_for_several() -> None:
    with pytest.raises(InputError, match="tuple of names"):
        Scope(principals="anna")  # type: ignore[arg-type]
