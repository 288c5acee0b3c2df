"""The programs of docs/python.md and of the README, as they stand there, one after the other in one interpreter."""

import onnx
from onnx import TensorProto, helper
from support import NOWHERE, python, snippets


def run(document, folder):
    found = snippets(document)
    return len(found), python("\n".join(found), env={"HOME": str(folder)}, cwd=folder)


def saved(folder):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "graph", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx"
    )


def test_those_of_the_guide(tmp_path):
    saved(tmp_path)
    count, done = run("docs/python.md", tmp_path)
    # Those of hosts are the last; their own tests run them where the hosts are.
    assert count == 12
    assert "(2, 384) float32" in done.stdout and "5000" in done.stdout and "'corpus_id': " in done.stdout, done.stderr
    assert "(2, 45)" in done.stdout, done.stderr
    last = done.stderr.splitlines()[-1] if done.stderr else ""
    assert done.returncode == 0 or "pip install executorch" in last or "liblatebind_executorch.so" in last, done.stderr


def test_those_of_the_readme(tmp_path):
    count, done = run("README.md", tmp_path)
    assert count == 1
    assert done.returncode == 0, done.stderr
    assert "(2, 384)" in done.stdout


def test_a_wrong_one_would_be_seen(tmp_path):
    assert python("import latebind\nlatebind.Embedder('/nonexistent')", env=NOWHERE, cwd=tmp_path).returncode == 1
