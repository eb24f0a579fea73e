"""What an error of a PostgreSQL server means: whether it passes, and what to do about it."""

from __future__ import annotations

from typing import NoReturn

import psycopg
from psycopg import errors

from ...core.errors import StoreError
from .. import masked
from .connection import Silent

# What will not be otherwise a moment later. A lock and a statement are given as much time as there is.
_FINAL = (Silent, errors.ProgramLimitExceeded, errors.DiskFull, errors.QueryCanceled, errors.LockNotAvailable)


_DENIED = (errors.InsufficientPrivilege, errors.InvalidPassword, errors.InvalidAuthorizationSpecification)
_OTHER_TABLES = (errors.UndefinedTable, errors.UndefinedColumn, errors.DuplicateTable, errors.InvalidSchemaName)
# How a server refuses a login, and that it has no room: it names neither by a code.
_NO_LOGIN = ("role ", "permission denied", "no pg_hba.conf entry")
_CROWDED = ("too many c", "connection slots")


def may_pass(error: psycopg.Error) -> bool:
    """Whether it is worth trying again: the server is starting, restarting, full, or the connection broke."""
    if isinstance(error, errors.IdleInTransactionSessionTimeout):  # we were suspended, and others did not wait
        return True
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    if isinstance(error, _FINAL):
        return False
    if isinstance(error, errors.InvalidPassword | errors.InvalidAuthorizationSpecification | errors.InvalidCatalogName):
        return False
    words = str(error)
    return not any(
        said in words
        for said in (
            "password authentication failed",
            "does not exist",
            "could not translate host",
            "failed to resolve host",
        )
    )


def fail(url: str, error: psycopg.Error) -> NoReturn:
    """Raise a StoreError that says what is wrong and what to do, without passwords."""
    words = masked(str(error).strip().split("\n")[0], url)
    text, kind = _explain(error, words)
    raise StoreError(f"{masked(url)} {text}", kind) from None


def _explain(error: psycopg.Error, words: str) -> tuple[str, str]:
    """What to say of an error behind the address of its server, and of what kind it is."""
    if _is_fatal(words, _CROWDED):
        return f"takes no more connections ({words}); close some, or allow more there.", ""
    if isinstance(error, _DENIED) or "authentication failed" in words or _is_fatal(words, _NO_LOGIN):
        return f"refuses this user ({words}); check user, password and rights.", "permission"
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return f"is read-only ({words}); name the server that is written to, or have it made writable.", "permission"
    if isinstance(error, errors.DiskFull):
        return "cannot grow: the server's disk is full; make room there and try again.", "full"
    return _explain_other(error, words), ""


def _explain_other(error: psycopg.Error, words: str) -> str:
    if "does not exist" in words and "database" in words:
        return f"has no such database ({words}); create it: createdb NAME"
    if isinstance(error, errors.LockNotAvailable):
        return f"is held by another client for too long; it can be found in pg_stat_activity ({words})."
    if isinstance(error, Silent | errors.QueryCanceled):
        return f"did not answer in time ({words}); whether a change was saved is seen when it does."
    if isinstance(error, _OTHER_TABLES):
        return f"has other tables than a store ({words}); restore its schema punchlist, or name another database."
    if isinstance(error, errors.UntranslatableCharacter):
        return f"cannot hold this ({words}); use a database whose encoding is UTF8."
    return f"cannot be used ({words}); check the address, and that the server runs."


def _is_fatal(words: str, marks: tuple[str, ...]) -> bool:
    return "FATAL" in words and any(mark in words for mark in marks)
