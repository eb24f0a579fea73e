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
    where = masked(url)
    if isinstance(
        error, errors.InsufficientPrivilege | errors.InvalidPassword | errors.InvalidAuthorizationSpecification
    ):
        raise StoreError(
            f"{where} refuses this user ({words}); check user, password and rights.", "permission"
        ) from None
    if "authentication failed" in words:
        raise StoreError(f"{where} refuses the login ({words}); check user and password.", "permission") from None
    if "does not exist" in words and "database" in words:
        raise StoreError(f"{where} has no such database ({words}); create it: createdb NAME") from None
    if isinstance(error, errors.LockNotAvailable):
        raise StoreError(
            f"{where} is held by another client for too long; it can be found in pg_stat_activity ({words})."
        ) from None
    if isinstance(error, Silent | errors.QueryCanceled):
        raise StoreError(
            f"{where} did not answer in time ({words}); whether a change was saved is seen when it does."
        ) from None
    if isinstance(error, errors.DiskFull):
        raise StoreError(f"{where}: the server's disk is full; make room there and try again.", "full") from None
    raise StoreError(f"{where} cannot be used ({words}); check the address, and that the server runs.") from None
