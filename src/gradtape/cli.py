"""The command line: says which commands there are and leaves their work to modules of their own.

A command is one ``_add_<name>`` function, listed in `COMMANDS`: it describes the arguments and
sets ``act``, which is called with the parsed options and returns the exit code. What ``act`` needs
is imported inside it, so that ``--help`` stays quick.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .api.arguments import HIDDEN, Parser

if TYPE_CHECKING:
    from .api.run import Program
    from .doctor.entry.visit import Delivery

    Commands = argparse._SubParsersAction["Parser"]

DESCRIPTION = "A gradient tape that explains itself: TensorFlow's GradientTape on NumPy."

EPILOG = """\
examples:
  gradtape run train.py --epochs 3     run train.py; its "import tensorflow" is gradtape
  gradtape run -m project.train        the same for a module
  gradtape doctor train.py             run it, then say what is wrong with its gradients
  gradtape doctor --fix train.py       and change what a trial has confirmed
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
  gradtape doctor --fix train.py
  gradtape doctor --diff train.py | git apply

A finding is left out where its line, or the line that asks for the gradient, has the comment
"# gradtape: ignore[GT120]". Settings of a project stand in [tool.gradtape] of the nearest
pyproject.toml above PROGRAM: ignore, strict, output, baseline, fail-fast, quiet.

In code: `with gradtape.doctor.watch() as report:`, or GRADTAPE_DOCTOR=1 in the environment.
"""

EXPLAIN_DESCRIPTION = """\
Explain a finding of the doctor: why it happens, a program with the fault and the same without it,
and when it is fine to ignore. Any other words are searched for in all lessons: the best few are
listed, and a clear hit is shown. Without a word, list all there are.
"""

EXPLAIN_EPILOG = """\
examples:
  gradtape explain GT103
  gradtape explain left-the-tape
  gradtape explain nan
  gradtape explain loss through numpy
"""


COMPLETION_DESCRIPTION = """\
Print a script for a shell that completes the commands and options of gradtape, and the names of
rules behind "gradtape explain".
"""

COMPLETION_EPILOG = """\
examples:
  eval "$(gradtape completion bash)"       in ~/.bashrc
  eval "$(gradtape completion zsh)"        in ~/.zshrc, behind compinit
  gradtape completion fish | source        in ~/.config/fish/config.fish
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the command in ``argv`` (by default the process's own) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    options = build_parser().parse_args(words)
    options.given = words[1:]
    code: int = options.act(options)
    return code


def build_parser() -> Parser:
    """Return the parser that knows every command."""
    parser = _parser(Parser, "gradtape", DESCRIPTION, EPILOG)
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(commands)
    return parser


def add_program(parser: Parser) -> None:
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
        choices=("text", "json", "html", "sarif", "patch"),
        help="of the report; by default what the name of FILE ends in, else text",
    )
    parser.add_argument(
        "--output", metavar="FILE", help='write the report to FILE ("-": to standard output)'
    )
    parser.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        help="exit with 3 when there are findings",
    )
    parser.add_argument(
        "--ignore",
        metavar="RULE",
        action="append",
        help='leave out what a rule finds ("GT120" or its name); may be given several times',
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="leave out the findings that are recorded in FILE"
    )
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="record the findings of this run in FILE"
    )
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
        "--tensorboard", metavar="DIR", type=_folder,
        help="write norms, histograms and findings as event files to DIR, while the program runs",
    )  # fmt: skip
    parser.add_argument(
        "--max-findings", metavar="N", type=_count, help="show the first N findings only"
    )
    parser.add_argument(
        "--audit",
        action="store_true",
        help="check gradients that look fine against differences, which takes longer",
    )
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--fix",
        action="store_true",
        help="change the lines for which a trial has confirmed that it helps: show the changes, "
        "ask, then run the program again",
    )
    change.add_argument(
        "--diff",
        action="store_true",
        help="print these changes as a patch on standard output, after the program's own; "
        "nothing is changed",
    )
    parser.add_argument("--yes", action="store_true", help="with --fix: do not ask")
    # For the processes of --fix: the file that the changes are to be written to, and how many
    # findings were fixed before.
    parser.add_argument("--visit", type=_visited, help=HIDDEN)
    add_program(parser)
    parser.set_defaults(act=_doctor, parser=parser)


