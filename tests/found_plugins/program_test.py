"""Plug-ins as users of the program meet them: found, listed, tried in a child, run, refused."""

import json
import os
import re
import shutil

import pytest
from scene import BINARY, PLUGINS, TINY, User


@pytest.fixture
def user(tmp_path):
    return User(tmp_path)


def test_a_plug_in_is_added_used_and_removed(user):
    added = user.json("backends", "add", PLUGINS / "moody.so")
    assert added["name"] == "moody" and added["version"] == "1.2" and added["devices"] == ["moody:CPU"]
    assert added["library"] == str(PLUGINS / "moody.so") and added["reason"] == ""
    assert added["file"] == str(user.folder / "moody.json")
    (one,) = user.listed("moody")
    assert (one["state"], one["reason"], one["source"]) == ("ready", "", "user's plug-ins")
    assert one["settings"] == [{"key": "plugin.moody.speed", "value": "slow|fast", "help": "Changes nothing."}]
    devices = user.json("devices")["devices"]
    assert [each["id"] for each in devices if each["backend"] == "moody"] == ["moody:CPU"]
    assert user.json("backends", "rm", "moody")["files"] == [added["file"]]
    assert user.listed("moody") == []
    assert (PLUGINS / "moody.so").exists()
    done = user.run("backends", "rm", "moody")
    assert done.returncode == 1 and "there is no plug-in 'moody'" in done.stderr


def test_a_manifest_is_added_with_the_full_path_of_its_library(user, tmp_path):
    shutil.copy2(PLUGINS / "moody.so", tmp_path / "m.so")
    (tmp_path / "vendor").mkdir()
    manifest = user.install("../../m.so", "moody", folder=tmp_path / "vendor" / "manifests", description="for tests")
    added = user.json("backends", "add", manifest)
    written = json.loads((user.folder / "moody.json").read_text())
    assert written["library"] == added["library"] and os.path.samefile(added["library"], tmp_path / "m.so")
    (one,) = user.listed("moody")
    assert one["state"] == "ready" and one["description"] == "for tests"


def test_doctor_runs_a_model_on_it_and_prints_where_it_looked(user):
    user.install("moody.so", "moody")
    text = user.good("doctor").stdout
    assert "moody:CPU: works" in text
    assert re.search(r"plug-ins: looked for manifests in:\n.*\n +" + re.escape(str(user.folder / "moody.json")), text)
    report = user.json("doctor")
    assert {"place": str(user.folder / "moody.json"), "source": "user's plug-ins", "outcome": "plug-in moody"} in report[
        "plugin_search"]
    assert any(step["place"] == "/etc/latebind/backends" for step in report["plugin_search"])


def embedded(user, device, **options):
    done = user.good("embed", TINY, "-", "--device", device, input="one\ntwo words\n", **options)
    return [json.loads(line)["embedding"] for line in done.stdout.splitlines()]


def test_it_computes_what_its_twin_computes(user):
    user.install("native_twin.so", "twin")
    assert embedded(user, "twin:CPU") == embedded(user, "native:CPU")


def test_what_it_does_not_take_goes_on_to_the_next_device_named(user):
    user.install("moody.so", "moody")
    done = user.run("embed", TINY, "-", "--device", "moody,native", input="one\n")
    assert done.returncode == 0, done.stderr
    assert "moody" in done.stderr and "native:CPU" in done.stderr
    done = user.run("embed", TINY, "-", "--device", "moody,native", "--strict", input="one\n")
    assert done.returncode == 1 and "moody adds two inputs of f32" in done.stderr


@pytest.mark.parametrize("slot", ["entry", "create", "available", "devices", "load", "execute"])
def test_a_crash_is_a_reason_and_costs_nobody_else(user, slot):
    user.install("moody.so", "moody")
    user.install("native_twin.so", "twin")
    mood = f"crash_in_{slot}"
    reason = user.reason("moody", mood=mood)
    assert "crashed with signal 6 when it was tried in its own process" in reason
    assert "tried again when the library changes, after an hour, or at once by `latebind backends --retry`" in reason
    assert user.reason("twin", mood=mood) == ""
    # It is remembered, whatever it would do now.
    assert "minutes ago" in user.reason("moody")
    assert user.listed("moody")[0]["state"] == "refused"
    (one,) = [each for each in user.json("backends", "--retry")["backends"] if each["name"] == "moody"]
    assert one["state"] == "ready"
    assert user.reason("moody") == ""


