"""What folders say of themselves, and what is said of folders that cannot be used."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from tests.grounding.tiny import WORDS, OpenTiny

from refdesk.errors import InputError, MissingExtra, ModelError
from refdesk.grounding.labels import Labels
from refdesk.grounding.opening import HHEM_TEMPLATE, TOKEN_TEMPLATE, Options, open_classifier
from refdesk.models.export import quantise
from refdesk.models.folder import read_folder
from refdesk.models.graphs import graph_file
from refdesk.testing.classifiers import write_tiny_classifier
from refdesk.testing.models import write_tiny_model

SENTENCES = ("Thirty days of leave are granted.", "Whales sing.", "It must not be asked for.", "The hotel!")

pytestmark = pytest.mark.anyio

UNNAMED = ("LABEL_0", "LABEL_1", "LABEL_2")
HHEM: dict[str, Any] = {"model_type": "HHEMv2Config", "architectures": ["HHEMv2ForSequenceClassification"]}


@pytest.mark.parametrize("meanings", ["enc", "cne", "nec"])
def test_three_labels_in_any_order(tiny: OpenTiny, meanings: str) -> None:
    found = tiny(meanings=meanings)
    assert found.kind == "sequence"
    assert found.labels == Labels(3, meanings.index("e"), meanings.index("c"))


def test_two_labels_and_one(tiny: OpenTiny) -> None:
    assert tiny("two", meanings="ne", names=("not_entailment", "entailment")).labels == Labels(2, 1)
    assert tiny("one", meanings="e", names=("LABEL_0",)).labels == Labels(1, 0)
    assert tiny("one", meanings="e", config={"id2label": None}).labels == Labels(1, 0)


def test_a_token_classifier_without_names(tiny: OpenTiny) -> None:
    found = tiny(token=True, meanings="en", config={"id2label": None})
    assert (found.kind, found.labels) == ("token", Labels(2, 0))


def test_a_token_classifier_with_names_in_another_order(tiny: OpenTiny) -> None:
    assert tiny(token=True, meanings="ne", names=("hallucinated", "supported")).labels == Labels(2, 1)


@pytest.mark.parametrize("names", [("hallucinated", "consistent"), ("LABEL_0", "LABEL_1")])
def test_hhem_is_known_by_its_type(tiny: OpenTiny, names: tuple[str, ...]) -> None:
    found = tiny(hhem=True, meanings="ne", names=names, config=HHEM)
    assert (found.kind, found.labels) == ("sequence", Labels(2, 1))
    single = found.tokenizer.pair("thirty days", "leave")
    assert (
        len(single.ids) == found.tokenizer.count(HHEM_TEMPLATE.format(text1="thirty days", text2="leave")) + 2
    )


def test_other_models_are_asked_as_hhem_where_options_say_so(tiny: OpenTiny) -> None:
    config = {"architectures": ["T5ForTokenClassification"], "id2label": None}
    options = Options(kind="sequence", entailment=1, template=HHEM_TEMPLATE)
    found = tiny(hhem=True, meanings="ne", config=config, options=options)
    assert (found.kind, found.labels) == ("sequence", Labels(2, 1))


def test_the_shape_of_the_numbers_tells_the_kind_where_config_is_silent(tiny: OpenTiny) -> None:
    assert tiny("a", config={"architectures": None}).kind == "sequence"
    silent = tiny("b", token=True, meanings="en", config={"architectures": None, "id2label": None})
    assert silent.kind == "token"
    plain = tiny("c", token=True, meanings="en", config={"id2label": None}, options=Options(template=""))
    framed = silent.tokenizer.count(TOKEN_TEMPLATE.format(text1=""))
    assert plain.tokenizer.room - silent.tokenizer.room == framed


def test_labels_can_be_given_by_number(tiny: OpenTiny) -> None:
    found = tiny(meanings="cne", names=UNNAMED, options=Options(entailment=2, contradiction=0))
    assert found.labels == Labels(3, 2, 0)
    with pytest.raises(InputError, match="no label 3"):
        tiny(meanings="cne", names=UNNAMED, options=Options(entailment=3))


def test_labels_without_names_are_an_error(tiny: OpenTiny) -> None:
    with pytest.raises(ModelError, match=r"3 labels mean.*Options\(entailment=NUMBER"):
        tiny(names=UNNAMED)
    with pytest.raises(ModelError, match="2 labels mean"):
        tiny(meanings="en", config={"id2label": None})


def test_a_length_can_be_given(tiny: OpenTiny) -> None:
    assert tiny(max_length=40).tokenizer.max_length == 40
    assert tiny(max_length=40, options=Options(max_length=90)).tokenizer.max_length == 90


def test_a_token_classifier_reads_pairs(tiny: OpenTiny) -> None:
    with pytest.raises(InputError, match=r"has \{text2\}"):
        tiny(token=True, meanings="en", options=Options(template=HHEM_TEMPLATE))


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("config.json", "has no config.json"),
        ("tokenizer.json", "has no tokenizer.json"),
        ("model.onnx", "neither"),
    ],
)
def test_what_a_folder_lacks_is_named(tmp_path: Path, missing: str, told: str) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=told) as caught:
        open_classifier(folder)
    assert str(folder) in str(caught.value)
    assert caught.value.remedy


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="absent"):
        open_classifier(tmp_path / "absent")
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="file"):
        open_classifier(tmp_path / "file")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_named(tmp_path: Path, file: str) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    (folder / file).write_text("nonsense", encoding="utf-8")
    with pytest.raises(ModelError, match=file):
        open_classifier(folder)


def graph(path: Path, inputs: Sequence[str], dimensions: Sequence[str | int]) -> None:
    """Write a graph that gives only zeros."""
    shape = helper.make_node(
        "Constant", [], ["shape"], value_ints=[one for one in dimensions if one != "batch"]
    )
    rows = helper.make_node("Shape", [inputs[0]], ["rows"], start=0, end=1)
    whole = helper.make_node("Concat", ["rows", "shape"], ["whole"], axis=0)
    zeros = helper.make_node("ConstantOfShape", ["whole"], ["logits"])
    made = helper.make_graph(
        [shape, rows, whole, zeros],
        "zeros",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, list(dimensions))],
    )
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def test_a_graph_that_takes_something_else_is_named(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    graph(folder / "model.onnx", ["pixels"], ["batch", 3])
    with pytest.raises(ModelError, match="takes pixels"):
        open_classifier(folder)


def test_a_graph_without_a_head_is_named(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    graph(folder / "model.onnx", ["input_ids"], ["batch", 768])
    with pytest.raises(ModelError, match="768 numbers"):
        open_classifier(folder)
    graph(folder / "model.onnx", ["input_ids"], ["batch", 2, 3])
    with pytest.raises(ModelError, match="which no sequence classifier does"):
        open_classifier(folder)


def test_a_token_classifier_has_to_judge_tokens(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    with pytest.raises(ModelError, match="which no token classifier does"):
        open_classifier(folder, options=Options(kind="token"))


def test_models_that_are_no_classifiers_are_named(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS, config={"architectures": ["BertModel"]})
    with pytest.raises(ModelError, match="BertModel"):
        open_classifier(folder)
    assert open_classifier(folder, options=Options(kind="sequence")).kind == "sequence"


@pytest.mark.parametrize("config", [HHEM, {"auto_map": {"AutoModel": "modeling.Model"}}])
def test_code_of_a_folder_is_never_run(tmp_path: Path, config: dict[str, Any]) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS, config=config)
    (folder / "model.onnx").rename(folder / "model.safetensors")
    (folder / "modeling.py").write_text("raise SystemExit('run')", encoding="utf-8")
    with pytest.raises(ModelError, match=r"code of its own.*ONNX"):
        open_classifier(folder)


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    (folder / "model.onnx").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="neither"):
        open_classifier(folder)


def test_other_architectures_need_the_extra(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS, config={"model_type": "deberta-v2"})
    (folder / "model.onnx").rename(folder / "model.safetensors")
    with pytest.raises((MissingExtra, ModelError)):
        open_classifier(folder)


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """A BERT classifier with one label and random weights; a token is a letter."""
    folder = write_tiny_model(tmp_path / "bert", head="logits", max_length=60)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    named = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "entailment"}}
    (folder / "config.json").write_text(json.dumps(config | named), encoding="utf-8")
    return folder


async def test_a_bert_classifier_is_exported_and_gives_the_same_in_any_company(
    bert: Path, tmp_path: Path
) -> None:
    found = open_classifier(bert, cache=tmp_path / "cache")
    pairs = [found.tokenizer.pair("a river", sentence) for sentence in SENTENCES]
    together = await found.judge(pairs)
    alone = [(await found.judge([pair]))[0] for pair in pairs]
    shuffled = await found.judge([pairs[2], pairs[0], pairs[0]])
    assert len({float(one.entailment) for one in alone}) == len(pairs)
    for one, other in zip(together, alone, strict=True):
        assert float(one.entailment) == pytest.approx(float(other.entailment), abs=1e-5)
    assert float(shuffled[0].entailment) == pytest.approx(float(alone[2].entailment), abs=1e-5)
    assert shuffled[1] is shuffled[2]


async def test_an_int8_graph_gives_the_same_in_any_company_too(bert: Path, tmp_path: Path) -> None:
    graph = graph_file(read_folder(bert), cache=tmp_path / "cache", precision="fp32", head="logits")
    quantise(graph, bert / "model_quantized.onnx")
    found = open_classifier(bert)
    pairs = [found.tokenizer.pair("a river", sentence) for sentence in SENTENCES]
    together = await found.judge(pairs)
    alone = [(await found.judge([pair]))[0] for pair in pairs]
    assert [float(one.entailment) for one in together] == [float(one.entailment) for one in alone]


async def test_a_graph_of_fixed_size_is_filled_up(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    free = open_classifier(folder)
    fixed = onnx.load(folder / "model.onnx")
    for one in (*fixed.graph.input, *fixed.graph.output):
        one.type.tensor_type.shape.dim[0].dim_value = 1
    for one in fixed.graph.input:
        one.type.tensor_type.shape.dim[1].dim_value = 48
    onnx.save(fixed, folder / "model.onnx")
    found = open_classifier(folder)
    assert found.tokenizer.max_length == 48
    pairs = [found.tokenizer.pair("Thirty days of leave are granted.", sentence) for sentence in SENTENCES]
    one, other = await found.judge(pairs), await free.judge(pairs)
    assert [float(done.entailment) for done in one] == pytest.approx(
        [float(done.entailment) for done in other]
    )
    assert one[0].entailment > 0.9 > 0.1 > one[1].entailment


async def test_a_number_that_is_none_is_an_error(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "tiny", WORDS)
    broken = onnx.load(folder / "model.onnx")
    for constant in broken.graph.initializer:
        if list(constant.dims) == [3]:
            constant.CopyFrom(
                onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(constant) * float("nan"))
            )
            constant.name = broken.graph.node[-1].input[1]
    onnx.save(broken, folder / "model.onnx")
    found = open_classifier(folder)
    with pytest.raises(ModelError, match="number that is none"):
        await found.judge([found.tokenizer.pair("a", "b")])
