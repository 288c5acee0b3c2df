"""What the templates of deploy/helm use of Helm's language, and nothing more: values, if and else, and five functions.

`helm` itself is in no registry that the tests have. Whatever is not understood here is an error, so that no template goes beyond it.
"""

import re
from pathlib import Path

import yaml

ACTION = re.compile(r"[ \t\n]*{{-(?: |$)(?P<left>.*?)(?P<trim_a> -)?}}|{{ ?(?P<plain>.*?)(?P<trim_b> -)?}}", re.DOTALL)


class TemplateError(Exception):
    pass


def lookup(path, context):
    value = context
    for part in path.lstrip(".").split("."):
        if not isinstance(value, dict) or part not in value:
            raise TemplateError(f"{path} is not there")
        value = value[part]
    return value


def operand(word, context):
    if word.startswith("."):
        return lookup(word, context)
    if re.fullmatch(r'"[^"\\]*"', word):
        return word[1:-1]
    if word.isdigit():
        return int(word)
    raise TemplateError(f"'{word}' is not understood")


def to_yaml(value):
    return yaml.safe_dump(value, default_flow_style=False, sort_keys=True).rstrip("\n").removesuffix("\n...")


def call(words, context, piped=()):
    name, arguments = words[0], [operand(word, context) for word in words[1:]]
    arguments += piped
    if name == "toYaml" and len(arguments) == 1:
        return to_yaml(arguments[0])
    if name == "quote" and len(arguments) == 1:
        return '"' + str(arguments[0]).replace("\\", "\\\\").replace('"', '\\"') + '"'
    if name == "nindent" and len(arguments) == 2:
        return "\n" + "\n".join(" " * arguments[0] + line for line in arguments[1].split("\n"))
    if name == "default" and len(arguments) == 2:
        return arguments[1] or arguments[0]
    if name == "not" and len(arguments) == 1:
        return not arguments[0]
    if len(words) == 1 and not piped:
        return operand(name, context)
    raise TemplateError(f"'{' '.join(words)}' is not understood")


def evaluate(text, context):
    value, first = None, True
    for stage in text.split("|"):
        value = call(stage.split(), context, () if first else (value,))
        first = False
    return value


def as_text(value):
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def render(text, context):
    """The text of a template."""
    out, at = [], 0
    # Of each open "if": whether its part is written, and whether one was.
    open_ifs = []
    for action in ACTION.finditer(text):
        visible = all(one for one, _ in open_ifs)
        before = text[at:action.start()]
        at = action.end()
        if action["trim_a"] or action["trim_b"]:
            raise TemplateError("a trim at the end of an action is not understood")
        if visible:
            out.append(before)
        body = (action["left"] if action["left"] is not None else action["plain"]).strip()
        if body.startswith("if "):
            truth = bool(evaluate(body[3:], context)) if visible else False
            open_ifs.append((truth, truth))
        elif body == "else" and open_ifs:
            open_ifs[-1] = (not open_ifs[-1][1], True)
        elif body == "end" and open_ifs:
            open_ifs.pop()
        elif visible:
            out.append(as_text(evaluate(body, context)))
    if open_ifs:
        raise TemplateError("an if has no end")
    return "".join(out) + text[at:]


def merged(values, over):
    """Helm's way: objects are merged, everything else is replaced."""
    if not isinstance(values, dict) or not isinstance(over, dict):
        return over
    return {key: merged(values[key], over[key]) if key in values and key in over else over.get(key, values.get(key))
            for key in {*values, *over}}


def render_chart(folder: Path, name="try", over=None):
    """{file: [objects]} of a chart installed under this name, with `over` over its values; and the notes as text."""
    chart = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    values = merged(yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8")), over or {})
    context = {"Values": values, "Release": {"Name": name, "Namespace": "default"},
               "Chart": {"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]}}
    objects = {}
    for path in sorted((folder / "templates").glob("*.yaml")):
        made = yaml.safe_load_all(render(path.read_text(encoding="utf-8"), context))
        objects[path.name] = [one for one in made if one is not None]
    return objects, render((folder / "templates" / "NOTES.txt").read_text(encoding="utf-8"), context)
