"""Writes the reference from what it is about: the parser, the classes, the JSON's schema.

`python -m tests.documents` writes the pages, and a test holds them against the code.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from gradtape import GradientTape, doctor, testing
from gradtape.cli import build_parser
from gradtape.doctor.report import Exit, Report
from gradtape.doctor.trace import states
from gradtape.doctor.trace.finding import Finding, Verdict, WouldBe

from .blocks import ROOT

NOTE = "\n<!-- Written by `python -m tests.documents`. -->\n"


# --- the commands ---------------------------------------------------------------------------------
def cli() -> str:
    """The page of the commands."""
    parser = build_parser()
    made = ["# Commands", "", "`gradtape COMMAND --help` says the same in a terminal.", ""]
    for name, command in commands_of(parser):
        made += [f"## gradtape {name}", "", _sentences(command.description or ""), ""]
        made += ["```text", _usage(command), "```", ""]
        rows = [_option(action) for action in command._actions if _shown(action)]
        if rows:
            made += ["| | |", "|---|---|", *rows, ""]
        made += _epilog(command.epilog or "")
    return "\n".join(made) + NOTE


def commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                if any(name == known.dest for known in action._choices_actions):  # no aliases
                    yield name, command


def _usage(command: argparse.ArgumentParser) -> str:
    # Python's own usage line differs from version to version.
    if command.usage:
        return command.usage
    words = [_form(a) for a in command._actions if _shown(a)]
    return " ".join([command.prog, *words])


def _form(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"[{name}]" if action.nargs in ("?", "*") else name
    return f"[{action.option_strings[0]}{_taken(action)}]"


def _shown(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)


def _taken(action: argparse.Action) -> str:
    """What stands after an option."""
    if action.nargs == 0:
        return ""
    name = action.metavar or "{" + ",".join(map(str, action.choices or [action.dest.upper()])) + "}"
    return f"[={name}]" if action.nargs == "?" else f" {name}"


def _option(action: argparse.Action) -> str:
    names = [f"`{name}{_taken(action)}`" for name in action.option_strings]
    said = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return f"| {', '.join(names) or f'`{_form(action)}`'} | {_cell(said)} |"


def _epilog(text: str) -> list[str]:
    """Sentences as they are, examples in a block."""
    made = []
    for part in re.split(r"\n\s*\n", text.strip()):
        if part.startswith("examples:"):
            lines = textwrap.dedent(part.partition("\n")[2])
            made += ["```text", lines, "```", ""]
        elif part:
            made += [_sentences(part), ""]
    return made


def _sentences(text: str) -> str:
    return re.sub(r'"(--|-|import tensorflow)"', r"`\1`", text.strip())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("__", "\\_\\_")


# --- Report, Finding and what makes them ----------------------------------------------------------
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gradtape.doctor.watch": doctor.watch,
    "GradientTape.explain": GradientTape.explain,
    "gradtape.testing.assert_gradients_flow": testing.assert_gradients_flow,
}
FIELDS = {
    Report: ("script", "engine", "findings", "exit", "faults", "notes"),
    Finding: (
        "code", "name", "cause", "state", "severity", "source", "sources", "target", "place",
        "message", "fix", "edit", "further", "also", "path", "would_be", "why_not", "sure",
        "verdict", "steps", "asked", "checked",
    ),
    WouldBe: ("array", "norm", "how"),
    Verdict: ("kind", "words"),
    Exit: ("kind", "detail", "code"),
}  # fmt: skip


def report() -> str:
    """The page of the classes."""
    made = ["# Report and Finding", "", INTRODUCTION, ""]
    for name, function in FUNCTIONS.items():
        made += [f"## {name}", "", *_function(function)]
    for kind, names in FIELDS.items():
        title = kind.__name__
        made += [f"## {title}", "", _prose(inspect.getdoc(kind) or ""), ""]
        made += ["| | | |", "|---|---|---|"]
        types = {f.name: str(f.type) for f in kind.__dataclass_fields__.values()}  # type: ignore[attr-defined]
        said = comments(kind) | _described(kind)
        made += [f"| `{n}` | `{_cell(types[n])}` | {_cell(said.get(n, ''))} |" for n in names]
        made.append("")
        for method in _methods(kind):
            made += [f"`{method.__name__}{_signature(method)}`", ""]
            made += [f":   {_prose(inspect.getdoc(method) or '')}", ""]
    return "\n".join(made) + NOTE


INTRODUCTION = """\
What `gradtape doctor` prints is a `Report`; in code, `doctor.watch()`, `tape.explain` and
`%%doctor` give one. Printed, it is the text of the terminal; as the last line of a notebook's cell,
the page."""


def _described(kind: type) -> dict[str, str]:
    """What the JSON's schema says of the keys of the same name."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    finding = schema["$defs"]["finding"]["properties"]
    of = {
        Report: schema["properties"],
        Finding: finding,
        WouldBe: finding["would_be"]["anyOf"][1]["properties"],
        Verdict: finding["verdict"]["properties"],
        Exit: schema["properties"]["exit"]["properties"],
    }[kind]
    return {key: value["description"] for key, value in of.items() if "description" in value}


