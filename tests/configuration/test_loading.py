"""Presets, files, texts and mappings to pipelines."""

import re
from pathlib import Path

import pytest
from tests.configuration.own import Shorten, Upper, not_a_step, ordered

from refdesk.configuration import check_pipeline, load_pipeline, pipeline_from_text, presets, to_data
from refdesk.configuration.loading import PRESETS
from refdesk.errors import InputError, NotFound, PipelineError
from refdesk.pipeline import Pipeline, Repeat, When
from refdesk.steps import (
    Answer,
    Assess,
    Cite,
    Condense,
    Decompose,
    Dedupe,
    Distill,
    Expand,
    Gate,
    Ground,
    Loop,
    Reason,
    Recall,
    Remember,
    Rerank,
    Review,
    Rewrite,
    Screen,
    Search,
    Select,
)

IN_CODE = {
    "simple": Search() | Answer() | Cite(),
    "default": (Recall() | Condense() | Search() | Rerank() | Answer() | Cite() | Ground() | Remember()),
    "modular": (
        Recall()
        | Condense()
        | Gate()
        | Rewrite()
        | Select(collections="all")
        | Expand()
        | Decompose()
        | Search()
        | Reason(max_iterations=2)
        | Rerank(reranker="llm", threshold=7, keep_at_least=1)
        | Answer(self_correct=True, max_corrections=2)
        | Cite()
        | Ground()
        | Remember()
    ),
    "agentic": Recall() | Loop() | Cite() | Ground() | Remember(),
    "forum": (
        Screen()
        | Recall()
        | Condense(timeout=30)
        | Screen(id="screen_condensed", text="condensed")
        | Search(top_k=25, mode="hybrid", fusion="rrf", on_arm_error="continue", arm_timeout=20)
        | Rerank(depth=25, timeout=20)
        | Dedupe(by=("topic_id", "document"), keep=6)
        | Assess()
        | Answer(evidence=6, show=("category", "tags"), on_model_error="sources", model_timeout=120)
        | Cite()
        | Ground()
        | Remember()
    ),
    "assistant": (
        Recall()
        | Condense()
        | Rewrite()
        | Search()
        | Rewrite(after_retrieval=True)
        | Search()
        | Distill()
        | Answer()
        | Review()
        | Cite()
        | Remember()
    ),
}
TEXT = """\
version: 1
name: leave
steps:
- rewrite: {after_retrieval: false}
- search:
    top_k: 5
    collection: [handbook, faq]
- when:
    condition: [hits<3, zone!=ok]
    steps:
    - expand
    - search:
    otherwise:
    - rerank: {threshold: 1}
- repeat:
    until: verdict=pass
    steps: [answer, review]
- cite
"""
SAME = Pipeline(
    (
        Rewrite(),
        Search(top_k=5, collection=("handbook", "faq")),
        When(
            condition=("hits<3", "zone!=ok"),
            steps=(Expand(), Search()),
            otherwise=(Rerank(threshold=1.0),),
        ),
        Repeat(until="verdict=pass", steps=(Answer(), Review())),
        Cite(),
    )
)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_equals_its_form_in_code(name: str) -> None:
    checked = check_pipeline(name)
    assert checked.pipeline == IN_CODE[name]
    assert checked.remarks == ()
    assert checked.pipeline.name == name
    assert load_pipeline(to_data(IN_CODE[name])) == IN_CODE[name]


def test_presets_are_the_files_and_say_when_to_use_them() -> None:
    folder = Path(__file__).parents[2] / "src" / "refdesk" / "configuration" / "presets"
    assert sorted(presets()) == sorted(file.stem for file in folder.iterdir())
    assert set(presets()) == set(IN_CODE)
    for name, text in presets().items():
        assert len(text) > 40, name
        assert any("#" in line for line in (folder / f"{name}.yaml").read_text("utf-8").splitlines()), name


def test_presets_that_need_a_model_say_so() -> None:
    needing = {name for name in PRESETS if load_pipeline(name).problems(llm=False)}
    assert needing == {name for name, text in presets().items() if "Needs a language model" in text}
    assert needing == {"modular", "agentic", "assistant"}


