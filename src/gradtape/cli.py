"""The command line: says which commands there are and leaves their work to modules of their own.

A command is one ``_add_<name>`` function, listed in `COMMANDS`: it describes the arguments and
sets ``act``, which is called with the parsed options and returns the exit code. What ``act`` needs
is imported inside it, so that ``--help`` stays quick.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api.run import Program
    from .doctor.entry.visit import Delivery

    Commands = argparse._SubParsersAction["_Parser"]

DESCRIPTION = "A gradient tape that explains itself: TensorFlow's GradientTape on NumPy."

EPILOG = """\
examples:
  gradtape run train.py --epochs 3     run train.py; its "import tensorflow" is gradtape
  gradtape run -m project.train        the same for a module
  gradtape doctor train.py             run it, then say what is wrong with its gradients
  gradtape explain GT103               the lesson behind a finding
  gradtape run --help                  what a command takes
"""

RUN_DESCRIPTION = """\
Run a Python program as Python would, with one difference: "import tensorflow" and its submodules
are gradtape, whether or not TensorFlow is installed. The program needs no change.
"""

RUN_EPILOG = """\
What follows PROGRAM belongs to the program, options included.

examples:
  gradtape run train.py --epochs 3
  gradtape run -m project.train --epochs 3
  gradtape run -c "import tensorflow as tf; print(tf.constant(1.0))"
  echo "print('from standard input')" | gradtape run -
"""


# The states at which --fail-fast stops; an exception stops the program by itself.
STOPPING = ("none", "zero", "nan", "inf", "vanishing", "exploding", "wrong")

DOCTOR_DESCRIPTION = """\
Run a Python program, and say for every gradient that is missing, zero, not finite, vanishing,
exploding or wrong: the cause, the place, what to change, and the gradient it would have been.

The program runs as usual and its standard output is untouched. A fault is said in one line on
standard error when it is first seen, and a terminal shows how far the run is. The report follows
when the program ends, also when it raises, is interrupted or terminated. It goes to standard error,
or to FILE, which is written every ten seconds while the program runs; the signal SIGUSR1 prints
what was found so far.
"""

DOCTOR_EPILOG = """\
The exit code is the program's own; with --strict it is 3 when there are findings and the program
itself succeeded. Options of the doctor stand before PROGRAM. What follows PROGRAM belongs to the
program; an option there that the doctor has too is refused, unless "--" stands before it.

examples:
  gradtape doctor train.py --epochs 3
  gradtape doctor train.py -- --output model.h5
  gradtape doctor --output report.html train.py
  gradtape doctor --strict --output findings.sarif -m project.train
  gradtape doctor --fail-fast=none,nan train.py
  gradtape doctor --serve train.py

In code: `with gradtape.doctor.watch() as report:`, or GRADTAPE_DOCTOR=1 in the environment.
"""

EXPLAIN_DESCRIPTION = """\
Explain a finding of the doctor: why it happens, a program with the fault and the same without it,
and when it is fine to ignore. Without a name, list all there are.
"""

EXPLAIN_EPILOG = """\
examples:
  gradtape explain GT103
  gradtape explain left-the-tape
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the command in ``argv`` (by default the process's own) and return its exit code."""
    options = build_parser().parse_args(argv)
    code: int = options.act(options)
    return code


def build_parser() -> _Parser:
    """Return the parser that knows every command."""
    parser = _parser(_Parser, "gradtape", DESCRIPTION, EPILOG)
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(commands)
    return parser


def add_program(parser: _Parser) -> None:
    """Add the arguments that name a program to run, as `program` reads them."""
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "-m",
        dest="kind",
        action="store_const",
        const="module",
        default="script",
        help="PROGRAM is the name of a module or package",
    )
    kind.add_argument(
        "-c", dest="kind", action="store_const", const="command", help="PROGRAM is Python code"
    )
    parser.add_argument(
        "target",
        metavar="PROGRAM",
        help='a script, a directory or zip file with a __main__.py, or "-" for standard input',
    )
    arguments = parser.add_argument(
        "arguments", metavar="...", nargs="*", help="handed to the program untouched"
    )
    arguments.required = False  # a complaint about PROGRAM need not name them too
    parser.runs_a_program = True


class _Parser(argparse.ArgumentParser):
    """A parser that reads the words up to the program itself, and leaves the rest to the program.

    argparse's own way to do that treats "--" differently from one Python to the next.
    """

    runs_a_program = False

    def parse_known_args(self, args=None, namespace=None):
        if not self.runs_a_program:
            return super().parse_known_args(args, namespace)
        words = list(sys.argv[1:] if args is None else args)
        end = self._program(words) + 1
        own = [self._with_value(word) for word in words[:end]]
        options, unknown = super().parse_known_args(own, namespace)
        options.arguments = self._handed_on(words[:end], words[end:])
        return options, unknown

    def _program(self, words: list[str]) -> int:
        """Where the word stands that names the program; behind the end if there is none."""
        place = 0
        while place < len(words) and words[place].startswith("-") and words[place] != "-":
            if words[place] == "--":
                return place + 1
            place += self._length(words[place])
        return place

    def _length(self, word: str) -> int:
        """The number of words that an option takes, itself included."""
        action = self._option_string_actions.get(word)
        return 2 if action is not None and action.nargs is None else 1

    def _with_value(self, word: str) -> str:
        """An option that may stand without a value, so that it does not take the next word."""
        action = self._option_string_actions.get(word)
        return f"{word}={action.const}" if action is not None and action.nargs == "?" else word

    def _handed_on(self, ours: list[str], rest: list[str]) -> list[str]:
        """The program's words; an error if one of them is an option of this command too."""
        if "--" in ours:
            return rest
        own = {name for name in self._option_string_actions if name.startswith("--")} - {"--help"}
        if not own:
            return rest
        moved, kept, place = [], [], 0
        while place < len(rest) and rest[place] != "--":
            if rest[place].partition("=")[0] in own:
                end = place + self._length(rest[place])
                moved += rest[place:end]
            else:
                end = place + 1
                kept += rest[place:end]
            place = end
        kept += rest[place:]
        if moved:
            right = shlex.join([*self.prog.split(), *moved, *ours, *kept])
            theirs = shlex.join([*self.prog.split(), *ours, "--", *rest])
            self.error(
                f"{moved[0]} stands after the program and would be handed to it\n"
                f"  for the doctor:   {right}\n"
                f"  for the program:  {theirs}"
            )
        return rest[1:] if rest[:1] == ["--"] else rest


