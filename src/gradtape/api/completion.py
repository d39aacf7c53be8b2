"""Shell scripts that complete the words of a command line, written from its parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
SHELLS = ("bash", "zsh", "fish")


class Option(NamedTuple):
    """An option: its names, what it is for, and what may stand behind it."""

    names: tuple[str, ...]
    help: str
    takes: bool  # a value, as a word of its own
    choices: tuple[str, ...] = ()
    files: bool = False


class Command(NamedTuple):
    """A command, and the words that it knows besides files."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    files: bool


def completion(
    shell: str, parser: argparse.ArgumentParser, words: Mapping[str, Sequence[str]]
) -> str:
    """The script for a shell; `words` are those that commands ("explain") and options
    ("doctor --ignore") know and their parsers do not."""
    found = tuple(_commands(parser, words))
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return write(parser.prog, found, tuple(_options(parser)))


# --- reading the parser ---------------------------------------------------------------------------
def _commands(
    parser: argparse.ArgumentParser, words: Mapping[str, Sequence[str]]
) -> Iterator[Command]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, inner in action.choices.items():
                known = [*words.get(name, ())]
                given = [a for a in inner._actions if not a.option_strings]
                known += [str(c) for a in given for c in a.choices or ()]
                options = tuple(_options(inner, name, words))
                yield Command(name, helps.get(name, ""), options, tuple(known), not known)


def _options(
    parser: argparse.ArgumentParser, command: str = "", words: Mapping[str, Sequence[str]] = NONE
) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            takes = action.nargs is None
            known = [w for n in action.option_strings for w in words.get(f"{command} {n}", ())]
            choices = tuple(str(choice) for choice in action.choices or known)
            files = takes and action.metavar == "FILE"
            help = (action.help or "").replace("%(default)s", str(action.default))
            yield Option(tuple(action.option_strings), help, takes, choices, files)


# --- bash -----------------------------------------------------------------------------------------
def _bash(program: str, commands: tuple[Command, ...], options: tuple[Option, ...]) -> str:
    first = [command.name for command in commands] + _names(options)
    cases, values = [], []
    for command in commands:
        words = " ".join([*_names(command.options), *command.words])
        cases.append(f'        {command.name}) words="{words}"; files={int(command.files)} ;;')
        for option in command.options:
            if option.takes:
                names = "|".join(f"{command.name}:{name}" for name in option.names)
                values.append(f"        {names}) {_replies(option)}; return ;;")
    taking = "|".join(
        f"{c.name}:{name}" for c in commands for o in c.options if o.takes for name in o.names
    )
    return f"""\
# {program} for bash: put this into ~/.bashrc
#   eval "$({program} completion bash)"
_{program}() {{
    local now=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command=${{COMP_WORDS[1]}} words="" files=1 k
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{" ".join(first)}" -- "$now"))
        return
    fi
    case "$command:$before" in
{_lines(values)}
    esac
    case "$command" in
{_lines(cases)}
    esac
    if ((files)); then # what follows the program is its own
        for ((k = 2; k < COMP_CWORD; k++)); do
            case "$command:${{COMP_WORDS[k]}}" in
                {taking}) ((k++)) ;;
                "$command":-*) ;;
                *) words=""; break ;;
            esac
        done
    fi
    COMPREPLY=($(compgen -W "$words" -- "$now"))
    if ((files)); then
        local IFS=$'\\n'
        COMPREPLY+=($(compgen -f -- "$now"))
        compopt -o filenames 2> /dev/null
    fi
}}
complete -F _{program} {program}
"""


def _replies(option: Option) -> str:
    if option.choices:
        return f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$now"))'
    files = "local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$now\"))"
    return files if option.files else ":"


# --- zsh ------------------------------------------------------------------------------------------
def _zsh(program: str, commands: tuple[Command, ...], options: tuple[Option, ...]) -> str:
    listed = [f"    {_quoted(f'{c.name}:{c.help}')}" for c in commands]
    cases = []
    for command in commands:
        rest = f"'*:word:({' '.join(command.words)})'" if command.words else "'*:file:_files'"
        stop = "-A '-*' " if command.files else ""  # behind the program, options are its own
        specs = [f"_arguments {stop}\\\n"]
        specs += [f"            {spec} \\\n" for o in command.options for spec in _specs(o)]
        cases.append(f"        {command.name}) {''.join(specs)}            {rest} ;;")
    return f"""\
#compdef {program}
# {program} for zsh: put this into ~/.zshrc, behind compinit
#   eval "$({program} completion zsh)"
_{program}() {{
    local -a commands
    commands=(
{_lines(listed)}
    )
    if ((CURRENT == 2)); then
        _describe -t commands command commands
        compadd -- {" ".join(_names(options))}
        return
    fi
    shift words
    ((CURRENT--))
    case $words[1] in
{_lines(cases)}
    esac
}}
if [[ $funcstack[1] == _{program} ]]; then _{program} "$@"; else compdef _{program} {program}; fi
"""


def _specs(option: Option) -> Iterator[str]:
    said = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
    value = ""
    if option.takes:
        action = f"({' '.join(option.choices)})" if option.choices else ""
        value = f":value:{action or ('_files' if option.files else '')}"
    for name in option.names:
        yield _quoted(f"{name}[{said}]{value}")


# --- fish -----------------------------------------------------------------------------------------
def _fish(program: str, commands: tuple[Command, ...], options: tuple[Option, ...]) -> str:
    lines = [f"# {program} for fish: {program} completion fish | source"]
    start = f"complete -c {program} -n __fish_use_subcommand"
    lines += [f"{start} -f -a {c.name} -d {_quoted(c.help, fish=True)}" for c in commands]
    lines += [f"{start} {_flags(option)}" for option in options]
    for command in commands:
        inside = f"complete -c {program} -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{inside} {_flags(option)}" for option in command.options]
        if command.words:
            lines.append(f"{inside} -f -a {_quoted(' '.join(command.words), fish=True)}")
    return "\n".join(lines) + "\n"


def _flags(option: Option) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    value = []
    if option.takes:
        value = [f"-x -a {_quoted(' '.join(option.choices), fish=True)}" if option.choices
                 else "-r -F" if option.files else "-x"]  # fmt: skip
    return " ".join([*names, *value, f"-d {_quoted(option.help, fish=True)}"])


# --- writing --------------------------------------------------------------------------------------
def _names(options: tuple[Option, ...]) -> list[str]:
    return [name for option in options for name in option.names]


def _lines(parts: list[str]) -> str:
    return "\n".join(parts)


def _quoted(text: str, fish: bool = False) -> str:
    """In single quotes, as the shell wants a single quote and a backslash inside of them."""
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"
