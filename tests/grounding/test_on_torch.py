"""Classifiers that run on the package transformers, where it is installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.grounding.tiny import EVIDENCE

from refdesk.errors import ModelError
from refdesk.grounding.entailment import NliGrounder
from refdesk.grounding.opening import Options, open_classifier
from refdesk.grounding.tokenwise import TokenGrounder
from refdesk.testing.models import tiny_tokenizer
from refdesk.testing.rerankers import sample_hits

transformers = pytest.importorskip("transformers", reason="the package transformers is not installed")
torch = pytest.importorskip("torch", reason="the package torch is not installed")

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("default")]

ANSWER = "Thirty days of leave are granted [1]. Whales sing."
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
NAMED = {"id2label": {0: "contradiction", 1: "neutral", 2: "entailment"}}


def saved(folder: Path, kind: str, config: Any, **options: Any) -> Path:
    """Save a model with random weights; a token is a letter."""
    torch.manual_seed(0)
    tokenizer = tiny_tokenizer()
    named = config(vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **options)
    getattr(transformers, kind)(named).eval().save_pretrained(folder, safe_serialization=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def expected(folder: Path, kind: str, evidence: str, statement: str, *, types: bool) -> Any:
    """Return what the package itself says of a pair."""
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    encoding = tiny_tokenizer().encode(evidence, statement)
    rows = {
        "input_ids": torch.tensor([encoding.ids]),
        "attention_mask": torch.tensor([encoding.attention_mask]),
    }
    if types:
        rows["token_type_ids"] = torch.tensor([encoding.type_ids])
    with torch.no_grad():
        return torch.softmax(model(**rows).logits[0], -1).numpy()


@pytest.mark.parametrize(
    ("config", "options", "types"),
    [
        (
            "DebertaV2Config",
            {"type_vocab_size": 0, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
            False,
        ),
        (
            "ModernBertConfig",
            {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3},
            False,
        ),
        ("ElectraConfig", {"embedding_size": 32}, True),
    ],
)
async def test_a_sequence_classifier_says_what_the_package_says(
    tmp_path: Path, config: str, options: dict[str, Any], types: bool
) -> None:
    kind = config.replace("Config", "ForSequenceClassification")
    folder = saved(tmp_path / "model", kind, getattr(transformers, config), **SMALL, **options, **NAMED)
    classifier = open_classifier(folder)
    pair = classifier.tokenizer.pair("thirty days", "days are granted")
    longer = classifier.tokenizer.pair("thirty days of leave, and no more", "days")
    judged = (await classifier.judge([longer, pair]))[1]
    wanted = expected(folder, kind, "thirty days", "days are granted", types=types)
    assert float(judged.entailment) == pytest.approx(float(wanted[2]), abs=1e-5)
    assert float(judged.contradiction) == pytest.approx(float(wanted[0]), abs=1e-5)
    grounding = await NliGrounder(classifier).ground(ANSWER, sample_hits(EVIDENCE))
    assert grounding.score is not None


async def test_a_token_classifier_says_what_the_package_says(tmp_path: Path) -> None:
    special = {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    kind = "ModernBertForTokenClassification"
    folder = saved(tmp_path / "model", kind, transformers.ModernBertConfig, num_labels=2, **SMALL, **special)
    classifier = open_classifier(folder, options=Options(template=""))
    (judged,) = await classifier.judge([classifier.tokenizer.pair("thirty days", "days are")])
    wanted = expected(folder, kind, "thirty days", "days are", types=False)[-8:-1, 0]
    assert np.allclose(judged.entailment, wanted, atol=1e-5)
    grounding = await TokenGrounder(open_classifier(folder)).ground(ANSWER, sample_hits(EVIDENCE))
    assert len(grounding.token_labels) == len(ANSWER.replace(" [1]", "").replace(" ", ""))


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    folder = saved(
        tmp_path / "model", "ElectraForSequenceClassification", transformers.ElectraConfig, **SMALL, **NAMED
    )
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="neither"):
        open_classifier(folder)


def test_weights_that_cannot_be_loaded_are_named(tmp_path: Path) -> None:
    folder = saved(
        tmp_path / "model", "ElectraForSequenceClassification", transformers.ElectraConfig, **SMALL, **NAMED
    )
    (folder / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="cannot load"):
        open_classifier(folder)