def test_a_plug_in_that_leaves_is_refused(user):
    user.install("moody.so", "moody")
    assert "ended with exit status 7 without an answer" in user.reason("moody", mood="exit_in_create")


def test_one_that_computes_wrongly_is_refused(user):
    user.install("moody.so", "moody")
    reason = user.reason("moody", mood="wrong")
    assert "computes wrongly on moody:CPU: 3 and -4 came back as 1.5 and -2" in reason


def test_a_success_is_remembered_by_the_bytes_of_the_library(user, tmp_path):
    library = tmp_path / "copy.so"
    shutil.copy2(PLUGINS / "moody.so", library)
    user.install(library, "moody")
    assert user.reason("moody") == ""
    # No child is started: it would crash.
    assert user.reason("moody", env={"LATEBIND_TRIAL_PROGRAM": "/bin/false"}) == ""
    shutil.copyfile(PLUGINS / "moody.so", tmp_path / "again.so")
    os.replace(tmp_path / "again.so", library)
    assert user.reason("moody", env={"LATEBIND_TRIAL_PROGRAM": "/bin/false"}) == ""
    other_settings = user.reason("moody", "--plugin", "moody.speed=fast", env={"LATEBIND_TRIAL_PROGRAM": "/bin/false"})
    assert "ended with exit status 1 without an answer" in other_settings
    with library.open("ab") as file:
        file.write(b"another version")
    assert "without an answer" in user.reason("moody", env={"LATEBIND_TRIAL_PROGRAM": "/bin/false"})


def test_a_newer_driver_is_met_by_a_child(user):
    user.install("moody.so", "moody")
    assert user.reason("moody") == ""
    assert "crashed" in user.reason("moody", mood="new_driver crash_in_load")
    user.json("backends", "--retry")
    assert user.reason("moody", mood="new_driver") == ""


def test_a_missing_driver_is_the_plug_ins_own_reason(user):
    user.install("moody.so", "moody")
    for _ in range(2):
        assert user.reason("moody", mood="no_driver") == "moody's driver is missing: install moody-driver"
    (one,) = user.listed("moody", mood="no_driver")
    assert one["state"] == "unavailable" and "install moody-driver" in one["reason"]
    assert user.reason("moody") == ""
    added = user.json("backends", "add", PLUGINS / "moody.so", mood="no_driver")
    assert "install moody-driver" in added["reason"]


def test_of_two_with_one_name_the_order_decides_and_says_so(user, tmp_path):
    user.install("moody.so", "moody")
    first = user.install("moody.so", "moody", folder=tmp_path / "first")
    hidden = user.listed("moody", env={"LATEBIND_BACKENDS": str(tmp_path / "first")})
    assert [(one["state"], one["file"]) for one in hidden] == [
        ("ready", str(first)), ("hidden", str(user.folder / "moody.json"))]
    assert f"hidden by {first}" in hidden[1]["reason"]


def test_names_of_built_in_backends_are_refused(user):
    user.install("moody.so", "native")
    (built_in, plug_in) = user.listed("native")
    assert built_in["built_in"] and built_in["state"] == "ready"
    assert plug_in["state"] == "unusable" and "'native' is a name of Latebind itself" in plug_in["reason"]


def test_a_manifest_for_another_machine_is_a_reason(user):
    user.install("moody.so", "moody", platform="linux-riscv64")
    assert "it is for linux-riscv64, and this is linux-" in user.reason("moody")
    done = user.run("embed", TINY, "-", "--device", "moody:CPU", input="one\n")
    assert done.returncode == 1 and "it is for linux-riscv64" in done.stderr


