"""Run the benchmarks named (all of them, if none is), print the table, write the figures as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path

from .frame import Row, table

NAMES = (
    "tokens",
    "policy",
    "calls",
    "startup",
    "durable",
    "crowd",
    "growth",
    "lists",
    "mcp",
    "packages",
    "panel",
    "watch",
    "session",
    "checks",
    "frameworks",
)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all of them by default")
    options.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    given = options.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        options.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes that we start would compile again and again
    results = {name: measure(name) for name in given.names or NAMES}
    rows = [row for part in results.values() for row in part]
    missed = [row.name for row in rows if not row.ok]
    print(f"{len(rows)} figures, {len(missed)} over their goal{': ' if missed else ''}{'; '.join(missed)}")
    if given.json:
        write(given.json, results)
    return 0


def measure(name: str) -> list[Row]:
    rows: list[Row] = import_module(f".{name}", __package__).rows()
    print(f"{name}\n{table(rows)}\n", flush=True)
    return rows


def write(path: Path, results: dict[str, list[Row]]) -> None:
    figures = {name: [row._asdict() | {"ok": row.ok} for row in rows] for name, rows in results.items()}
    whole = {"python": platform.python_version(), "machine": platform.platform(), "benchmarks": figures}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