def comments(kind: type) -> dict[str, str]:
    """What the comments beside the fields of a class say; those above count, too."""
    lines = textwrap.dedent(inspect.getsource(kind)).splitlines()
    tree = ast.parse("\n".join(lines)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            beside = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
            above: list[str] = []
            for line in reversed(lines[: node.lineno - 1]):
                if not line.strip().startswith("# "):
                    break
                above.insert(0, line.strip()[2:])
            found[node.target.id] = beside or " ".join(above)
    return found


def _methods(kind: type) -> list[Callable[..., Any]]:
    return [
        value for name, value in vars(kind).items()
        if name.startswith("to_") and inspect.isfunction(value)
    ]  # fmt: skip


def _function(function: Callable[..., Any]) -> list[str]:
    """Its signature and its docstring, with the examples as they would be typed."""
    text = inspect.getdoc(function) or ""
    made = ["```text", f"{function.__name__}{_signature(function)}", "```", ""]
    for part in text.split("\n\n"):
        made += ["```pycon", part, "```", ""] if part.startswith(">>>") else [_prose(part), ""]
    return made


def _prose(text: str) -> str:
    return re.sub(r"(?<!`)``(?!`)", "`", " ".join(text.split()))


def _signature(function: Callable[..., Any]) -> str:
    found = inspect.signature(function)
    plain = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in found.parameters.values() if p.name != "self"
    ]  # fmt: skip
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


# --- the JSON -------------------------------------------------------------------------------------
STATES = {
    "ok": "nothing is wrong with it",
    "none": "there is none: `tape.gradient` returned None",
    "zero": "all numbers are 0",
    "nan": "at least one number is NaN",
    "inf": "at least one number is infinite, none is NaN",
    "vanishing": f"the largest number is below {states.VANISHING:g}",
    "exploding": f"the largest number is above {states.EXPLODING:g}",
    "wrong": "it is finite, and not what was meant",
    "error": "the program ended with an exception",
}
SCHEMA = ROOT / "docs" / "report.schema.json"


def data() -> str:
    """The page of the JSON."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    made = ["# JSON", "", schema["description"], ""]
    made += ["For machines: [report.schema.json](../report.schema.json).", ""]
    made += ["## The report", "", *_object({**schema, "description": "The whole file."})]
    for name in ("query", "finding", "place"):
        made += [f"## {name.capitalize()}", "", *_object(schema["$defs"][name])]
    made += ["## State", "", "What the numbers of a gradient look like.", ""]
    made += ["| | |", "|---|---|"]
    made += [f"| `{s}` | {STATES[s]} |" for s in schema["$defs"]["state"]["enum"]]
    made.append("")
    return "\n".join(made) + NOTE


def _object(schema: dict[str, Any]) -> list[str]:
    made = [schema["description"], ""] if "description" in schema else []
    return [*made, "| key | value | |", "|---|---|---|", *_rows(schema), ""]


def _rows(schema: dict[str, Any], within: str = "") -> Iterator[str]:
    for key, value in schema["properties"].items():
        name = within + key
        yield f"| `{name}` | {_type(value)} | {_cell(value.get('description', ''))} |"
        for inner, more in _inner(value):
            yield from _rows(inner, f"{name}{more}.")


def _inner(value: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in a value that have no section of their own."""
    for found in value.get("anyOf", [value]):
        if "properties" in found:
            yield found, ""
        elif "properties" in found.get("items", {}):
            yield found["items"], "[]"


def _type(value: dict[str, Any]) -> str:
    if "anyOf" in value:
        return " or ".join(_type(part) for part in value["anyOf"])
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})" if name in ("query", "finding", "place", "state") else name
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return ", ".join(f"`{json.dumps(word)}`" for word in value["enum"])
    kind = value.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    return f"array of {_type(value['items'])}" if kind == "array" and "items" in value else kind


PAGES = {
    "docs/reference/cli.md": cli,
    "docs/reference/report.md": report,
    "docs/reference/json.md": data,
}
