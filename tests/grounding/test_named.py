from pathlib import Path

import pytest

from refdesk.embedding import TokenEmbedder
from refdesk.embedding.names import embedder_for
from refdesk.errors import InputError, ModelError
from refdesk.grounding.entailment import NliGrounder
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.grounding.local import LocalGrounder
from refdesk.grounding.named import grounder_for, part_of, problem_of
from refdesk.grounding.tokenwise import TokenGrounder
from refdesk.testing.classifiers import write_tiny_classifier
from refdesk.testing.embedders import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.models import write_tiny_model


def test_names_mean_grounders(tmp_path: Path) -> None:
    sentence = write_tiny_classifier(tmp_path / "sentence", ["a"])
    token = write_tiny_classifier(
        tmp_path / "token", ["a"], token=True, meanings="en", config={"id2label": None}
    )
    assert isinstance(grounder_for("lexical"), LexicalGrounder)
    assert isinstance(grounder_for("judge", llm=ScriptedLLM(["x"])), JudgedGrounder)
    assert isinstance(grounder_for(f"nli:{sentence}"), NliGrounder)
    assert isinstance(grounder_for(f"nli:{token}"), TokenGrounder)


@pytest.mark.model
def test_local_is_for_the_vectors_of_minilm() -> None:
    found = grounder_for("local", embedder=embedder_for("minilm"))
    assert isinstance(found, LocalGrounder)
    assert found.name == "local"


def test_local_is_lexical_for_other_vectors(tmp_path: Path) -> None:
    tiny = embedder_for(str(write_tiny_model(tmp_path / "tiny")), cache=tmp_path)
    assert isinstance(tiny, TokenEmbedder), "It has token vectors, of another model."
    for embedder in (tiny, HashingEmbedder(), None):
        assert isinstance(grounder_for("local", embedder=embedder), LexicalGrounder)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lexikal", "'lexical'"),
        ("lokal", "'local'"),
        ("local:folder", "'local'"),
        ("Judge", "'judge'"),
        ("nlj:folder", "'nli:FOLDER'"),
        ("nli", "'nli:FOLDER'"),
        ("nli:", "'nli:FOLDER'"),
        ("lexical:folder", "'lexical'"),
        ("judge:", "'judge'"),
        ("", "'local', 'lexical', 'judge', 'nli:FOLDER'"),
        ("whale", "'local', 'lexical', 'judge', 'nli:FOLDER'"),
    ],
)
def test_a_wrong_name_is_an_error_with_the_nearest_one(name: str, hint: str) -> None:
    problem = problem_of(name)
    assert problem is not None
    assert repr(name) in problem[0]
    assert hint in problem[1]
    with pytest.raises(InputError) as caught:
        grounder_for(name)
    assert (caught.value.message, caught.value.remedy) == problem


def test_right_names_have_no_problem() -> None:
    names = ("local", "lexical", "judge", "nli:a folder", "nli:C:\\models")
    assert [problem_of(name) for name in names] == [None] * 5


def test_a_judge_needs_a_model() -> None:
    with pytest.raises(InputError, match="language model"):
        grounder_for("judge")


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelError, match="absent"):
        grounder_for("nli:absent")


def test_a_folder_is_one_part_however_it_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert part_of("nli:model") == part_of(f"nli:{tmp_path}/./model") == part_of("nli:model/")
    assert part_of("lexical") == part_of("judge") == part_of("nli:") == ""
    assert part_of("local") == "local"
