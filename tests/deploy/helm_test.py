"""The chart of deploy/helm: what its templates make follows Kubernetes' schemas and is what deploy/kubernetes has.

It was not installed into a cluster: `helm` is in no registry that the tests have.
"""

import os
import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from helm_template import TemplateError, render, render_chart

SOURCE = Path(os.environ["LATEBIND_TEST_SOURCE_DIR"])
CHART = SOURCE / "deploy" / "helm" / "latebind"
EVERYTHING = {
    "arguments": ["--precision", "f16"], "env": [{"name": "LATEBIND_THREADS", "value": "2"}], "imagePullSecrets": [{"name": "registry"}],
    "image": {"tag": "of-mine"}, "autoscaling": {"enabled": True}, "supplementalGroups": [44, 105],
    "models": {"storageClassName": "fast", "accessModes": ["ReadWriteMany"]}, "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
}


def made(over=None, name="try"):
    objects, _ = render_chart(CHART, name, over)
    return {one["kind"]: one for file in objects.values() for one in file}


@pytest.mark.parametrize("over", [{}, EVERYTHING, {"pull": False, "model": "/models/mine", "models": {"existingClaim": "theirs"}}],
                         ids=["as it is", "everything", "a folder in a volume"])
def test_what_it_makes_follows_kubernetes_schemas(over):
    for one in made(over).values():
        for version in ("1.34", "1.37"):
            kubernetes_validate.validate(one, version, strict=True)


def test_as_it_is_it_makes_what_deploy_kubernetes_has():
    ours = made(name="latebind")
    assert set(ours) == {"Deployment", "Service", "PersistentVolumeClaim"}
    (plain,) = [one for one in yaml.safe_load_all((SOURCE / "deploy/kubernetes/deployment.yaml").read_text()) if one["kind"] == "Deployment"]
    ours, plain = ours["Deployment"]["spec"]["template"]["spec"], plain["spec"]["template"]["spec"]
    assert ours["securityContext"].pop("supplementalGroups") == []
    for key in ("securityContext", "terminationGracePeriodSeconds", "automountServiceAccountToken", "enableServiceLinks"):
        assert ours[key] == plain[key], key
    for kind in ("initContainers", "containers"):
        (one,), (other,) = ours[kind], plain[kind]
        assert one.pop("imagePullPolicy") == "IfNotPresent"
        assert one == other
    claims = [volume for volume in ours["volumes"] if "persistentVolumeClaim" in volume]
    assert [claim["persistentVolumeClaim"]["claimName"] for claim in claims] == ["latebind"]
    assert [one for one in ours["volumes"] if one not in claims] == plain["volumes"][1:]


def test_values_reach_what_they_are_for():
    every = made(EVERYTHING)
    spec = every["Deployment"]["spec"]
    pod = spec["template"]["spec"]
    (server,) = pod["containers"]
    assert server["args"][-2:] == ["--precision", "f16"]
    assert {"name": "LATEBIND_THREADS", "value": "2"} in server["env"]
    assert server["image"] == "latebind:of-mine"
    assert pod["securityContext"]["supplementalGroups"] == [44, 105]
    assert pod["nodeSelector"] == {"disk": "ssd"}
    assert "replicas" not in spec, "would undo what the autoscaler has done"
    scaler = every["HorizontalPodAutoscaler"]["spec"]
    assert scaler["scaleTargetRef"]["name"] == every["Deployment"]["metadata"]["name"] == "try"
    assert every["PersistentVolumeClaim"]["spec"]["storageClassName"] == "fast"


def test_a_folder_of_a_volume_that_is_there_is_not_pulled():
    objects = made({"pull": False, "model": "/models/mine", "models": {"existingClaim": "theirs"}})
    assert "PersistentVolumeClaim" not in objects
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    assert "initContainers" not in pod
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == "theirs"
    assert "HF_HUB_OFFLINE" not in [one["name"] for one in pod["containers"][0]["env"]]


def test_the_objects_name_each_other():
    objects = made(name="mine")
    labels = objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert objects["Service"]["spec"]["selector"].items() <= labels.items()
    assert objects["Deployment"]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert objects["PersistentVolumeClaim"]["metadata"]["name"] == "mine"


def test_its_versions_are_the_projects():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    [version] = re.findall(r"^project\(\w+ VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert chart["version"] == chart["appVersion"] == version
    (container,) = made()["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"latebind:{version}"


def test_every_value_is_used_and_the_notes_name_the_way():
    text = "".join(path.read_text() for path in (CHART / "templates").iterdir())

    def leaves(value, path):
        if isinstance(value, dict) and value and path not in (".Values.resources", ".Values.podAnnotations"):
            for key, inner in value.items():
                yield from leaves(inner, f"{path}.{key}")
        else:
            yield path

    for path in leaves(yaml.safe_load((CHART / "values.yaml").read_text()), ".Values"):
        assert re.search(re.escape(path) + r"\b", text), path
    _, notes = render_chart(CHART, "mine")
    assert "deployment/mine" in notes and "{{" not in notes


def test_what_the_checker_does_not_understand_is_an_error():
    for text in ("{{ include \"x\" . }}", "{{ .Values.none }}", "{{- if .Values.pull }}", "{{ range .Values.pull }}x{{ end }}"):
        with pytest.raises(TemplateError):
            render(text, {"Values": {"pull": True}})
