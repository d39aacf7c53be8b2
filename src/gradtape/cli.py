"""The command line: says which commands there are and leaves their work to modules of their own.

A command is one ``_add_<name>`` function, listed in `COMMANDS`: it describes the arguments and
sets ``act``, which is called with the parsed options and returns the exit code. What ``act`` needs
is imported inside it, so that ``--help`` stays quick.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradtape.run import Program

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

DESCRIPTION = "A gradient tape that explains itself: TensorFlow's GradientTape on NumPy."

EPILOG = """\
examples:
  gradtape run train.py --epochs 3     run train.py; its "import tensorflow" is gradtape
  gradtape run -m project.train        the same for a module
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


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the command in ``argv`` (by default the process's own) and return its exit code."""
    options = build_parser().parse_args(argv)
    code: int = options.act(options)
    return code


def build_parser() -> argparse.ArgumentParser:
    """Return the parser that knows every command."""
    parser = _parser(argparse.ArgumentParser, "gradtape", DESCRIPTION, EPILOG)
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in COMMANDS:
        add(commands)
    return parser


def add_program(parser: argparse.ArgumentParser) -> None:
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
        "arguments", metavar="...", nargs=argparse.REMAINDER, help="handed to the program untouched"
    )
    arguments.required = False  # before Python 3.12 a complaint about PROGRAM would name them too


def program(options: argparse.Namespace) -> Program:
    """Return the program that the arguments of `add_program` name."""
    from gradtape.run import Program

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
    from gradtape import alias
    from gradtape.run import run

    alias.install()
    run(program(options))
    return 0


COMMANDS = (_add_run,)


def _parser(make, name: str, description: str, epilog: str, **more) -> argparse.ArgumentParser:
    # Without abbreviations no option of a program can be taken for one of gradtape's.
    parser: argparse.ArgumentParser = make(
        name,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        **more,
    )
    return parser


def _version() -> str:
    from gradtape.version import TENSORFLOW, __version__

    return f"gradtape {__version__} (the answers of TensorFlow {TENSORFLOW})"