def program(options: argparse.Namespace) -> Program:
    """Return the program that the arguments of `add_program` name."""
    from .api.run import Program

    return Program(options.kind, options.target, tuple(options.arguments))


def _add_run(commands: Commands) -> None:
    parser = _parser(
        commands.add_parser,
        "run",
        RUN_DESCRIPTION,
        RUN_EPILOG,
        help="run a program with gradtape as its TensorFlow",
        usage="gradtape run [-m | -c] PROGRAM ...",
    )
    add_program(parser)
    parser.set_defaults(act=_run)


def _run(options: argparse.Namespace) -> int:
    from .api import alias
    from .api.run import run

    alias.install()
    run(program(options))
    return 0


def _add_doctor(commands: Commands) -> None:
    parser = _parser(
        commands.add_parser,
        "doctor",
        DOCTOR_DESCRIPTION,
        DOCTOR_EPILOG,
        help="run a program and explain its gradients",
        usage="gradtape doctor [options] [-m | -c] PROGRAM ...",
    )
    parser.add_argument(
        "--engine",
        choices=("auto", "gradtape", "tensorflow"),
        default="auto",
        help="what runs the program: gradtape in TensorFlow's place, or the real TensorFlow; "
        "auto takes the latter where the program imports it and it is installed",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "html", "sarif"),
        help="of the report; by default what the name of FILE ends in, else text",
    )
    parser.add_argument(
        "--output", metavar="FILE", help='write the report to FILE ("-": to standard output)'
    )
    parser.add_argument("--strict", action="store_true", help="exit with 3 when there are findings")
    parser.add_argument(
        "--fail-fast", metavar="STATE,STATE", nargs="?", const=",".join(STOPPING), default=(),
        type=_states,
        help="stop the program at the first gradient that is certainly at fault, with its report "
        f"and exit code 3; --fail-fast=none,nan names the states (of {', '.join(STOPPING)})",
    )  # fmt: skip
    parser.add_argument(
        "--quiet", action="store_true",
        help="show nothing while the program runs: neither faults at first sight nor the status",
    )  # fmt: skip
    parser.add_argument(
        "--serve", action="store_true",
        help="serve the page, which follows the run, to this machine's browsers; its address is "
        "printed",
    )  # fmt: skip
    parser.add_argument(
        "--max-findings", metavar="N", type=_count, help="show the first N findings only"
    )
    parser.add_argument(
        "--audit",
        action="store_true",
        help="check gradients that look fine against differences, which takes longer",
    )
    add_program(parser)
    parser.set_defaults(act=_doctor, parser=parser)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor.entry.run import Options, doctor

    doctor(program(options), Options(
        options.engine, _delivery(options), options.strict, options.audit, options.fail_fast
    ))  # fmt: skip
    return 0


def _delivery(options: argparse.Namespace) -> Delivery:
    import os

    from .doctor.entry.visit import FORMATS, Delivery, format_of

    output = options.output
    if output is not None and output != "-":
        output = os.path.abspath(output)  # wherever the program goes
        if os.path.isdir(output) or not os.path.isdir(os.path.dirname(output)):
            options.parser.error(f"argument --output: cannot write {options.output!r}")
    format = options.format or format_of(output) or ""
    if not format:
        options.parser.error(
            f"argument --output: the ending of {options.output!r} names no format; give one with "
            f"--format ({', '.join(FORMATS)})"
        )
    return Delivery(format, output, options.max_findings, options.quiet, options.serve)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _states(text: str) -> tuple[str, ...]:
    given = tuple(filter(None, (word.strip().lower() for word in text.split(","))))
    wrong = [word for word in given if word not in STOPPING]
    if wrong or not given:
        raise argparse.ArgumentTypeError(
            f"{(wrong or [text])[0]!r} is no state of a gradient; name some of "
            f"{', '.join(STOPPING)}"
        )
    return given


def _add_explain(commands: Commands) -> None:
    parser = _parser(
        commands.add_parser,
        "explain",
        EXPLAIN_DESCRIPTION,
        EXPLAIN_EPILOG,
        help="explain a finding of the doctor",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="a code (GT103), a name or a cause")
    parser.set_defaults(act=_explain)


def _explain(options: argparse.Namespace) -> int:
    import os

    from .doctor.report.lessons import explain

    try:
        code = explain(options.name)
        sys.stdout.flush()
    except BrokenPipeError:  # `gradtape explain | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


COMMANDS = (_add_run, _add_doctor, _add_explain)


def _parser(make, name: str, description: str, epilog: str, **more) -> _Parser:
    # Without abbreviations no option of a program can be taken for one of gradtape's.
    parser: _Parser = make(
        name,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        **more,
    )
    return parser


def _version() -> str:
    from .version import TENSORFLOW, __version__

    return f"gradtape {__version__} (the answers of TensorFlow {TENSORFLOW})"
