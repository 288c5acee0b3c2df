"""Every option of `latebind serve` is a setting, and every setting is taken from its variable and from config.toml."""

import json
import re
import subprocess
import urllib.request

import pytest
from daemon import PROGRAM, TINY, Daemon, run_serve

# Where settings come from, the families of those without a name, and the help itself.
# --host and --port are one more address of --listen.
NO_SETTINGS = {"--config", "--property", "--plugin", "--help", "--host", "--port"}

# What a setting of some other form than true|false or N may be set to, by its key.
VALUES = {
    "device": "openvino:CPU", "precision": "f16,f32", "hint": "latency", "input_shapes": "1x8,1x8", "native.isa": "portable",
    "embedding.shapes": "dynamic", "embedding.static_lengths": "16,64", "verification.against": "native:CPU",
    "cache.enabled": "false", "cache.max_size": "1024", "failover.run_timeout_ms": "5", "failover.load_timeout_ms": "6",
    "server.models": "a=one,two", "server.listen": "127.0.0.1:1,unix:/s", "server.cors_origins": "https://a.org,https://b.org",
    "server.max_body": "1024", "server.max_held": "2048", "server.log_format": "json", "server.log_level": "error",
}


def latebind(*arguments, env=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=60, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def reference():
    """{key: (form of its value, default, variable, flag)} of every setting."""
    found = {}
    for part in latebind("config", "--reference").split("\n## `")[1:]:
        line = {name: re.search(rf"^- {name}: `(.*?)`", part, re.MULTILINE) for name in ("value", "environment", "flag")}
        default = re.search(r"default (?:`(.*)`|empty)$", part, re.MULTILINE)
        found[part.partition("`")[0]] = (line["value"][1], default[1] or "", *(
            line[name] and line[name][1] for name in ("environment", "flag")))
    return {key: one for key, one in found.items() if not key.endswith("KEY")}


SETTINGS = reference()


def another_value(key):
    form, default, _, _ = SETTINGS[key]
    if key in VALUES:
        return VALUES[key]
    if form == "true|false":
        return "false" if default == "true" else "true"
    return "3" if form == "N" else "/some/text"


def in_force(*arguments, env=None):
    report = json.loads(latebind("config", "--json", *arguments, env=env))
    return {one["key"]: (one["value"], one["origin"]) for one in report["settings"]}


def test_every_option_of_serve_is_a_setting():
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", latebind("serve", "--help").partition("Examples:")[0]))
    options = {option for option in options if not option.startswith("--no-")} - NO_SETTINGS
    by_flag = {flag: variable for _, _, variable, flag in SETTINGS.values() if flag}
    assert len(options) > 40 and options - set(by_flag) == set()
    assert [option for option in options if not by_flag[option]] == [], "each has a variable, too"
    ours = {flag for key, (_, _, _, flag) in SETTINGS.items() if key.startswith("server.") and flag}
    assert ours - options == set(), "the daemon's settings are options of serve"


@pytest.mark.parametrize("source", ["environment", "file"])
def test_every_setting_is_taken_from_its_variable_and_from_a_file(source, tmp_path):
    given = {key: another_value(key) for key in SETTINGS}
    if source == "environment":
        env = {variable: given[key] for key, (_, _, variable, _) in SETTINGS.items()}
        assert None not in env, "every setting has a variable"
        found = in_force(env={"HOME": str(tmp_path)} | env)
    else:
        file = tmp_path / "config.toml"
        file.write_text("".join(f'{key} = "{value}"\n' for key, value in given.items()))
        found = in_force("--config", file, env={"HOME": str(tmp_path)})
    for key, value in given.items():
        origin = f"environment {SETTINGS[key][2]}" if source == "environment" else f"{tmp_path}/config.toml:"
        assert found[key][1].startswith(origin), key
        assert found[key][0] == ("(not shown)" if key == "server.api_key" else value), key
    assert all(given[key] != default for key, (_, default, _, _) in SETTINGS.items())


def status_of(url, **headers):
    request = urllib.request.Request(url + "/v1/models", headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, [one["id"] for one in json.load(answer)["data"]]
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["error"]["message"]


def test_a_daemon_is_configured_by_variables_alone():
    env = {"LATEBIND_MODEL": f"one={TINY},two={TINY}", "LATEBIND_API_KEY": "our-secret", "LATEBIND_QUIET": "true"}
    with Daemon(models=(), env=env) as daemon:
        assert status_of(daemon.url, x_api_key="our-secret") == (200, ["one", "two"])
        code, why = status_of(daemon.url)
        assert code == 401 and "the request has no key" in why
        code, why = status_of(daemon.url, Authorization="Bearer other-secret")
        assert code == 401 and "not a key of this server" in why
        assert daemon.end() == 0
        assert "secret" not in daemon.log() and "ready in" not in daemon.log()


def test_a_daemon_is_configured_by_a_file_alone(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(f'[server]\nmodels = ["one={TINY}", "two={TINY}"]\napi_key = "our-secret"\n')
    with Daemon("--config", file, models=()) as daemon:
        assert status_of(daemon.url, x_api_key="our-secret") == (200, ["one", "two"])
    with Daemon("--config", file) as daemon:
        assert status_of(daemon.url, x_api_key="our-secret") == (200, ["f32"]), "the command line takes the list's place"


def test_models_are_arguments_and_the_address_is_a_host_and_a_port():
    with Daemon(f"one={TINY}", "--model", f"two={TINY}", f"three={TINY}", "--host", "127.0.0.1", "--port", "0", models=(),
                listen=":0") as daemon:
        assert status_of(daemon.url) == (200, ["one", "two", "three"])
        addresses = (daemon.folder / "ready").read_text().split()
        assert len(set(addresses)) == 2 and all(one.startswith("http://127.0.0.1:") for one in addresses), addresses
    code, said = run_serve(TINY, "--port", "80a")
    assert code == 2 and "--port must be a whole number from 0 to 65535, not '80a'" in said, said


@pytest.mark.parametrize("flag", ["--alias", "--listen"])
def test_an_empty_list_on_the_command_line_is_refused(flag):
    code, said = run_serve(TINY, flag, "")
    assert code == 2 and f"{flag}" in said and "is empty" in said, said


def test_a_daemon_without_a_model_says_how_to_name_one():
    code, said = run_serve()
    assert code == 2 and all(way in said for way in ("--model", "LATEBIND_MODEL", "server.models")), said


@pytest.mark.parametrize("key", ["two words", "a\tb"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key):
    code, said = run_serve("--model", TINY, env={"LATEBIND_API_KEY": key})
    assert code == 2 and "environment LATEBIND_API_KEY: server.api_key" in said and key not in said
