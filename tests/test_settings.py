"""Settings come from options, variables, a file and defaults, in this order, and say what is wrong."""

import json
import pickle
from dataclasses import fields
from pathlib import Path

import pytest

from refdesk.errors import SettingsError
from refdesk.settings import Settings


def test_defaults_need_nothing(tmp_path: Path) -> None:
    assert Settings.load(environ={}, folder=tmp_path) == Settings()


def test_options_beat_variables_beat_the_file(tmp_path: Path) -> None:
    (tmp_path / "refdesk.toml").write_text('library = "file"\ncollection = "file"\ntop_k = 3\n')
    environ = {"REFDESK_LIBRARY": "environ", "REFDESK_COLLECTION": "environ", "REFDESK_OTHER": "x"}
    settings = Settings.load({"library": "option", "llm": None}, environ=environ, folder=tmp_path)
    assert (settings.library, settings.collection, settings.top_k) == ("option", "environ", 3)


@pytest.mark.parametrize(
    ("variables", "field", "value"),
    [
        ({"REFDESK_TOP_K": "7"}, "top_k", 7),
        ({"REFDESK_TOKEN_VECTORS": "yes"}, "token_vectors", True),
        ({"REFDESK_TOKEN_VECTORS": "0"}, "token_vectors", False),
        ({"REFDESK_PARSE_SECONDS": "1.5"}, "parse_seconds", 1.5),
        ({"REFDESK_TOP_K": ""}, "top_k", 10),
    ],
)
def test_variables_are_converted(
    tmp_path: Path, variables: dict[str, str], field: str, value: object
) -> None:
    assert getattr(Settings.load(environ=variables, folder=tmp_path), field) == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colection": "x"}, "Unknown setting 'colection' in options. Did you mean 'collection'?"),
        ({"zzz": 1}, "Known: library"),
        ({"mode": "fuzzy"}, "allowed: one of vector, keyword, hybrid"),
        ({"number_by": "page"}, "allowed: one of chunk, document"),
        ({"precision": "fp8"}, "allowed: one of int8, fp32"),
        ({"top_k": "many"}, "allowed: a value of type int"),
        ({"top_k": 0}, "allowed: at least 1"),
        ({"top_k": 2.5}, "allowed: a value of type int"),
        ({"top_k": 10**30}, "allowed: at most 1000000000"),
        ({"library": " "}, "'library' from options is ' '; allowed: a folder, or the URL of a database"),
        ({"token_vectors": "perhaps"}, "allowed: true or false"),
        ({"parse_seconds": "nan"}, "allowed: at least 1"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message.replace("?", r"\?")):
        Settings.load(options, environ={}, folder=tmp_path)


TEMPLATE = "https://in.example/{source_id}?page={page}"


def test_links_come_from_all_places(tmp_path: Path) -> None:
    (tmp_path / "refdesk.toml").write_text(f'[links]\nhandbook = "{TEMPLATE}"\n')
    from_file = Settings.load(environ={}, folder=tmp_path)
    assert from_file.links == {"handbook": TEMPLATE}
    environ = {"REFDESK_LINKS": json.dumps({"forum": TEMPLATE})}
    assert Settings.load(environ=environ, folder=tmp_path).links == {"forum": TEMPLATE}
    option = Settings.load({"links": {"wiki": TEMPLATE}}, environ=environ, folder=tmp_path)
    assert option.links == {"wiki": TEMPLATE}
    assert pickle.loads(pickle.dumps(option)) == option
    assert Settings().links == {}


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({"a": "file:///{source_id}"}, "link template of 'a' from options is 'file:.*begin with http"),
        ({"a": "https://h/{sorce_id}"}, r"no document has \{sorce_id\}; allowed: \{source_id\}"),
        ({"a": "https://{title}/"}, "host that is written out"),
        ({"a": 5}, "a table of collections and templates"),
        ({5: TEMPLATE}, "a table of collections and templates"),
        (["a"], "a table of collections and templates"),
        (TEMPLATE, "in a variable a JSON object"),
        ('["a"]', "in a variable a JSON object"),
        ('{"a": ', "in a variable a JSON object"),
        ("[" * 100_000, "in a variable a JSON object"),
    ],
)
def test_wrong_links_are_named(tmp_path: Path, links: object, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.load({"links": links}, environ={}, folder=tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "refdesk.toml").write_text("library = ")
    with pytest.raises(SettingsError, match=r"refdesk\.toml"):
        Settings.load(environ={}, folder=tmp_path)


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        ("anna", ("anna",)),
        ("anna, staff", ("anna", "staff")),
        ('["cn=anna,dc=example", "staff"]', ("cn=anna,dc=example", "staff")),
        ("[]", ()),
    ],
)
def test_names_in_a_variable(tmp_path: Path, variable: str, names: tuple[str, ...]) -> None:
    assert Settings.load(environ={"REFDESK_PRINCIPALS": variable}, folder=tmp_path).principals == names


def test_names_in_the_file_and_in_options_are_not_split(tmp_path: Path) -> None:
    (tmp_path / "refdesk.toml").write_text('acl = ["staff", "a, b"]\nprincipals = "anna, bert"\n')
    settings = Settings.load({"principals": "a,b"}, environ={}, folder=tmp_path)
    assert (settings.acl, settings.principals) == (("staff", "a, b"), ("a,b",))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("principals", ("",)),
        ("principals", 3),
        ("principals", ("public ",)),
        ("principals", [["a"]]),
        ("acl", ()),
        ("acl", ""),
        ("acl", {"anna": 1}),
    ],
)
def test_what_is_no_name_is_refused(tmp_path: Path, key: str, value: object) -> None:
    with pytest.raises(SettingsError, match=f"'{key}' from options"):
        Settings.load({key: value}, environ={}, folder=tmp_path)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("acl", "Name who may read, 'public' for everyone, or unset REFDESK_ACL."),
        ("principals", "Name who asks, write [] for nobody, or unset REFDESK_PRINCIPALS."),
    ],
)
def test_an_empty_variable_gives_nobody_rights(tmp_path: Path, key: str, said: str) -> None:
    (tmp_path / "refdesk.toml").write_text(f'{key} = ["staff"]\n')
    with pytest.raises(SettingsError, match=f"'{key}' from environment is empty; allowed: names") as caught:
        Settings.load({key: "anna"}, environ={f"REFDESK_{key.upper()}": ""}, folder=tmp_path)
    assert caught.value.remedy == said


def test_any_other_empty_variable_sets_nothing(tmp_path: Path) -> None:
    rights = {"acl", "principals"}
    environ = {f"REFDESK_{one.name.upper()}": "" for one in fields(Settings) if one.name not in rights}
    (tmp_path / "refdesk.toml").write_text('conversations = "none"\n')
    assert Settings.load(environ=environ, folder=tmp_path) == Settings(conversations="none")


@pytest.mark.parametrize("value", ['["anna"', "[1", "[" * 100_000])
def test_a_broken_array_is_shown_as_it_was_written(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.load(environ={"REFDESK_PRINCIPALS": value}, folder=tmp_path)
    assert caught.value.message == (
        f"Setting 'principals' from environment is {value!r:.200}; allowed: names of users and groups,"
        " 'public' for everyone, with commas between or as a JSON array."
    )


@pytest.mark.parametrize("value", [",", "anna,", '["anna"', '[""]', "[3]", '{"anna": 1}x,'])
def test_names_in_a_variable_that_cannot_be_read(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError, match="'acl' from environment"):
        Settings.load(environ={"REFDESK_ACL": value}, folder=tmp_path)
