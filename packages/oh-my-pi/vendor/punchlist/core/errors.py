"""What can go wrong, as a tree.

PunchlistError
  Refused            understood and declined; the message is for the model or the user, as it is
    NoSuchItem       an id that is not in the plan
    BadShape         arguments or a document that do not have the right form; carries every problem
    Partial          some of a batch was right: carries the plan it led to
  StoreError         could not be read or written; names the file and what to do
    StaleRevision    somebody else saved first; the desk tries again
  SettingsError      names the file and the key
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Plan


class PunchlistError(Exception):
    """The base class of the errors of punchlist."""


class Refused(PunchlistError):
    """A request that was understood and declined. The message is for the model or the user, as it is."""


class NoSuchItem(Refused):
    """An id that is not in the plan."""


class BadShape(Refused):
    """A value of the wrong form. `problems` has everything that is wrong with it, `example` what would be right."""

    def __init__(self, problems: Sequence[str], example: str = "") -> None:
        self.problems = tuple(problems)
        self.example = example
        lines = list(self.problems)
        if example:
            lines.append(f"for example: {example}")
        super().__init__("\n".join(lines))


class Partial(Refused):
    """A batch of which only some was right: `plan` holds what was, `errors` what was not."""

    def __init__(self, plan: Plan, errors: Sequence[str]) -> None:
        self.plan = plan
        self.errors = tuple(errors)
        super().__init__("; ".join(self.errors))


class StoreError(PunchlistError):
    """A store that could not be read or written. The message names the file, and what to do."""

    def __init__(self, message: str, kind: str = "") -> None:
        self.kind = kind  # permission, full, address (no store has this one), or nothing of that sort
        super().__init__(message)

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this: an address that no store has is misuse."""
        if self.kind == "address":
            return 2
        return 3

    @property
    def is_readable(self) -> bool:
        """Whether only writing failed, so that what is in the store may still be read."""
        return self.kind in ("full", "permission")


class StaleRevision(StoreError):
    """A save that came too late: somebody else saved first. The desk tries again by itself."""


class Disagreement(StoreError, ValueError):
    """A history does not lead to its plan."""


class SettingsError(PunchlistError):
    """A setting that cannot be used. The message names the file and the key."""


def check_type(name: str, value: object, kind: Any, words: str) -> None:
    """Raise BadShape, which says in words what an argument must be, if it is something else. A bool is not a number."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return
    from .text import cut, inline

    raise BadShape([f"{name} must be {words}, not {cut(inline(repr(value)), 40)}."])
