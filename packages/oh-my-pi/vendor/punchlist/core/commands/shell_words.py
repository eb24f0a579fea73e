"""A shell command taken apart: its simple commands, their words, and the files they write to.

This is not a shell. It understands what agents usually type, and says of everything else that it does not.
"""

from __future__ import annotations

import re

from .._typing import NamedTuple

_LONGEST = 200_000  # characters of a command
_NAME = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9#?$!@*-])")
_DUPLICATE = re.compile(r"[0-9]+|-")
_SPACE = " \t"
_BREAKS = "\n;&|()"
_JOINING = ("&&", "||", "|", "|&", "&", ";")
_ORDINARY = re.compile(r"[A-Za-z0-9_./:=,@%+^-]+")  # what only stands for itself


class NotUnderstood(Exception):
    """The command holds something that is not understood; the message says what."""


class Word(NamedTuple):
    """One word of a command, without its quotes."""

    text: str
    is_plain: bool = True  # whether it means just this: no variable, no substitution, no braces
    is_pattern: bool = False  # whether it is a pattern for file names
    is_bare: bool = True  # whether nothing of it was quoted


class Simple(NamedTuple):
    """One simple command: its words, and what it writes to by redirection."""

    words: tuple[Word, ...]
    targets: tuple[Word, ...] = ()
    operator: str = ""  # what comes behind it: && || | & ; ( ) or the end of a line; empty for the last command
    is_fed: bool = False  # whether it reads from a file or from the command itself: < << <<<


class Parsed(NamedTuple):
    """Everything that a command runs, and the text of the commands inside of its substitutions."""

    commands: tuple[Simple, ...]
    inner: tuple[str, ...] = ()
    is_grouped: bool = False  # whether some of them are in parentheses


def parse(text: str) -> Parsed:
    """Take a command apart. Raises NotUnderstood."""
    if len(text) > _LONGEST:
        raise NotUnderstood("it is too long to look through")
    reader = _Reader(text)
    reader.read()
    return Parsed(tuple(reader.commands), tuple(reader.inner), reader.is_grouped)


