"""latebind config, and settings from files, the environment and flags."""

import json
import os

from support import MODEL, SOURCE, TINY, bad, good


def settings(*arguments, env=None):
    report = json.loads(good("config", "--json", *arguments, env=env).stdout)
    return {one["key"]: (one["value"], one["origin"]) for one in report["settings"]}


def test_later_sources_win_and_are_named(tmp_path):
    users = tmp_path / "latebind" / "config.toml"
    users.parent.mkdir()
    users.write_text('device = "openvino"\nthreads = 3\nprecision = "bf16"\n')
    named = tmp_path / "named.toml"
    named.write_text("threads = 4\nrequests = 2\n")
    env = {"XDG_CONFIG_HOME": str(tmp_path), "LATEBIND_REQUESTS": "5", "LATEBIND_STRICT": "true"}
    found = settings("--config", named, "--no-strict", env=env)
    assert found["device"] == ("openvino", f"{users}:1")
    assert found["precision"] == ("bf16", f"{users}:3")
    assert found["threads"] == ("4", f"{named}:1")
    assert found["requests"] == ("5", "environment LATEBIND_REQUESTS")
    assert found["strict"] == ("false", "--strict")
    assert found["embedding.batch_tokens"] == ("0", "default")


def test_properties_are_shown_with_where_they_come_from(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[property]\nNUM_STREAMS = 2\n"session.a.b" = "c"\n')
    found = settings("--config", file, "--property", "A=B=C")
    assert found["property.NUM_STREAMS"] == ("2", f"{file}:2")
    assert found["property.session.a.b"] == ("c", f"{file}:3")
    assert found["property.A"] == ("B=C", "--property")
    assert "--property must be KEY=VALUE" in bad(2, "config", "--property", "A")


def test_shapes_of_inputs_do_not_go_with_commands_that_have_their_own(tmp_path):
    env = {"LATEBIND_INPUT_SHAPES": "1x8,1x8"}
    line = bad(2, "compile", TINY, "--target", "cpu", "-o", tmp_path / "b", env=env)
    assert "input_shapes is set" in line and "--shapes" in line
    assert "embedding.static_lengths" in bad(1, "embed", "--model", TINY, env=env, input="a\n")


def test_what_is_configured_is_what_runs(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('device = "onnxruntime:CPU"\nthreads = 1\n')
    done = good("embed", "--model", TINY, "--config", file, input="a\n")
    assert "onnxruntime:CPU" in done.stderr
    done = good("embed", "--model", TINY, "--config", file, "--device", "openvino", input="a\n")
    assert "openvino:CPU" in done.stderr
    done = good("embed", "--model", TINY, env={"LATEBIND_DEVICE": "onnxruntime"}, input="a\n")
    assert "onnxruntime:CPU" in done.stderr


def test_mistakes_are_named_with_their_place_and_the_nearest_word(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text("\ndevcie = 1\n")
    line = bad(2, "embed", "--model", TINY, "--config", file)
    assert f"{file}:2: unknown setting 'devcie' (did you mean device?)" in line
    line = bad(2, "config", env={"LATEBIND_DEVCE": "npu"})
    assert "unknown environment variable 'LATEBIND_DEVCE' (did you mean LATEBIND_DEVICE?); `latebind config` lists all" in line
    assert len(line) < 300  # and not the names of fifty others
    line = bad(2, "embed", "--model", TINY, env={"LATEBIND_DEVICE": "nup"})
    assert "environment LATEBIND_DEVICE: unknown device 'nup' (did you mean npu?)" in line
    assert "did you mean npu?" in bad(2, "embed", "--model", MODEL, "--device", "nup")
    said = bad(2, "devices", env={"LATEBIND_NATIVE_ISA": "avx513"})
    assert "environment LATEBIND_NATIVE_ISA: native.isa: unknown value 'avx513' (did you mean avx512?)" in said
    line = bad(2, "config", "--precision", "bf61")
    assert "--precision: unknown precision 'bf61' (did you mean bf16?)" in line
    line = bad(2, "config", "--strict=maybe")
    assert line.count("--strict: ") == 1 and "must be true or false" in line
    assert "nowhere.toml" in bad(2, "config", "--config", tmp_path / "nowhere.toml")


def test_a_variable_that_names_a_library_is_blamed_itself():
    line = bad(1, "embed", "--model", TINY, "--device", "openvino",
               env={"LATEBIND_OPENVINO_LIBRARY": "/nonexistent/lib"}, input="a\n")
    assert "at the path set by LATEBIND_OPENVINO_LIBRARY" in line


def test_the_reference_in_the_documents_is_what_the_program_says():
    written = (SOURCE / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert good("config", "--reference").stdout == written, (
        "run: build/release/bin/latebind config --reference > docs/configuration.md")


def test_every_setting_can_be_read_back(tmp_path):
    lines = []
    for key, (value, _) in settings().items():
        table, _, name = key.rpartition(".")
        lines.append((table, f'{name} = "{value}"'))
    text = "".join(f"{line}\n" for table, line in lines if not table)
    for table in dict.fromkeys(table for table, _ in lines if table):
        text += f"[{table}]\n" + "".join(f"{line}\n" for other, line in lines if other == table)
    file = tmp_path / "all.toml"
    file.write_text(text)
    assert {key: value for key, (value, _) in settings("--config", file).items()} == {
        key: value for key, (value, _) in settings().items()}
    assert os.environ.get("XDG_CONFIG_HOME"), "the test must not read the developer's own configuration"


def test_config_prints_the_named_settings_and_says_how_to_set_one(tmp_path):
    assert good("config", "threads", "precision").stdout.splitlines()[0].startswith("threads ")
    assert list(settings("server.listen")) == ["server.listen"]
    assert "did you mean precision?" in bad(2, "config", "precison")
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    said = bad(2, "config", "set", "precision", "bf16", env=env)
    assert f'write `precision = "bf16"` at the top of {tmp_path / "latebind" / "config.toml"}' in said
    assert "set LATEBIND_PRECISION" in said and "give --precision" in said
    for words in (["set", "threads=3"], ["threads=3"], ["set", "threads", "3"]):
        assert "write `threads = 3` at" in bad(2, "config", *words, env=env)
    assert "write `strict = true` at" in bad(2, "config", "set", "strict", "true", env=env)
    assert 'write `property."A.B" = "C"` at' in bad(2, "config", "set", "property.A.B", "C", env=env)
    assert "did you mean precision?" in bad(2, "config", "set", "precison", "bf16")
    assert "bf17" in bad(2, "config", "set", "precision", "bf17")
    assert "prints settings and changes none" in bad(2, "config", "set")
    assert "'set precision' also has no value" in bad(2, "config", "set", "precision")
    assert "geheim" not in bad(2, "config", "set", "server.api_key", "geheim")
