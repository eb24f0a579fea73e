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

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Plan


class PunchlistError(Exception):
    """Anything that punchlist itself has to say went wrong."""


class Refused(PunchlistError):
    """Understood and declined."""


class NoSuchItem(Refused):
    """An id that is not in the plan."""


class BadShape(Refused):
    """A value of the wrong form, with everything that is wrong with it."""

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
    """The store could not be read or written."""

    def __init__(self, message: str, kind: str = "") -> None:
        self.kind = kind  # permission, full, or nothing of that sort
        super().__init__(message)

    @property
    def is_readable(self) -> bool:
        """Whether only writing failed, so that what is in the store may still be read."""
        return self.kind in ("full", "permission")


class StaleRevision(StoreError):
    """The plan has moved on since it was loaded."""


class Disagreement(StoreError, ValueError):
    """A history does not lead to its plan."""


class SettingsError(PunchlistError):
    """A setting that cannot be used; names the file and the key."""