class _Reader:
    """Goes through a command, character by character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.commands: list[Simple] = []
        self.inner: list[str] = []
        self.is_grouped = False
        self._words: list[Word] = []
        self._targets: list[Word] = []
        self._redirects = ""  # the operator whose target comes next
        self._last = ""  # operator
        self._is_fed = False
        self._is_quoted = False  # whether it is between double quotes
        self._documents: list[tuple[str, bool, bool]] = []  # here-documents to skip: end, tabs, expanded
        self._begin_word()

    def read(self) -> None:
        while self.at < len(self.text):
            self._step()
        self._end_command()
        if self._documents:
            raise NotUnderstood("a here-document has no end")

    def _begin_word(self) -> None:
        self._said: list[str] = []
        self._has_word = False
        self._plain, self._pattern, self._bare, self._braces = True, False, True, False

    def _step(self) -> None:
        char = self.text[self.at]
        if char in _SPACE:
            self._end_word()
            self.at += 1
        elif char in _BREAKS:
            self._break(char)
        elif char in "<>":
            self._redirect()
        elif char == "#" and not self._has_word:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        else:
            self._in_word(char)

    def _in_word(self, char: str) -> None:
        self._has_word = True
        if char == "\\":
            self._take_escaped()
        elif char == "'":
            end = self._find("'", self.at + 1)
            self._said.append(self.text[self.at + 1 : end])
            self._bare, self.at = False, end + 1
        elif char == '"':
            self._take_quoted()
        elif char in "$`":
            self._expansion(char)
        elif found := _ORDINARY.match(self.text, self.at):
            self._said.append(found[0])
            self.at = found.end()
        else:
            self._pattern = self._pattern or char in "*?["
            self._braces = self._braces or char == "{"
            self._said.append(char)
            self.at += 1

    def _take_escaped(self) -> None:
        following = self.text[self.at + 1 : self.at + 2] or "\\"  # the last character is itself
        if following != "\n":
            self._said.append(following)
            self._bare = False
        elif not self._said:
            self._has_word = False
        self.at += 2

    def _take_quoted(self) -> None:
        self._bare = False
        self._is_quoted = True
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                self._is_quoted = False
                return
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`", "\n"):
                self._said.append(self.text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif char in "$`":
                self._expansion(char)
            else:
                self._said.append(char)
                self.at += 1
        raise NotUnderstood("a quote has no end")

    def _expansion(self, char: str) -> None:
        """A variable, or a command whose output is put in its place."""
        start = self.at
        if char == "`":
            end = self._find("`", start + 1)
            self._take_substitution(self.text[start + 1 : end], end + 1)
        elif self.text.startswith("$((", start):
            self._skip(self._find("))", start + 3) + 2, "arithmetic")
        elif self.text.startswith("$(", start):
            end = self._closing(start + 2)
            self._take_substitution(self.text[start + 2 : end], end + 1)
        elif self.text.startswith("${", start):
            self._skip(self._find("}", start + 2) + 1, "a parameter")
        elif found := _NAME.match(self.text, start):
            self._skip(found.end(), "")
        elif self.text[start + 1 : start + 2] in ("'", '"') and not self._is_quoted:
            raise NotUnderstood("it quotes with $")
        elif self.text.startswith("\\\n", start + 1):
            raise NotUnderstood("a line ends behind a $")
        else:
            self._said.append("$")
            self.at += 1

    def _take_substitution(self, command: str, end: int) -> None:
        if "\\" in command and "`" in self.text[self.at : end]:
            raise NotUnderstood("it nests backquotes")
        self.inner.append(command)
        self._skip(end, "")

    def _skip(self, end: int, what: str) -> None:
        """Leave something as it is, whose value is not known."""
        said = self.text[self.at : end]
        if what and ("`" in said[2:] or "$(" in said[2:]):
            raise NotUnderstood(f"it runs commands inside of {what}")
        self._said.append(said)
        self._plain, self.at = False, end

    def _closing(self, start: int) -> int:
        """Where a substitution ends that begins here."""
        depth, place, quoted = 1, start, False
        while place < len(self.text):
            char = self.text[place]
            if char == "\\":
                place += 1
            elif char == '"':
                quoted = not quoted
            elif char == "'" and not quoted:
                place = self._find("'", place + 1)
            elif char in "#`" or (char in "()" and quoted):
                raise NotUnderstood("it nests substitutions")
            elif char in "()":
                depth += 1 if char == "(" else -1
                if not depth:
                    return place
            place += 1
        raise NotUnderstood("a substitution has no end")

    def _find(self, what: str, start: int) -> int:
        found = self.text.find(what, start)
        if found < 0:
            raise NotUnderstood("a quote or a substitution has no end")
        return found

    # --- operators ---------------------------------------------------------------------------------------------------

    def _break(self, char: str) -> None:
        if char == "(" and (self._has_word or self._words):
            raise NotUnderstood("it defines a function")
        if char == "&" and self.text[self.at + 1 : self.at + 2] == ">":
            self._end_word()
            self.at += 1
            return
        if self.text.startswith(";;", self.at):
            raise NotUnderstood("it holds a case")
        operator = char
        if self.text[self.at : self.at + 2] in ("&&", "||", "|&"):
            operator = self.text[self.at : self.at + 2]
        self._end_word()
        self._end_command(operator)
        self.at += len(operator)
        if char == "\n":
            self._skip_documents()

    def _redirect(self) -> None:
        if self._has_word and self._bare and "".join(self._said).isdecimal():
            self._begin_word()  # the number of a file
        self._end_word()
        operators = ("<<<", "<<-", "<<", "<>", "<&", "<(", ">>", ">|", ">&", ">(", "<", ">")
        operator = next(one for one in operators if self.text.startswith(one, self.at))
        if operator in ("<(", ">("):
            raise NotUnderstood("it substitutes a process")
        if self._redirects:
            raise NotUnderstood("a redirection has no target")
        self._redirects = operator
        self.at += len(operator)

    def _end_word(self) -> None:
        if not self._has_word:
            return
        text = "".join(self._said)
        is_many = self._braces and ("," in text or ".." in text)
        word = Word(text, self._plain and not is_many, self._pattern, self._bare)
        operator, self._redirects = self._redirects, ""
        self._begin_word()
        if operator.startswith("<<") and operator != "<<<":
            self._documents.append((word.text, operator == "<<-", word.is_bare))
        elif operator in (">", ">>", ">|", "<>") or (operator == ">&" and not _DUPLICATE.fullmatch(word.text)):
            self._targets.append(word)
        elif not operator:
            self._words.append(word)
        if operator.startswith("<") and operator != "<&" and word.text != "/dev/null":
            self._is_fed = True

    def _end_command(self, operator: str = "") -> None:
        self._end_word()
        if self._redirects:
            raise NotUnderstood("a redirection has no target")
        is_empty = not (self._words or self._targets or self._is_fed)
        if is_empty and operator in _JOINING and self._last != ")":
            raise NotUnderstood(f"there is no command before {operator}")
        self._last = operator
        if self._words or self._targets:
            self.commands.append(Simple(tuple(self._words), tuple(self._targets), operator, self._is_fed))
        if operator in ("(", ")"):
            self.is_grouped = True
        self._words, self._targets, self._is_fed = [], [], False

    def _skip_documents(self) -> None:
        for end, tabs, expanded in self._documents:
            while True:
                if self.at >= len(self.text):
                    raise NotUnderstood("a here-document has no end")
                stop = self.text.find("\n", self.at)
                if stop < 0:
                    stop = len(self.text)
                line = self.text[self.at : stop]
                self.at = stop + 1
                if tabs:
                    line = line.lstrip("\t")
                if line == end:
                    break
                if expanded and ("`" in line or "$(" in line):
                    raise NotUnderstood("a here-document runs commands")
        self._documents.clear()
