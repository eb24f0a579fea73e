"""Run sessions in a framework: `python -m bench.frameworks.measure NAME ROUNDS`, in the environment of the frameworks.
Prints JSON: of each way to keep a list the seconds of its sessions, which take turns, the seconds of the processor in
them, and the requests of another."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any


async def measure(name: str, rounds: int) -> dict[str, Any]:
    sessions = importlib.import_module(f".{name}", __package__).sessions
    with tempfile.TemporaryDirectory(prefix="punchlist-bench-") as folder:
        async with sessions(_folder(folder, "recorded"), records=True) as ways:
            requests = {way: await session(way) for way, session in ways.items()}
        async with sessions(_folder(folder, "timed")) as ways:
            seconds: dict[str, list[float]] = {way: [] for way in ways}
            processor: dict[str, list[float]] = {way: [] for way in ways}
            for turn in range(-1, rounds):  # the first makes the files, and is not counted
                for way, session in ways.items():
                    gc.collect()
                    begun, worked = perf_counter(), process_time()
                    await session(f"{way} {turn}")
                    if turn >= 0:
                        seconds[way].append(perf_counter() - begun)
                        processor[way].append(process_time() - worked)
    return {"seconds": seconds, "processor": processor, "requests": requests}


def _folder(*parts: str) -> Path:
    path = Path(*parts)
    path.mkdir()
    return path


if __name__ == "__main__":
    found = asyncio.run(measure(sys.argv[1], int(sys.argv[2])))
    json.dump(found, sys.stdout)
