from pathlib import Path

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.places import files_beside, in_database, root, shown

DATA = platformdirs.user_data_path("refdesk", appauthor=False) / "libraries"


@pytest.mark.parametrize("library", ["./.refdesk", "/srv/library", "postgres", "C:\\library", "a:b/c"])
def test_a_folder_is_a_folder(library: str) -> None:
    assert not in_database(library)
    assert files_beside(library) == Path(library)
    assert shown(library) == library


@pytest.mark.parametrize(
    "library", ["postgresql://h/db", "postgres:///db", "PostgreSQL://u:p@h:5/db?schema=s"]
)
def test_a_url_is_a_database(library: str) -> None:
    assert in_database(library)
    assert files_beside(library).parent == DATA


@pytest.mark.parametrize("library", ["mysql://h/db", "s3://bucket/library", "http://h"])
def test_other_urls_are_refused_without_what_they_hold(library: str) -> None:
    with pytest.raises(InputError, match="postgresql://"):
        in_database(library.replace("://", "://user:hidden@"))
    with pytest.raises(InputError) as raised:
        files_beside(library.replace("://", "://user:hidden@"))
    assert "hidden" not in str(raised.value)


def test_users_of_a_database_share_the_files_beside_it() -> None:
    one = files_beside("postgresql://ann:secret@db.example:5433/desk?schema=docs&sslmode=require")
    assert one == files_beside("postgresql://ben:other@db.example:5433/desk?schema=docs")
    assert one != files_beside("postgresql://ann:secret@db.example:5433/desk?schema=more")
    assert one != files_beside("postgresql://ann:secret@db.example:5433/other?schema=docs")
    assert one.name.startswith("db.example-5433-desk-schema-docs-")


@given(st.text(alphabet="abcXYZ019@:/?#%& =", min_size=4).map(lambda text: f"hush{text}"))
def test_no_password_is_shown_or_used_as_a_name(password: str) -> None:
    url = f"postgresql://ann:{password}@db.example/desk"
    assert "hush" not in shown(url)
    assert "hush" not in str(files_beside(url))


def test_ids_of_files_are_relative_to_the_librarys_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert root(str(tmp_path / "in" / "library")) == str(tmp_path / "in")
    assert root("postgresql://db.example/desk") == str(tmp_path)
