"""Read a settings file. Loaded only where there is one, since a hook without it does not need `tomllib`."""

from __future__ import annotations

import tomllib

from ..core._typing import Any

_LONGEST = 64_000  # bytes of a settings file


def read_entries(path: str, problems: list[str]) -> list[tuple[str, Any]]:
    """Return the settings of a file. Of its tables, `checks` has the default check, `voices` the voices of models."""
    found = _file(path, problems)
    if isinstance(found.get("voices"), dict):
        found["voices"] = _joined_voices(found["voices"], path, problems)
    checks = found.pop("checks", {})
    if not isinstance(checks, dict):
        from ..core.schema import shown

        problems.append(f"{path}: 'checks' must be a table with 'default', not {shown(checks)}.")
        return list(found.items())
    unknown = [name for name in checks if name != "default"]
    problems += [f"{path}: {name!r} is not a setting in [checks]; the only one is 'default'." for name in unknown]
    if "default" in checks:
        found["default_check"] = checks["default"]
    return list(found.items())


def _joined_voices(table: dict[str, Any], path: str, problems: list[str]) -> str:
    """A table of voices as a text. What is wrong in it is named, and left out."""
    from ..core.schema import shown
    from ..policy.voice import BRIEF, FULL

    kept = []
    for name, voice in table.items():
        if voice not in (BRIEF, FULL):
            problems.append(f"{path}: {name!r} in [voices] must be {BRIEF!r} or {FULL!r}, not {shown(voice)}.")
        elif not name.strip() or "," in name:
            problems.append(f"{path}: {name!r} in [voices] is not the name of a model or a pattern.")
        else:
            kept.append(f"{name}={voice}")
    return ", ".join(kept)


def _file(path: str, problems: list[str]) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            text = file.read(_LONGEST + 1)
        if len(text) > _LONGEST:
            problems.append(f"{path}: it is longer than {_LONGEST} bytes; its settings are not used.")
            return {}
        return tomllib.loads(text.decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = getattr(error, "strerror", "") or error
        problems.append(f"{path}: {why}; its settings are not used.")
        return {}