def _doctor(options: argparse.Namespace) -> int:
    from .doctor.entry import settings
    from .doctor.entry.run import Options, doctor
    from .doctor.entry.visit import Delivery
    from .doctor.report import baseline

    error = options.parser.error
    if options.fail_fast and options.kind == "script" and _states_alone(options.target):
        error(f"argument --fail-fast: write `=` before its states: --fail-fast={options.target}")
    if options.yes and not options.fix:
        error("argument --yes: it answers the question of --fix, which is not given")
    if options.fix and options.target == "-":
        error("argument --fix: it changes a file and runs it twice, and standard input is none")
    known: dict[str, Any] = {}
    try:
        settings.fill(options)
        known["ignore"] = settings.codes(options.ignore or [])
        if options.baseline is not None:
            known["baseline"] = baseline.read(options.baseline)
    except ValueError as wrong:
        error(str(wrong))
    delivery = _delivery(options)
    if options.fix and options.visit is None:
        from .doctor.entry.fix import fix

        return fix(options.given, asks=not options.yes)
    others = [Delivery("patch", "-")] if options.diff else []
    if options.write_baseline is not None:
        others.append(Delivery("baseline", _place(options, "--write-baseline")))
    if options.visit is not None:
        path, known["fixed"] = options.visit
        others.append(Delivery("plan", path))
    doctor(program(options), Options(
        options.engine, delivery, options.strict, options.audit, options.fail_fast, tuple(others),
        known,
    ))  # fmt: skip
    return 0


def _visited(text: str) -> tuple[str, int]:
    path, _, fixed = text.rpartition(":")
    return path, int(fixed)


def _delivery(options: argparse.Namespace) -> Delivery:
    from .doctor.entry.visit import FORMATS, Delivery, format_of

    output = options.output
    if output is not None and output != "-":
        output = _place(options, "--output")
    format = options.format or format_of(output) or ""
    if not format:
        options.parser.error(
            f"argument --output: the ending of {options.output!r} names no format; give one with "
            f"--format ({', '.join(FORMATS)})"
        )
    return Delivery(
        format, output, options.max_findings, options.quiet, options.serve, options.tensorboard
    )


def _folder(text: str) -> str:
    import os

    if os.path.exists(text) and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text!r} is a file; name a folder, which is made")
    return os.path.abspath(text)  # wherever the program goes


def _place(options: argparse.Namespace, name: str) -> str:
    """The file that an option names, wherever the program goes."""
    import os

    given = getattr(options, name[2:].replace("-", "_"))
    path = os.path.abspath(given)
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        options.parser.error(f"argument {name}: cannot write {given!r}")
    return path


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


def _states_alone(target: str) -> bool:
    """Is what should be a program a list of states?"""
    import os

    return set(target.split(",")) <= {*STOPPING} and not os.path.exists(target)


def _add_explain(commands: Commands) -> None:
    parser = _parser(
        commands.add_parser,
        "explain",
        EXPLAIN_DESCRIPTION,
        EXPLAIN_EPILOG,
        help="explain a finding of the doctor",
    )
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="a code (GT103), a name, a cause, a symptom (nan), or any words",
    )
    parser.set_defaults(act=_explain)


def _explain(options: argparse.Namespace) -> int:
    import os

    from .doctor.report.lessons import explain

    try:
        code = explain(options.words)
        sys.stdout.flush()
    except BrokenPipeError:  # `gradtape explain | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _add_completion(commands: Commands) -> None:
    from .api.completion import SHELLS

    parser = _parser(
        commands.add_parser,
        "completion",
        COMPLETION_DESCRIPTION,
        COMPLETION_EPILOG,
        help="print a script that completes gradtape's commands in a shell",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=" or ".join(SHELLS))
    parser.set_defaults(act=_completion)


def _completion(options: argparse.Namespace) -> int:
    from .api.completion import completion
    from .doctor.rules import CATALOGUE

    rules = [word for rule in CATALOGUE for word in (rule.code, rule.name)]
    known = {"explain": rules, "doctor --ignore": rules}
    print(completion(options.shell, build_parser(), known), end="")
    return 0


COMMANDS = (_add_run, _add_doctor, _add_explain, _add_completion)


def _parser(make, name: str, description: str, epilog: str, **more) -> Parser:
    # Without abbreviations no option of a program can be taken for one of gradtape's.
    parser: Parser = make(
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
