"""What is in deploy/: Kubernetes' objects by its own schemas, the image by a linter, the units by systemd's checker, and all of
them by what they must agree in."""

import copy
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
DEPLOY = SOURCE / "deploy"
PROGRAM = Path(os.environ["LATEBIND_TEST_BINARY_DIR"]) / "bin" / "latebind"
KUBERNETES = DEPLOY / "kubernetes"
# The oldest that is still maintained, and the newest that the checker knows.
KUBERNETES_VERSIONS = ("1.34", "1.37")
# What --drain-timeout-ms is unless it is given.
DRAIN_MS = 30_000

# The fields of serving.kserve.io/v1alpha1, as the definition of the resource in KServe 0.11 to 0.21 has them. The rest of a
# runtime's spec is that of a pod.
RUNTIME_FIELDS = {
    "annotations", "builtInAdapter", "disabled", "grpcDataEndpoint", "grpcEndpoint", "httpDataEndpoint", "labels", "multiModel",
    "protocolVersions", "replicas", "storageHelper", "supportedModelFormats", "workerSpec",
}
RUNTIME_POD_FIELDS = {"affinity", "containers", "hostIPC", "imagePullSecrets", "nodeSelector", "tolerations", "volumes"}
MODEL_FORMAT_FIELDS = {"autoSelect": bool, "name": str, "priority": int, "version": str}


def objects(name):
    return list(yaml.safe_load_all((KUBERNETES / name).read_text(encoding="utf-8")))


def the(kind, name):
    (one,) = [one for one in objects(name) if one["kind"] == kind]
    return one


def is_valid(one):
    for version in KUBERNETES_VERSIONS:
        kubernetes_validate.validate(one, version, strict=True)


def runtime_pod(runtime):
    """A pod of what a runtime shares with pods."""
    spec = {name: value for name, value in runtime["spec"].items() if name in RUNTIME_POD_FIELDS}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": runtime["metadata"], "spec": spec}


def argument(arguments, name):
    values = [value for flag, value in zip(arguments, arguments[1:]) if flag == name]
    assert len(values) == 1, (name, arguments)
    return values[0]


def deployment():
    return the("Deployment", "deployment.yaml")["spec"]["template"]["spec"]


def server():
    (container,) = deployment()["containers"]
    return container


def unit(name):
    """The settings of a unit: all values of each name, in their order."""
    settings = {}
    for line in (DEPLOY / "systemd" / name).read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            settings.setdefault(key, []).append(value)
    return settings


