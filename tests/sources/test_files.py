"""Files and folders: what is listed, under which identity, and what is not."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from refdesk.errors import InputError, SourceError
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.files import Files

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder `docs` in the working folder, with what should and should not be listed."""
    for name in (
        "docs/b/paper.pdf",
        "docs/a/paper.pdf",
        "docs/z.md",
        "docs/a/draft.md",
        "docs/.hidden.md",
        "docs/.git/config",
        "docs/node_modules/x/readme.md",
        "docs/env/pyvenv.cfg",
        "docs/env/lib.py",
        "outside.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


async def listed(source: Files) -> tuple[dict[str, SourceItem], dict[str, SourceFailure]]:
    found = [item async for item in source.items()]
    assert source.count() == len(found)
    items = {item.source_id: item for item in found if isinstance(item, SourceItem)}
    failures = {item.source_id: item for item in found if isinstance(item, SourceFailure)}
    assert len(items) + len(failures) == len(found)
    return items, failures


async def test_files_are_sorted_and_named_by_their_path(folder: Path) -> None:
    items, failures = await listed(Files(["docs"]))
    assert list(items) == ["docs/a/draft.md", "docs/a/paper.pdf", "docs/b/paper.pdf", "docs/z.md"]
    assert not failures
    item = items["docs/b/paper.pdf"]
    assert (item.data, item.name) == (b"docs/b/paper.pdf", "paper.pdf")
    assert item.url == (folder / "b" / "paper.pdf").as_uri()


@pytest.mark.parametrize(
    "given", [["docs/z.md"], ["docs"], ["docs/"], ["./docs/../docs/z.md"], ["."], ["docs", "docs/z.md"]]
)
async def test_a_file_has_one_identity_however_it_is_named(folder: Path, given: list[str]) -> None:
    items, _ = await listed(Files(given))
    assert [name for name in items if name.endswith("z.md")] == ["docs/z.md"]


async def test_outside_the_root_the_identity_is_the_absolute_path(folder: Path) -> None:
    items, _ = await listed(Files("outside.md", root=folder))
    assert list(items) == [(folder.parent / "outside.md").as_posix()]
    items, _ = await listed(Files(folder / "z.md", root=folder))
    assert list(items) == ["z.md"]


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.md", ["docs/a/draft.md", "docs/z.md"]),
        ("**/*.md", ["docs/a/draft.md", "docs/z.md"]),
        ("a/*", ["docs/a/draft.md", "docs/a/paper.pdf"]),
        ("*/paper.???", ["docs/a/paper.pdf", "docs/b/paper.pdf"]),
        ("*.MD", []),
    ],
)
async def test_glob_chooses_among_files_of_folders(folder: Path, glob: str, expected: list[str]) -> None:
    items, _ = await listed(Files(["docs"], glob=glob))
    assert list(items) == expected


async def test_glob_does_not_drop_a_file_that_is_named(folder: Path) -> None:
    items, _ = await listed(Files(["docs/z.md"], glob="*.pdf"))
    assert list(items) == ["docs/z.md"]


async def test_exclude_drops_files_and_folders(folder: Path) -> None:
    items, _ = await listed(Files(["docs"], exclude=["a", "*.md"]))
    assert list(items) == ["docs/b/paper.pdf"]


async def test_links_neither_circle_nor_lead_out(folder: Path) -> None:
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "same.md").symlink_to(folder / "z.md")
    (folder / "leak.md").symlink_to(folder.parent / "outside.md")
    (folder / "gone.md").symlink_to(folder / "nothing")
    items, failures = await listed(Files(["docs"]))
    assert len(items) == 4
    assert {name: failure.reason for name, failure in failures.items()} == {
        "docs/leak.md": "outside",
        "docs/gone.md": "unreadable",
    }


async def test_a_link_that_is_named_itself_is_followed(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder)
    items, _ = await listed(Files(["link"]))
    assert "link/z.md" in items


async def test_failures_leave_the_others(folder: Path) -> None:
    (folder / "big.txt").write_bytes(b"x" * 100)
    os.mkfifo(folder / "pipe.txt")
    items, failures = await listed(Files(["docs"], max_bytes=50))
    assert len(items) == 4
    assert failures["docs/big.txt"].reason == "too_large"


async def test_a_file_that_vanishes_while_listing_is_a_failure(folder: Path) -> None:
    source = Files(["docs"])
    assert source.count() == 4
    (folder / "z.md").unlink()
    _, failures = await listed(source)
    assert failures["docs/z.md"].reason == "unreadable"


async def test_a_name_that_is_no_text_is_a_failure(folder: Path) -> None:
    try:
        os.close(os.open(os.fsencode(folder) + b"/\xff.md", os.O_CREAT))
    except OSError:
        pytest.skip("this file system takes no such names")
    items, failures = await listed(Files(["docs"]))
    assert len(items) == 4
    assert failures["docs/\ufffd.md"].reason == "unreadable"


async def test_touching_a_file_changes_metadata_only(folder: Path) -> None:
    before = (await listed(Files(["docs/z.md"])))[0]["docs/z.md"]
    os.utime(folder / "z.md", (0, 1_700_000_000))
    after = (await listed(Files(["docs/z.md"])))[0]["docs/z.md"]
    assert after.metadata == {"modified": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)}
    assert (after.data, after.source_id, after.url) == (before.data, before.source_id, before.url)


@pytest.mark.parametrize(
    ("source_id", "covered"),
    [
        ("docs/gone.md", True),
        ("docs/sub/gone.md", True),
        ("docs/gone.pdf", False),
        ("docs/.gone.md", False),
        ("docs/node_modules/gone.md", False),
        ("docs/old/gone.md", False),
        ("other/gone.md", False),
        ("docs", False),
        ("https://example.org/gone.md", False),
        ("/docs/gone.md", False),
    ],
)
async def test_what_a_folder_covers(folder: Path, source_id: str, covered: bool) -> None:
    assert Files(["docs"], glob="*.md", exclude=["old"]).covers(source_id, "file:///x") is covered


async def test_everything_that_is_listed_is_covered(folder: Path) -> None:
    source = Files(["docs", "outside.md"], exclude=["draft*"])
    items, _ = await listed(source)
    assert all(source.covers(source_id, "file:///x") for source_id in items)
    assert not Files(["docs/z.md"]).covers("docs/a/paper.pdf", "file:///x")


async def test_a_missing_path_names_the_nearest(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"docs/z\.mdx") as caught:
        Files(["docs/z.mdx"])
    assert "z.md'" in caught.value.remedy
    with pytest.raises(SourceError) as caught:
        Files(["nowhere/a.md"])
    assert "nowhere" in caught.value.remedy


async def test_nothing_given_is_an_error() -> None:
    with pytest.raises(InputError):
        Files([])


async def test_a_pipe_is_no_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(SourceError, match="neither"):
        Files([folder / "pipe"])


async def test_what_cannot_be_looked_at_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(20):  # deeper than a path may be long
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
    finally:
        os.chdir(before)
    items, failures = await listed(Files(tmp_path, root=tmp_path))
    assert list(items) == ["a.md"]
    (failure,) = failures.values()
    assert failure.reason == "unreadable"
    assert "too long" in failure.message
