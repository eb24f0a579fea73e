"""Every framework that an adapter is for: one that cannot be installed here is named as a skipped test."""

from __future__ import annotations

from pathlib import Path

import pytest

import punchlist
from tests.frameworks.fetch import FRAMEWORKS
from tests.frameworks.installed import missing

ADAPTERS = Path(punchlist.__file__).parent / "adapters"
WITHOUT_ADAPTER = {"deepagents"}  # the one of LangChain is used


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_framework_is_installed(name: str) -> None:
    if name in missing():
        pytest.skip(f"{name} cannot be installed here")


def test_every_adapter_is_tested_in_its_framework() -> None:
    adapters = {path.stem for path in ADAPTERS.glob("*.py")} - {"__init__", "safe_desk"}
    assert adapters <= FRAMEWORKS.keys() - WITHOUT_ADAPTER
    assert [name for name in adapters if not (Path(__file__).parent / f"test_{name}.py").exists()] == []
