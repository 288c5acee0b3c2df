"""Runs a random model through Latebind and compares the results with ONNX's definition: for random_graphs.py."""

from __future__ import annotations

import ctypes
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from random_models import RandomModel, Rejected, run_by_onnxruntime, run_by_reference

BOUNDS = {"float32": 2e-4, "float16": 1e-2, "bfloat16": 6e-2}
# Errors that say that there is no result, as there is none in ONNX Runtime.
REFUSALS = ("as ONNX defines it", "computed differently from ONNX", "outside of the numbers")


def text_of(seed, operators="", types=()):
    made = RandomModel(seed, operators, types)
    return f"opset {made.b.opset}, {made.b.kind} numbers\n" + onnx.printer.to_text(made.model())


def difference(one, other, scale):
    """'' where the results are as expected, else how they differ."""
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"{one.dtype}{list(one.shape)} instead of {other.dtype}{list(other.shape)}"
    if other.dtype.name not in BOUNDS:
        wrong = one != other
    else:
        left, right = one.astype(np.float64), other.astype(np.float64)
        near = np.abs(left - right) <= BOUNDS[other.dtype.name] * scale
        wrong = ~(near | (left == right) | (np.isnan(left) & np.isnan(right)))
    if not wrong.any():
        return ""
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{one[where]!r} instead of {other[where]!r} at {list(where)}, {int(wrong.sum())} of {wrong.size}"


class Expected:
    """What a run's results are, or an error, and how far computed numbers reach on the way there."""

    def __init__(self, made: RandomModel, feeds):
        inner = [name for node in made.b.nodes for name in node.output if name]
        model = made.model(inner)
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        self.error = ""
        try:
            values = run_by_onnxruntime(model, feeds)
        except Exception as error:
            self.error = str(error)
            if not any(word in self.error for word in ("NOT_IMPLEMENTED", "bfloat16", "not implemented", "Type Error")):
                return
            try:
                known, self.error = made.b.by_steps(feeds), ""
                values = [known[name] for name in inner]
            except Rejected as other:
                self.error = f"undefined: {other}"
                return
        values = dict(zip(inner, values))
        self.results = [values[name] for name in made.outputs]
        floats = [array for array in [*values.values(), *feeds.values()] if array.dtype.name in BOUNDS]
        finite = [np.abs(array.astype(np.float64))[np.isfinite(array.astype(np.float64))] for array in floats]
        self.scale = max([1.0, *(float(array.max()) for array in finite if array.size)])
        # Sums that overflow one type and not another are not defined.
        # ONNX Runtime does not write the result of such a product of no numbers: it has what its memory had before.
        known = {**feeds, **values}
        self.is_unwritten = any(
            node.op_type == "QLinearMatMul" and known[node.output[0]].size
            and any(name in known and not known[name].size for name in node.input)
            for node in made.b.nodes
        )  # fmt: skip
        self.overflows = any(array.size and array.max() > 2e4 for array, given in zip(finite, floats) if given.dtype.name == "float16")


def outcome_of(made, expected, got, feeds):
    if expected.error:
        return ("undefined", expected.error[:200]) if expected.error.startswith("undefined") else ("no error", expected.error[:200])
    found = [difference(one, other, expected.scale) for one, other in zip(got, expected.results)]
    if not any(found):
        return "right", ""
    detail = "; ".join(f"{name}: {text}" for name, text in zip(made.outputs, found) if text)
    if expected.overflows:
        return "undefined", "f16 overflows"
    if expected.is_unwritten:
        return "undefined", "ONNX Runtime does not write a product of no numbers"
    try:
        others = run_by_reference(made.model(), feeds)
    except Exception:
        return "wrong", detail
    return ("wrong" if any(difference(one, other, expected.scale) for one, other in zip(got, others)) else "disputed"), detail


