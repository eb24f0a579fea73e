"""The SQL statements that stores of this process carry out, one by one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def trace(tell: Callable[[str], object]) -> Callable[[], None]:
    """Tell each statement of every SQLite connection that is opened from now on. Call what is returned to end that."""
    module: Any = importlib.import_module("_sqlite3")  # by which a store connects
    connect = module.connect

    def traced(*args: Any, **options: Any) -> Any:
        db = connect(*args, **options)
        db.set_trace_callback(tell)
        return db

    def end() -> None:
        module.connect = connect

    module.connect = traced
    return end