def test_a_file_a_text_and_a_mapping_make_the_same_as_code(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(TEXT, "utf-8")
    mapping = {
        "version": 1,
        "steps": [
            "rewrite",
            {"search": {"top_k": 5, "collection": ("handbook", "faq")}},
            {
                "when": {
                    "condition": ["hits<3", "zone!=ok"],
                    "steps": ["expand", {"search": None}],
                    "otherwise": [{"rerank": {"threshold": 1}}],
                }
            },
            {"repeat": {"until": "verdict=pass", "steps": ["answer", {"review": {}}]}},
            "cite",
        ],
    }
    assert load_pipeline(file) == load_pipeline(str(file)) == SAME
    assert pipeline_from_text(TEXT) == load_pipeline(mapping) == SAME


def test_a_pipeline_is_named_by_its_key_else_its_file_else_the_call(tmp_path: Path) -> None:
    file = tmp_path / "own.yml"
    file.write_text("version: 1\nsteps: [search, answer]", "utf-8")
    assert load_pipeline(file).name == "own"
    assert pipeline_from_text(TEXT, name="given").name == "leave"
    assert pipeline_from_text("version: 1\nsteps: [search, answer]", name="given").name == "given"
    assert load_pipeline({"version": 1, "steps": ["search", "answer"]}).name == ""


def test_a_preset_goes_before_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("simple").write_text("nonsense", "utf-8")
    assert load_pipeline("simple") == IN_CODE["simple"]


def test_json_is_yaml_and_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_bytes(b'\xef\xbb\xbf{"version": 1, "steps": ["search", {"answer": {"evidence": 3}}]}')
    assert load_pipeline(file) == Search() | Answer(evidence=3)


def test_steps_and_implementations_that_are_given_can_be_named() -> None:
    text = """\
version: 1
steps:
- shorten: {words: 3}
- rewrite: {rewriter: upper}
- rewrite: {rewriter: {shout: {suffix: "!"}}}
- rerank: {reranker: llm}
- rerank: {reranker: own}
- search
- answer
"""
    workers = {"upper": str.upper, "shout": Upper, "own": ordered}
    with pytest.raises(PipelineError):
        pipeline_from_text(text)
    loaded = pipeline_from_text(
        text.replace("- search\n", "").replace("- shorten", "- search\n- shorten"),
        steps=[Shorten],
        workers=workers,
    )
    assert loaded.steps[1:6] == (
        Shorten(words=3),
        Rewrite(rewriter=str.upper),
        Rewrite(rewriter=(Upper, {"suffix": "!"})),
        Rerank(reranker="llm"),
        Rerank(reranker=ordered),
    )


def test_a_given_step_takes_no_name_of_another() -> None:
    class Rerank(Shorten):
        pass

    with pytest.raises(InputError, match="'rerank', which another step has"):
        load_pipeline("default", steps=[Rerank])
    with pytest.raises(InputError, match="is none"):
        load_pipeline("default", steps=[not_a_step])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("folder.yaml", None, "is a folder"),
        ("binary.yaml", b"\x00\xff\xfe\x80", "no UTF-8 text, as byte 2 shows"),
        ("latin.yaml", "name: Größe".encode("latin-1"), "no UTF-8 text"),
        ("steps.txt", b"version: 1", "ends in '.txt'"),
        ("huge.yaml", b"# \n" * 400_000, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    path = tmp_path / name
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        load_pipeline(path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("modlar", "Did you mean 'modular'?"),
        ("nowhere/own.yaml", "Presets: simple"),
        ("a\x00b.yaml", "Presets"),
    ],
)
def test_what_does_not_exist(name: str, hint: str) -> None:
    with pytest.raises(NotFound) as raised:
        load_pipeline(name)
    assert hint in str(raised.value)


def test_a_name_that_no_system_takes() -> None:
    with pytest.raises((InputError, NotFound)):
        load_pipeline("x" * 5000 + ".yaml")


def test_loading_the_same_preset_twice_gives_the_same_value() -> None:
    assert load_pipeline("modular") is load_pipeline("modular")


def test_the_form_that_the_docs_show_loads() -> None:
    page = Path(__file__).parents[2] / "docs" / "configuration.md"
    [shown] = re.findall(r"^```yaml\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert [step.name for step in pipeline_from_text(shown).steps] == ["search", "when", "repeat", "cite"]
