#!/usr/bin/env python3
"""Makes cases.json: templates, their variables, and the text that transformers gives for them, or that it refuses them.

The chat templates are made up; each has the constructs of a family of published ones. Needs transformers and jinja2; the
tests need neither. Usage: make.py
"""
import datetime
import json
import pathlib

from transformers.utils.chat_template_utils import _compile_jinja_template

HERE = pathlib.Path(__file__).resolve().parent
NOW = datetime.datetime(2026, 11, 30, 14, 5, 9)


def says(role, content, **more):
    return {"role": role, "content": content, **more}


def parts(role, *texts):
    return says(role, [{"type": "text", "text": text} for text in texts])


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": 'Says the "weather" in <a> city, é',
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "The city", "enum": ["Köln", "Oslo"]},
                    "days": {"type": "integer", "default": 3},
                    "at": {"type": "array", "items": {"type": "number"}},
                },
                "required": ["city"],
            },
        },
    }
]
CALL = {"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Köln", "days": 2, "at": [1.5, None, True]}}}  # fmt: skip
CONVERSATIONS = {
    "plain": [says("user", " Hi  there\n"), says("assistant", "Hello "), says("user", "Bye")],
    "system": [says("system", "Be brief.\n"), says("user", "Hi"), says("assistant", "<think>\nhm\n</think>\n\nYes"), says("user", "Why?")],  # fmt: skip
    "pair": [says("query", "what is it?"), says("document", "It is that: Ünïcode 日本.")],
    "instructed": [says("system", "Find it"), says("query", "q"), says("document", "d")],
    "parts": [parts("system", "sys"), parts("user", "Hi", "there"), parts("assistant", "yes")],
    "tools": [says("user", "Weather?"), says("assistant", "", tool_calls=[CALL]), says("tool", '{"t": 3}', name="weather", tool_call_id="call00001"), says("assistant", "3"), says("user", "Ok")],  # fmt: skip
    "reasons": [says("user", "/no_think x"), says("assistant", "y", reasoning_content="z\n"), says("user", "u")],
    "two": [says("user", "a"), says("user", "b")],
    "none": [],
}

CHATS = json.loads((HERE / "chats.json").read_text(encoding="utf-8"))
TEXTS = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
VARIABLES = {
    "n": 7, "f": 2.5, "big": 1e22, "text": "Hello, World", "odd": "  a\t b\n\nc ", "unicode": "Grüße 日本 🎉", "quotes": "it's \"so\"",
    "yes": True, "nothing": None, "list": [3, 1, 2], "words": ["b", "A", "c", "a"], "empty": [], "nested": {"a": {"b": [1, {"c": "d"}]}, "items": "own", "é": 1},
    "people": [{"name": "Ann", "age": 31, "ok": True}, {"name": "Bob", "age": 4, "ok": False}, {"name": "Cy", "age": 31}],
}  # fmt: skip


def rendered(template, variables):
    """The text, or None where the reference refuses."""
    try:
        text = _compile_jinja_template(template).render(strftime_now=NOW.strftime, **variables)
        return text if text.encode() is not None else None
    except Exception:
        return None


def main():
    cases = []
    for name, template in CHATS.items():
        for conversation, messages in CONVERSATIONS.items():
            for prompt, tools in ((False, False), (True, False), (True, True)):
                variables = {"messages": messages, "add_generation_prompt": prompt, "tools": TOOLS if tools else None, "documents": None, "bos_token": "<s>", "eos_token": "</s>"}  # fmt: skip
                case = {"name": name, "messages": conversation, "prompt": prompt, "tools": tools}
                cases.append(case | {"text": rendered("".join(template), variables)})
    texts = [{"template": template, "text": rendered(template, VARIABLES)} for template in TEXTS]
    content = {"conversations": CONVERSATIONS, "tools": TOOLS, "variables": VARIABLES, "chats": cases, "texts": texts}
    with open(HERE / "cases.json", "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