class Trial:
    def __init__(self, library, table, only="", operators="", types=()):
        self.only, self.made_of = only, (operators, types)
        self.folder = tempfile.TemporaryDirectory()
        if table == "none":
            table = str(Path(self.folder.name) / "empty.tsv")
            Path(table).write_text("")
        self.table = table
        self.library = ctypes.CDLL(library)
        self.library.LatebindAttestations.restype = ctypes.c_size_t
        onnxruntime.register_execution_provider_library("latebind", library)
        self.devices = [one for one in onnxruntime.get_ep_devices() if one.ep_name == "Latebind" and one.ep_metadata["latebind.device"] == "openvino:CPU"]

    def by_model(self, model, seed):
        """A function that runs the model; a text why there is none."""
        from latebind import Model
        from latebind.errors import LatebindError

        file = Path(self.folder.name) / "model.onnx"
        file.write_bytes(model.SerializeToString())
        try:
            options = {"openvino_known_errors": self.table} if self.table else {}
            loaded = Model(file, device="openvino:CPU", precision="f32", threads=1 + seed % 2, cache=False, **options)
        except LatebindError as error:
            return str(error)

        def run(feeds):
            made = loaded.run(feeds)
            return [made[output.name] for output in model.graph.output]

        return run

    def host_options(self, seed):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        if seed % 3 == 0:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return options

    def is_as_in_host(self, made, seed, got, expected, feeds):
        """Whether the host alone computes the same. It optimises the graph, so that it may differ from the definition, too."""
        session = onnxruntime.InferenceSession(made.model().SerializeToString(), self.host_options(seed), providers=["CPUExecutionProvider"])
        return not any(difference(one, other, expected.scale) for one, other in zip(got, session.run(None, feeds)))

    def by_provider(self, model, seed):
        options = self.host_options(seed)
        settings = {"threads": str(1 + seed % 2)} | ({"openvino.known_errors": self.table} if self.table else {})
        options.add_provider_for_devices(self.devices, settings)
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, enable_fallback=False)
        except Exception as error:
            return f"no session: {error}"
        text = ctypes.create_string_buffer(1 << 20)
        self.library.LatebindAttestations(text, ctypes.c_size_t(len(text)))
        if text.value == b"[]":
            return "left to the host"
        return lambda feeds: session.run(None, feeds)

    def rows_of(self, seed):
        made = RandomModel(seed, *self.made_of)
        if not made.outputs:
            return
        model = made.model()
        operators = sorted({node.op_type for node in made.b.nodes})
        expected = [(what, feeds, Expected(made, feeds)) for what, feeds in made.runs()]
        has_bf16 = any(array.dtype.name == "bfloat16" for _, feeds, one in expected for array in [*feeds.values(), *(getattr(one, "results", []))])
        for by in ("model", "provider"):
            row = {"seed": seed, "by": by, "operators": operators}
            if self.only not in ("", by) or (by == "provider" and has_bf16):
                continue
            run = getattr(self, "by_" + by)(model, seed)
            if isinstance(run, str):
                is_session = run.startswith("no session") and "Could not find an implementation" not in run and not expected[0][2].error
                yield row | {"outcome": "wrong" if is_session else "refused", "detail": run[:900]}
                continue
            for what, feeds, one in expected:
                try:
                    got = run(feeds)
                except Exception as error:
                    is_right = bool(one.error) or by == "model" or "Could not find an implementation" in str(error)
                    yield row | {"run": what, "outcome": "refused" if is_right else "wrong", "detail": f"{what}: {error}"[:900]}
                    continue
                outcome, detail = outcome_of(made, one, got, feeds)
                if outcome == "wrong" and by == "provider" and self.is_as_in_host(made, seed, got, one, feeds):
                    outcome = "disputed"
                yield row | {"run": what, "outcome": outcome, "detail": f"{made.b.kind}, {what}: {detail}, of {' '.join(operators)}"}

    def smallest(self, seed, by, what):
        """The model of the fewest nodes that still differs in a run of the whole, and how."""
        whole = RandomModel(seed, *self.made_of)
        feeds = next(feeds for name, feeds in whole.runs() if name == what)
        known = whole.b.by_steps(feeds)

        def differs(places):
            made = whole.part(places, known)
            if not made.outputs:
                return None
            run = getattr(self, "by_" + by)(made.model(), seed)
            expected = Expected(made, made.given)
            if isinstance(run, str) or expected.error:
                return None
            for _ in range(2):
                try:
                    outcome, detail = outcome_of(made, expected, run(made.given), made.given)
                except Exception as error:
                    outcome, detail = "wrong" if by == "provider" else "refused", str(error)[:500]
                if outcome == "wrong":
                    return made, detail
            return None

        kept = list(range(len(whole.b.nodes)))
        found = differs(kept)
        for place in reversed(list(kept)):
            less = [one for one in kept if one != place]
            if found and less and (other := differs(less)):
                kept, found = less, other
        return f"{onnx.printer.to_text(found[0].model())}\n{found[1]}" if found else "nothing differs"
