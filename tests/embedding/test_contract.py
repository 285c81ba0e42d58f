import subprocess
import sys

from refdesk.embedding import Fingerprint

SPACE = Fingerprint(model="m", revision="r", dimension=3)


def test_the_contract_loads_no_model_runtime() -> None:
    heavy = "{'onnxruntime', 'onnx', 'tokenizers', 'httpx', 'torch'}"
    code = f"import sys, refdesk.embedding; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_local_embedder_loads_no_exporter_and_no_http_client() -> None:
    heavy = "{'onnx', 'httpx', 'torch'}"
    code = f"import sys, refdesk.embedding.names; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_spaces_that_differ_in_anything_have_other_names() -> None:
    others = [
        Fingerprint(model="m", revision="r", dimension=4),
        Fingerprint(model="m", revision="s", dimension=3),
        Fingerprint(model="m", revision="r", dimension=3, precision="int8"),
        Fingerprint(model="m", revision="r", dimension=3, pooling="cls"),
        Fingerprint(model="m", revision="r", dimension=3, query_prefix="query: "),
        Fingerprint(model="m", revision="r", dimension=3, document_prefix="passage: "),
    ]
    assert len({str(SPACE), *map(str, others)}) == 7


def test_a_space_keeps_its_name() -> None:
    assert str(SPACE) == str(Fingerprint(model="m", revision="r", dimension=3))
    assert str(SPACE).startswith("m@fp32/3#")
