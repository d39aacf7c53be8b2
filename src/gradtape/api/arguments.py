"""The words of a command line: which are a command's own, which its program's, which are meant."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable

HIDDEN = argparse.SUPPRESS  # of options that are not for users


class Parser(argparse.ArgumentParser):
    """A parser that reads the words up to the program itself, and leaves the rest to the program.

    argparse's own way to do that treats "--" differently from one Python to the next.
    """

    runs_a_program = False

    def parse_known_args(self, args=None, namespace=None):
        words = list(sys.argv[1:] if args is None else args)
        if not self.runs_a_program:
            self._know_the_command(words)
            options, unknown = super().parse_known_args(words, namespace)
            self._know_the_options(unknown)
            return options, unknown
        end = self._program(words) + 1
        own = self._ours(words[:end])
        self._know_the_options(own)
        options, unknown = super().parse_known_args(
            [*map(self._with_value, words[:end])], namespace
        )
        options.arguments = self._handed_on(words[:end], words[end:])
        return options, unknown

    def _ours(self, words: list[str]) -> list[str]:
        """The options before the program that there are not."""
        own, found, place = self._option_string_actions, [], 0
        while place < len(words) and words[place] != "--":
            if words[place].startswith("--") and words[place].partition("=")[0] not in own:
                found.append(words[place])
            place += self._length(words[place])
        return found

    def _know_the_command(self, words: list[str]) -> None:
        """An error that says which command may be meant, for one that there is not."""
        commands = [a for a in self._actions if isinstance(a, argparse._SubParsersAction)]
        if not commands:
            return
        given = next((word for word in words if not word.startswith("-")), None)
        self._know_the_options(self._ours(words[: words.index(given) if given else None]))
        if given is not None and given not in commands[0].choices:
            self.error(f"there is no command {given!r}{_meant(given, commands[0].choices)}")

    def _know_the_options(self, words: list[str]) -> None:
        for word in words:
            if word.startswith("-"):
                name = word.partition("=")[0]
                known = [n for n, a in self._option_string_actions.items() if a.help != HIDDEN]
                self.error(f"there is no option {name}{_meant(name, known)}")

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
        own = {
            name for name, action in self._option_string_actions.items()
            if name.startswith("--") and name != "--help" and action.help != HIDDEN
        }  # fmt: skip
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


def _meant(word: str, known: Iterable[str]) -> str:
    """What may be meant instead of a word, or all that there is."""
    from difflib import get_close_matches

    words = list(known)
    near = get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(words)}"