def test_a_library_that_is_no_plug_in_is_a_reason(user):
    user.install(str(BINARY / "lib" / "liblatebind.so"), "moody")
    assert "lb_backend_entry" in user.reason("moody")
    done = user.run("backends", "add", BINARY / "lib" / "liblatebind.so")
    assert done.returncode == 1 and "lb_backend_entry" in done.stderr
    assert not (user.folder / "liblatebind.json").exists()


def test_where_a_plug_in_is_missed_a_manifest_without_a_name_is_named(user):
    place = user.install("moody.so", "moody")
    place.write_text("{")
    for device in ("moody", "moody:CPU"):
        done = user.run("embed", TINY, "-", "--device", device, input="one\n")
        assert done.returncode == 2 and "unknown" in done.stderr
        assert f"the manifest {place} of a plug-in is left out, and `latebind backends` says why" in done.stderr
    assert str(place) in user.run("devices", "--device", "moody").stderr
    place.unlink()
    assert "manifest" not in user.run("devices", "--device", "moody").stderr


def test_a_library_of_another_name_than_its_manifest_is_refused(user):
    user.install("moody.so", "other")
    assert "is the plug-in 'moody', and its manifest says 'other'" in user.reason("other")


def test_settings_are_checked_at_the_first_use(user):
    user.install("moody.so", "moody")
    assert user.reason("moody", "--plugin", "moody.speed=fast") == ""
    reason = user.reason("moody", "--plugin", "moody.speed=fats")
    assert "plugin.moody.speed 'fats' (did you mean fast?)" in reason
    reason = user.reason("moody", "--plugin", "moody.sped=fast")
    assert "speed" in reason and "sped" in reason
    config = user.home / "config" / "latebind"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[plugin.moody]\nspeed = "quick"\n')
    assert "plugin.moody.speed 'quick'" in user.reason("moody")
    done = user.run("devices", "--plugin", "speed=fast")
    assert done.returncode == 2 and "plugin.NAME.KEY" in done.stderr


def test_a_setting_of_a_plug_in_that_is_not_there_is_a_warning(user):
    user.install("moody.so", "moody")
    done = user.good("devices", "--plugin", "mody.speed=fast")
    assert "plugin.mody.speed is set, but there is no plug-in mody (did you mean moody?)" in done.stderr


def test_none_ends_the_search(user):
    user.install("moody.so", "moody")
    assert user.listed("moody", env={"LATEBIND_BACKENDS": "none"}) == []
    assert user.json("backends", "--backends-path", "none")["search"] == []


def test_a_folder_that_others_may_write_to_is_left_out(user):
    place = user.install("moody.so", "moody")
    user.folder.chmod(0o777)
    (one,) = [each for each in user.json("backends")["backends"] if each["file"] == str(place)]
    assert one["name"] == "" and one["state"] == "unusable" and "is writable by every user" in one["reason"]
    named = user.listed("moody", env={"LATEBIND_BACKENDS": str(place)})
    assert named[0]["state"] == "ready"


def test_the_active_python_environment_is_searched(user, tmp_path):
    package = tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "latebind_backend_moody"
    user.install("moody.so", "moody", folder=package, file="latebind_backend.json")
    assert user.listed("moody", env={"VIRTUAL_ENV": str(tmp_path / "venv")})[0]["source"] == "VIRTUAL_ENV"


def test_a_library_beside_files_of_others_is_not_added(user, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    shutil.copy2(PLUGINS / "moody.so", folder / "moody.so")
    folder.chmod(0o777)
    done = user.run("backends", "add", folder / "moody.so")
    assert done.returncode == 1 and "would not be used" in done.stderr
    assert not user.folder.exists()


def test_one_that_crashes_is_not_added(user):
    done = user.run("backends", "add", PLUGINS / "moody.so", mood="crash_in_execute")
    assert done.returncode == 1 and "crashed with signal 6" in done.stderr
    assert not user.folder.exists()


def test_a_start_opens_nothing_of_a_plug_in_that_it_does_not_use(user):
    user.install("moody.so", "moody")
    # Neither this process nor a child comes to the plug-in, which would end it.
    done = user.good("embed", TINY, "-", "--device", "native:CPU", mood="crash_in_entry", input="one\n")
    assert done.stdout and "plug-in" not in done.stderr and not user.memory.exists()