def project_version():
    return re.search(r"^project\(\s*\w+\s+VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]


# -- Kubernetes


@pytest.mark.parametrize("name", ["deployment.yaml", "service.yaml", "hpa.yaml"])
def test_kubernetes_objects_follow_its_schemas(name):
    assert objects(name)
    for one in objects(name):
        is_valid(one)


def test_the_schemas_find_what_is_wrong():
    for damage in ({"replica": 1}, {"replicas": "one"}, {"template": {"spec": {"containers": [{"image": "latebind"}]}}}):
        broken = copy.deepcopy(the("Deployment", "deployment.yaml"))
        broken["spec"].update(damage)
        with pytest.raises(kubernetes_validate.ValidationError):
            is_valid(broken)
    broken = copy.deepcopy(the("ServingRuntime", "servingruntime.yaml"))
    broken["spec"]["containers"][0]["readyProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        is_valid(runtime_pod(broken))


def test_no_object_is_forgotten_here():
    assert {path.name for path in KUBERNETES.iterdir()} == {"deployment.yaml", "service.yaml", "hpa.yaml", "servingruntime.yaml"}


def test_the_objects_name_each_other():
    whole = the("Deployment", "deployment.yaml")
    labels = whole["spec"]["template"]["metadata"]["labels"]
    service = the("Service", "service.yaml")["spec"]
    assert service["selector"].items() <= labels.items()
    assert whole["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert [port["targetPort"] for port in service["ports"]] == [port["name"] for port in server()["ports"]]
    scaler = the("HorizontalPodAutoscaler", "hpa.yaml")["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": whole["apiVersion"], "kind": "Deployment", "name": whole["metadata"]["name"]}
    assert "replicas" not in whole["spec"], "would undo what the autoscaler has done, with each apply"
    (metric,) = scaler["metrics"]
    assert (metric["type"], metric["pods"]["metric"]["name"]) == ("Pods", "latebind_queue_tokens")
    volumes = {volume["name"] for volume in deployment()["volumes"]}
    for container in deployment()["containers"] + deployment()["initContainers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    claim = the("PersistentVolumeClaim", "deployment.yaml")["metadata"]["name"]
    assert claim in [volume.get("persistentVolumeClaim", {}).get("claimName") for volume in deployment()["volumes"]]


@pytest.mark.parametrize("container", [server(), the("ServingRuntime", "servingruntime.yaml")["spec"]["containers"][0]],
                         ids=["deployment", "runtime"])
def test_the_probes_ask_where_the_server_listens(container):
    port = argument(container["args"], "--listen").rsplit(":", 1)[1]
    (declared,) = container["ports"]
    assert str(declared["containerPort"]) == port
    for probe, path in (("startupProbe", "ready"), ("readinessProbe", "ready"), ("livenessProbe", "live")):
        assert container[probe]["httpGet"]["path"] == f"/v2/health/{path}"
        assert container[probe]["httpGet"]["port"] in (declared["name"], declared["containerPort"])
    # The liveness of a server that still compiles is nobody's concern before the startup probe has succeeded.
    assert container["startupProbe"]["periodSeconds"] * container["startupProbe"]["failureThreshold"] >= 300


def test_the_grace_is_longer_than_the_drain():
    pause = server()["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = int(argument(server()["args"], "--drain-timeout-ms")) / 1000
    assert deployment()["terminationGracePeriodSeconds"] >= pause + drain + 5
    # Kubernetes' own grace, for a runtime has no field for it.
    assert int(argument(the("ServingRuntime", "servingruntime.yaml")["spec"]["containers"][0]["args"], "--drain-timeout-ms")) <= 25_000


def test_nobody_is_root_and_nothing_is_written_but_volumes():
    assert deployment()["securityContext"]["runAsNonRoot"] is True
    assert deployment()["automountServiceAccountToken"] is False
    runtime = the("ServingRuntime", "servingruntime.yaml")["spec"]["containers"]
    for container in deployment()["containers"] + deployment()["initContainers"] + runtime:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["image"] == f"latebind:{project_version()}"
        environment = {one["name"]: one["value"] for one in container["env"]}
        writable = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
        assert environment["XDG_CACHE_HOME"] in writable
        assert "/tmp" in writable


def test_what_is_pulled_is_what_is_served():
    (pull,) = deployment()["initContainers"]
    assert pull["command"][1:] == ["pull", argument(server()["args"], "--model")]
    homes = {one["value"] for container in (pull, server()) for one in container["env"] if one["name"] == "HF_HOME"}
    assert len(homes) == 1


def test_the_serving_runtime_has_the_fields_of_its_definition():
    runtime = the("ServingRuntime", "servingruntime.yaml")
    assert set(runtime) == {"apiVersion", "kind", "metadata", "spec"}
    assert runtime["apiVersion"] == "serving.kserve.io/v1alpha1"
    spec = runtime["spec"]
    assert set(spec) <= RUNTIME_FIELDS | RUNTIME_POD_FIELDS
    assert spec["protocolVersions"] == ["v2"]
    assert spec["multiModel"] is False
    assert [one["name"] for one in spec["supportedModelFormats"]] == ["huggingface", "onnx"]
    for one in spec["supportedModelFormats"]:
        for field, value in one.items():
            assert type(value) is MODEL_FORMAT_FIELDS[field], field
    assert all(isinstance(value, str) for value in spec["annotations"].values())
    # By this name KServe finds the container to which it adds the model.
    (container,) = spec["containers"]
    assert container["name"] == "kserve-container"
    assert argument(container["args"], "--model") == "{{.Name}}=/mnt/models"
    is_valid(runtime_pod(runtime))


# -- The image


def lint(text, folder):
    (folder / "Containerfile").write_text(text, encoding="utf-8")
    return subprocess.run([Path(sys.executable).parent / "hadolint", "--no-color", folder / "Containerfile"], capture_output=True,
                          text=True, timeout=60)


def containerfile():
    return (DEPLOY / "container" / "Containerfile").read_text(encoding="utf-8")


def test_the_linter_finds_nothing_in_the_containerfile(tmp_path):
    done = lint(containerfile(), tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_the_linter_finds_what_is_wrong(tmp_path):
    done = lint(containerfile().replace("debian:12-slim", "debian:latest").replace("USER 65532:65532", "USER root"), tmp_path)
    assert done.returncode != 0
    assert "DL3007" in done.stdout and "DL3002" in done.stdout


def test_the_image_serves_as_nobody_with_the_pinned_openvino():
    lines = containerfile().splitlines()
    versions = (SOURCE / "scripts" / "versions.env").read_text(encoding="utf-8")
    pinned = re.search(r"^OPENVINO_VERSION=(\S+)", versions, re.MULTILINE)[1]
    assert f"ARG OPENVINO_VERSION={pinned}" in lines
    last = lines[max(i for i, line in enumerate(lines) if line.startswith("FROM ")):]
    (user,) = [line.split()[1] for line in last if line.startswith("USER ")]
    assert all(number.isdigit() and int(number) > 0 for number in user.split(":"))
    assert int(user.split(":")[0]) == deployment()["securityContext"]["runAsUser"]
    assert "EXPOSE 8080" in last
    assert 'ENTRYPOINT ["/usr/bin/latebind", "serve"]' in last
    # What the context leaves out is not needed.
    ignored = (SOURCE / ".dockerignore").read_text(encoding="utf-8").split()
    assert {"build", ".git"} <= set(ignored)


# -- systemd


@pytest.fixture
def checked_units(tmp_path):
    """The units, with a program that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: scripts/setup test")
    for name in ("latebind.service", "latebind.socket"):
        text = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("/usr/bin/latebind", "/bin/true"), encoding="utf-8")
    return tmp_path


def verify(folder):
    """What systemd has to say of our units; those of this machine may be as they are."""
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", folder / "latebind.service", folder / "latebind.socket"],
                          capture_output=True, text=True, timeout=60)
    return [line for line in (done.stdout + done.stderr).splitlines() if "latebind" in line]


def test_systemd_finds_nothing_wrong_with_the_units(checked_units):
    assert verify(checked_units) == []


def test_systemd_finds_what_is_wrong(checked_units):
    service = checked_units / "latebind.service"
    service.write_text(service.read_text().replace("WatchdogSec=", "WatchDogSec=").replace("Type=notify", "Type=notifies"))
    said = "\n".join(verify(checked_units))
    assert "WatchDogSec" in said and "notifies" in said


def test_the_service_is_as_confined_as_it_was(checked_units):
    done = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20",
                           checked_units / "latebind.service"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_service_has_what_the_program_counts_on():
    service = unit("latebind.service")
    assert service["Type"] == ["notify"]
    assert service["DynamicUser"] == ["yes"]
    assert service["ExecStart"] == ["/usr/bin/latebind serve $SERVE_ARGUMENTS"]
    assert service["KillSignal"] == ["SIGTERM"]
    seconds = re.fullmatch(r"(\d+)s", service["TimeoutStopSec"][0])
    assert int(seconds[1]) * 1000 > DRAIN_MS
    assert set(service["SupplementaryGroups"][0].split()) == {"render", "video"}
    assert {"char-drm rw", "char-accel rw"} <= set(service["DeviceAllow"])
    # Vendors' compilers write code and execute it, and no device is private.
    assert "MemoryDenyWriteExecute" not in service
    assert "PrivateDevices" not in service
    # The program's folders are those that systemd makes: %C is /var/cache and %S /var/lib.
    places = dict(one.split("=") for one in service["Environment"][0].split())
    assert places == {"XDG_CACHE_HOME": "%C", "HF_HOME": "%S/latebind/huggingface"}
    assert service["CacheDirectory"] == service["StateDirectory"] == ["latebind"]
    # A variable of ours that the program does not know would be an error.
    assert not [name for name in places if name.startswith("LATEBIND_")]


def test_the_socket_is_where_the_program_listens_by_itself():
    socket = unit("latebind.socket")
    assert socket["ListenStream"] == ["127.0.0.1:8080"]
    assert "Accept" not in socket and "Service" not in socket


def test_the_sample_of_settings_is_one():
    lines = (DEPLOY / "systemd" / "serve.env").read_text(encoding="utf-8").splitlines()
    values = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert set(values) == {"LATEBIND_MODEL"}
    reference = (SOURCE / "docs" / "configuration.md").read_text(encoding="utf-8")
    named = [line.lstrip("#").split("=")[0] for line in lines if line.lstrip("#").startswith("LATEBIND_")]
    assert len(named) > 3
    image = "".join(line for line in containerfile().splitlines() if line.startswith("ENV "))
    assert "LATEBIND_LISTEN=" in image and "LATEBIND_MODEL=" in image
    named += re.findall(r"(LATEBIND_[A-Z_]+)=", image + (DEPLOY / "README.md").read_text(encoding="utf-8"))
    for name in named:
        assert f"`{name}`" in reference, name


# -- Together


def test_every_flag_is_one_of_the_program():
    if not PROGRAM.exists():
        pytest.skip("the program was not built")
    done = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True, timeout=60, check=True)
    runtime = the("ServingRuntime", "servingruntime.yaml")["spec"]["containers"][0]
    text = " ".join([*server()["args"], *runtime["args"],
                     (DEPLOY / "systemd" / "serve.env").read_text(encoding="utf-8"),
                     (DEPLOY / "README.md").read_text(encoding="utf-8").split("## Containers")[0]])
    flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--now", "--reference"}  # of systemctl and of `latebind config`
    assert len(flags) >= 5
    for flag in flags:
        assert re.search(rf"(?<![\w-]){flag}(?![\w-])", done.stdout), flag


def test_the_readme_names_what_is_there():
    text = (DEPLOY / "README.md").read_text(encoding="utf-8")
    for path in DEPLOY.rglob("*"):
        if path.is_file() and path.name != "README.md" and "helm" not in path.parts:
            assert path.name in text, path
    blocks = re.findall(r"^( *)```yaml\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for indent, block in blocks:
        assert isinstance(yaml.safe_load(re.sub(f"^{indent}", "", block, flags=re.MULTILINE)), dict)
