import numpy as np
import pytest

from refdesk.errors import InputError, ModelError
from refdesk.grounding.labels import Labels, chosen_labels, label_names, read_labels

LOGITS = np.array([[3.0, 0.0, -1.0], [-2.0, 0.0, 4.0]], np.float32)


@pytest.mark.parametrize(
    ("names", "entailment", "contradiction"),
    [
        (("entailment", "neutral", "contradiction"), 0, 2),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), 2, 0),
        (("contradiction", "entailment", "neutral"), 1, 0),
        (("Refutes", "Not Enough Info", "Supports"), 2, 0),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), 0, 1),
        (("entailment", "not_entailment"), 0, None),
        (("not_entailment", "entailment"), 1, None),
        (("hallucinated", "consistent"), 1, None),
        (("entailment", "contradiction"), 0, None),
        (("supported", "hallucinated"), 0, None),
        (("supported", "something else", "and more"), 0, None),
    ],
)
def test_labels_are_known_by_their_names(
    names: tuple[str, ...], entailment: int, contradiction: int | None
) -> None:
    assert read_labels(names, len(names), "folder") == Labels(len(names), entailment, contradiction)


@pytest.mark.parametrize(
    "names",
    [("positive", "negative"), ("entailment", "entails"), ("neutral", "contradiction"), ("yes", "no")],
)
def test_names_that_do_not_tell_are_an_error_that_names_them(names: tuple[str, ...]) -> None:
    with pytest.raises(ModelError, match=names[0]) as caught:
        read_labels(names, len(names), "folder")
    assert "Options(entailment=NUMBER" in caught.value.remedy


@pytest.mark.parametrize("count", [2, 3])
def test_labels_without_names_are_an_error_that_says_which_option_to_give(count: int) -> None:
    with pytest.raises(ModelError, match=f"{count} labels mean.*Options\\(entailment=NUMBER"):
        read_labels((), count, "folder")


def test_a_single_logit_and_two_labels_of_tokens_need_no_names() -> None:
    assert read_labels((), 1, "folder") == Labels(1, 0)
    assert read_labels((), 2, "folder", token=True) == Labels(2, 0)
    with pytest.raises(ModelError):
        read_labels((), 3, "folder", token=True)


def test_a_single_logit_may_say_the_opposite() -> None:
    logits = np.array([[2.0]], np.float32)
    held = read_labels(("entailment",), 1, "folder").entailed(logits)[0]
    wrong = read_labels(("hallucination",), 1, "folder").entailed(logits)[0]
    assert held == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert held + wrong == pytest.approx(1.0)


def test_more_names_than_numbers_are_an_error() -> None:
    with pytest.raises(ModelError, match=r"gives 768 numbers.*names 2 labels"):
        read_labels(("entailment", "not_entailment"), 768, "folder")


def test_names_are_read_however_they_are_written() -> None:
    assert label_names({"id2label": {"1": "b", "0": "a"}}, "folder") == ("a", "b")
    assert label_names({"label2id": {"b": 1, "a": 0}}, "folder") == ("a", "b")
    assert label_names({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, "folder") == ()
    assert label_names({"id2label": {"0": "0", "1": "1"}}, "folder") == ()
    assert label_names({}, "folder") == ()
    for wrong in ({"0": "a", "2": "b"}, ["a"], {"x": "a"}):
        with pytest.raises(ModelError, match="folder"):
            label_names({"id2label": wrong}, "folder")


def test_probabilities_add_up_and_keep_their_places() -> None:
    labels = Labels(3, entailment=0, contradiction=2)
    held, denied = labels.entailed(LOGITS), labels.contradicted(LOGITS)
    assert held[0] > 0.9 > 0.1 > denied[0]
    assert denied[1] > 0.9 > 0.1 > held[1]
    assert held + denied + Labels(3, 1).entailed(LOGITS) == pytest.approx(1.0)
    assert Labels(3, 0).contradicted(LOGITS).tolist() == [0.0, 0.0]


def test_enormous_logits_are_probabilities_still() -> None:
    for value in (1e30, -1e30):
        assert Labels(1, 0).entailed(np.array([value], np.float32)) == pytest.approx(float(value > 0))
        assert np.isfinite(Labels(2, 0).entailed(np.array([value, 0.0], np.float32)))


def test_numbers_of_labels_are_checked() -> None:
    assert chosen_labels(3, 2, 0) == Labels(3, 2, 0)
    with pytest.raises(InputError, match=r"no label 3.*0 to 2"):
        chosen_labels(3, 3, None)
    with pytest.raises(InputError, match="contradiction"):
        chosen_labels(3, 1, -1)
    with pytest.raises(InputError, match="both"):
        chosen_labels(3, 1, 1)
