"""The pages say what is true: their examples run, their links lead somewhere, their names exist."""

import pkgutil
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main
from pytest_examples import EvalExample, find_examples

from refdesk import Desk, Settings
from refdesk.answering import ABSTAINED, BELOW_THRESHOLD, NOTHING_FOUND
from refdesk.cli.main import app
from refdesk.configuration import load_pipeline
from refdesk.documents import MODES
from refdesk.events import Outcome
from refdesk.parsing import Reason
from refdesk.parsing.formats import FORMATS
from refdesk.retrieval import FUSIONS, EmptyReason
from refdesk.steps import BUILTIN

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "refdesk"
STEP_PAGES = tuple(sorted((DOCS / "steps").glob("*.md")))
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")), *STEP_PAGES)
WRITTEN = (*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")))
DESCRIBED_ELSEWHERE = {
    "filters": "retrieval",
    "pipeline": "pipelines",
    "steps": "pipelines",
}
"""Folders without a page of their own, and the page that describes each."""
FOLDERS = sorted(found.parent.name for found in PACKAGE.glob("*/__init__.py"))
FOLDER_PAGES = sorted({DESCRIBED_ELSEWHERE.get(name, name) for name in FOLDERS})

TABLES = {
    "answering": (NOTHING_FOUND, BELOW_THRESHOLD, ABSTAINED),
    "ingest": get_args(Outcome),
    "parsing": (*(found.name for found in FORMATS if found.name != "program"), *get_args(Reason)),
    "retrieval": (*MODES, *FUSIONS, *get_args(EmptyReason)),
}
"""Words of the code that a page has to explain."""

_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_OUTPUT = re.compile(r"^( *)# > ", re.MULTILINE)
"""What a print above it prints, as the formatter leaves it; pytest-examples reads it without the blank."""
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")

LEAVE = """# Leave

Employees get 30 days of leave a year. Part-time employees get the same share of them.

## Carrying over

Ten days may be carried over until the end of March.
"""
TRAVEL = (
    "<html lang=en><title>Travel</title><nav>Home</nav><main><h1>Travel</h1>"
    "<p>A hotel may cost 120 euros a night.</p><p>Costs are paid back within two weeks.</p></main></html>"
)
OFFICES = "City,Office,Opens\nBerlin,Lindenstrasse 4,08:00\nLyon,Rue Neuve 12,08:30\n"
SAFETY = ("Fire drills take place twice a year.", "The assembly point is the car park.")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a small handbook, where the settings are the default ones."""
    handbook = tmp_path / "place" / "handbook"
    handbook.mkdir(parents=True)
    (handbook / "leave.md").write_text(LEAVE, "utf-8")
    (handbook / "travel.html").write_text(TRAVEL, "utf-8")
    (handbook / "offices.csv").write_text(OFFICES, "utf-8")
    (handbook / "safety.pdf").write_bytes(pdf(SAFETY))
    monkeypatch.chdir(handbook.parent)
    monkeypatch.syspath_prepend(handbook.parent)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which running an example replaces
    for name in Settings.__dataclass_fields__.keys() - {"cache"}:
        monkeypatch.delenv(f"REFDESK_{name.upper()}", raising=False)
    return handbook.parent


def pdf(pages: Iterable[str]) -> bytes:
    """Return a PDF with one line of text on each page; readers make its missing table of objects anew."""
    body = b"%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n"
    body += b"3 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\n"
    kids = b""
    for number, text in enumerate(pages):
        page, content = 10 + 2 * number, 11 + 2 * number
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("ascii")
        body += b"%d 0 obj <</Length %d>> stream\n%b\nendstream endobj\n" % (content, len(stream), stream)
        body += (
            b"%d 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>> endobj\n" % (page, content)
        )
        kids += b"%d 0 R " % page
    count = kids.count(b"R")
    body += b"2 0 obj <</Type/Pages/Count %d/Kids[%b]>> endobj\n" % (count, kids)
    return body + b"trailer <</Root 1 0 R>>\n%%EOF"


@pytest.mark.model
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page: Path, place: Path, eval_example: EvalExample) -> None:
    """The examples of a page run one after the other in one folder; folder pages show what they print."""
    eval_example.set_config(line_length=110)
    for example in find_examples(page):
        if title := example.prefix_settings().get("title"):
            (place / title).write_text(example.source, "utf-8")
        if (
            page.stem
            in (*FOLDER_PAGES, "zones", "permissions", "grounding-local", "loop-tools", "evaluation-data")
            or page in STEP_PAGES
        ):
            eval_example.run_print_check(replace(example, source=_OUTPUT.sub(r"\1#> ", example.source)))
        else:
            eval_example.run(example)


def test_every_step_has_a_page() -> None:
    assert {page.stem for page in STEP_PAGES} == {step.name for step in BUILTIN}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_is_described(folder: str) -> None:
    page = DOCS / f"{DESCRIBED_ELSEWHERE.get(folder, folder)}.md"
    assert page.is_file()
    assert folder not in DESCRIBED_ELSEWHERE or folder in page.read_text("utf-8")


@pytest.mark.parametrize("name", FOLDER_PAGES)
def test_a_page_begins_with_an_example(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text("utf-8")
    lines = text.splitlines()
    first = _BLOCK.search(text)
    assert first, "The page has no example."
    assert first[1] == ("console" if name == "cli" else "python")
    assert lines[0].startswith("# ")
    assert lines[2].startswith("```"), "The example comes first."


@pytest.mark.parametrize("name", [name for name in FOLDER_PAGES if name != "cli"])
def test_a_page_is_short(name: str) -> None:
    assert 40 <= len((DOCS / f"{name}.md").read_text("utf-8").splitlines()) <= 130


def test_pipelines_that_the_readme_shows_exist() -> None:
    shown = re.findall(r"(?:--pipeline|pipeline show) (\S+\.yaml)", (ROOT / "README.md").read_text("utf-8"))
    assert shown
    for file in shown:
        assert load_pipeline(ROOT / file).steps


def test_tests_that_show_something_exist() -> None:
    shown = re.findall(r"`([\w/]+\.py)::(test_\w+)`", (DOCS / "coming-from.md").read_text("utf-8"))
    assert len(shown) > 50
    for file, name in shown:
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), f"{file} has no {name}."


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(without_blocks(page)):
        linked = (page.parent / target).resolve() if target else page
        assert linked.exists(), f"{page.name} links to {target}, which does not exist."
        if anchor:
            assert anchor in anchors(linked), (
                f"{page.name} links to {target}#{anchor}; there is no such heading."
            )


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_names_exist(page: Path) -> None:
    """What stands in backticks and looks like a name of ours is one."""
    text = without_blocks(page)
    for name in re.findall(r"`(refdesk(?:\.\w+)+)(?:\([^`]*\))?`", text):
        if name != "refdesk.toml":
            pkgutil.resolve_name(name)
    for name in re.findall(r"`desk\.(\w+)", text):
        assert hasattr(Desk, name), f"{page.name} names desk.{name}, which a Desk lacks."
    for path in re.findall(r"(?<![\w/])((?:benchmarks|examples|docs|tests|src)/[\w/-]+\.\w+)", text):
        assert (ROOT / path).is_file(), f"{page.name} names {path}, which does not exist."


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_settings_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    known = set(Settings.__dataclass_fields__)
    sources = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    for names in re.findall(r"[Ss]ettings? ((?:`\w+`(?:, | and | or )?)+)", without_blocks(page)):
        unknown = set(re.findall(r"`(\w+)`", names)) - known
        assert not unknown, f"{page.name} names the settings {unknown}; there are {sorted(known)}."
    for name in re.findall(r"\bREFDESK_[A-Z_]+[A-Z]\b", text):
        in_settings = name.removeprefix("REFDESK_").lower() in known
        assert in_settings or f'"{name}"' in sources, f"{page.name} names {name}, which nothing reads."


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.stem)
def test_commands_exist(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line, comments=True)
        assert unknown_in(words[1:]) == [], f"{page.name} has {line!r}."


@pytest.mark.parametrize(("page", "words"), TABLES.items(), ids=TABLES)
def test_tables_are_complete(page: str, words: Iterable[str]) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    assert [word for word in words if f"`{word}`" not in text] == []


def without_blocks(page: Path) -> str:
    """Return the prose of a page."""
    return _BLOCK.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings of a page have."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(page: Path) -> Iterator[str]:
    """Yield the calls of refdesk in shell blocks and in backticks."""
    for language, source in _BLOCK.findall(page.read_text("utf-8")):
        if language in ("sh", "console"):
            yield from re.findall(r"^(?:\$ )?(refdesk [^|\n]*)", source, re.MULTILINE)
    yield from re.findall(r"`(refdesk [^`]+)`", without_blocks(page))


def unknown_in(words: list[str]) -> list[str]:
    """Return the command or the options of a call that do not exist."""
    command: Any = typer.main.get_command(app)
    for word in takewhile(lambda word: not word.startswith("-"), words):
        if not hasattr(command, "commands"):
            break
        if word not in command.commands:
            return [word]
        command = command.commands[word]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("call", ["serve", "ingest x --fast", "models push", "ask why --llm=a --top 3"])
def test_an_invented_command_would_be_noticed(call: str) -> None:
    assert len(unknown_in(call.split())) == 1
