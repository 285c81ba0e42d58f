"""Grounders of a desk: a classifier is opened once."""

from dataclasses import replace
from pathlib import Path

import pytest

from refdesk.desk.calls import CallServices
from refdesk.desk.services import Services
from refdesk.embedding.names import embedder_for
from refdesk.errors import InputError, ModelError, SettingsError
from refdesk.grounding.calibration import levels_of, measured_as, write_levels
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.levels import Levels
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.grounding.local import LocalGrounder
from refdesk.settings import Settings
from refdesk.testing.classifiers import write_tiny_classifier
from refdesk.testing.embedders import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
OWN = Levels(0.9, 0.4, "own answers")


@pytest.fixture
def services(tmp_path: Path) -> CallServices:
    settings = Settings(library=str(tmp_path / "library"), cache=str(tmp_path / "cache"))
    return CallServices(desk=Services(settings=settings), settings=settings, given=ScriptedLLM(["{}"]))


async def test_a_classifier_is_opened_once(services: CallServices, tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", ["leave"])
    one = await services.grounder(f"nli:{folder}")
    assert await services.grounder(f"nli:{folder}/../tiny/") is one
    other = write_tiny_classifier(tmp_path / "other", ["leave"])
    assert await services.grounder(f"nli:{other}") is not one


@pytest.mark.model
async def test_local_is_opened_once_for_the_embedder_of_the_desk(services: CallServices) -> None:
    services.desk.built["embedder"] = embedder_for("minilm")
    one = await services.grounder("local")
    assert isinstance(one, LocalGrounder)
    assert one.embedder is await services.desk.embedder()
    assert await services.grounder("local") is one


async def test_local_is_lexical_for_another_embedder(services: CallServices) -> None:
    services.desk.built["embedder"] = HashingEmbedder()
    one = await services.grounder("local")
    assert isinstance(one, LexicalGrounder)
    assert await services.grounder("local") is one


async def test_a_judge_asks_the_model_of_the_step_else_of_the_run(services: CallServices) -> None:
    of_step = ScriptedLLM(["{}"])
    found = [await services.grounder("judge"), await services.grounder("judge", of_step)]
    assert [isinstance(one, JudgedGrounder) and one.llm for one in found] == [services.given, of_step]


async def test_errors_come_when_it_is_asked_for_and_are_not_kept(
    services: CallServices, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="Did you mean 'lexical'"):
        await services.grounder("lexica")
    with pytest.raises(ModelError, match="absent"):
        await services.grounder(f"nli:{tmp_path / 'absent'}")
    write_tiny_classifier(tmp_path / "absent", ["leave"])
    assert await services.grounder(f"nli:{tmp_path / 'absent'}")


async def test_levels_of_the_calibration_file_are_taken_up_at_once(
    services: CallServices, tmp_path: Path
) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", ["leave"])
    shipped = [await services.grounder("lexical"), await services.grounder(f"nli:{folder}")]
    services.desk.calibration_file.parent.mkdir()
    for grounder in shipped:
        write_levels(services.desk.calibration_file, measured_as(grounder), OWN)
    found = [await services.grounder("lexical"), await services.grounder(f"nli:{folder}")]
    assert [levels_of(one) for one in found] == [OWN, OWN]
    assert found == [replace(one, levels=OWN) for one in shipped]  # type: ignore[type-var]
    services.desk.calibration_file.unlink()
    assert await services.grounder(f"nli:{folder}") is shipped[1]


async def test_a_broken_calibration_file_ends_the_run(services: CallServices) -> None:
    services.desk.calibration_file.parent.mkdir()
    services.desk.calibration_file.write_text("version: 1\ngrounders: {lexical: 3}", "utf-8")
    with pytest.raises(SettingsError, match="lexical"):
        await services.grounder("lexical")
