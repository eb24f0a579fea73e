"""What the conformance kit found: a result for each scenario, and the tokens that the plan costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ...core.text import visible

Outcome = Literal["passed", "failed", "not run"]
_WIDTH = 24
_SHOWN = {"passed": "ok", "failed": "FAILED", "not run": "not run"}


class ScenarioResult(NamedTuple):
    """What one scenario came to."""

    name: str
    shows: str
    """What it shows about an agent that passes, in one sentence."""
    outcome: Outcome
    why: str = ""
    """What was expected and is not so, or why it was not run; empty if it passed."""
    evidence: tuple[str, ...] = ()
    """What the model saw, and the plan in the store, a line each."""


class TokenCost(NamedTuple):
    """What the plan adds to the requests of an agent, in tokens."""

    definition: int = 0
    """The definition of the plan's tool, in every request, at its start."""
    per_step: float = 0.0
    """The plan call of a step, its answer, and what the model is told in between."""
    steps: int = 0
    """How many steps were measured."""


class Report(NamedTuple):
    """What the kit found about an agent."""

    results: tuple[ScenarioResult, ...]
    tokens: TokenCost = TokenCost()

    @property
    def passed(self) -> bool:
        """Whether at least one scenario was run, and none failed."""
        outcomes = [one.outcome for one in self.results]
        return "passed" in outcomes and "failed" not in outcomes

    def check(self) -> None:
        """Raise AssertionError with the report if a scenario failed."""
        if not self.passed:
            raise AssertionError(f"\n{self}")

    def to_json(self) -> str:
        """Return the report as JSON."""
        found: dict[str, Any] = {
            "passed": self.passed,
            "results": [{**one._asdict(), "evidence": list(one.evidence)} for one in self.results],
            "tokens": self.tokens._asdict(),
        }
        return json.dumps(found, ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        return "\n".join([_headline(self.results), *_rows(self.results), _cost(self.tokens)])


def _headline(results: Sequence[ScenarioResult]) -> str:
    outcomes = [one.outcome for one in results]
    counts = [f"{outcomes.count(name)} {name}" for name in ("passed", "failed", "not run")]
    return f"conformance: {', '.join(counts)}"


def _rows(results: Sequence[ScenarioResult]) -> list[str]:
    rows = []
    for one in results:
        rows.append(f"  {_SHOWN[one.outcome]:<8} {one.name:<{_WIDTH}} {one.shows}")
        margin = " " * 11
        if one.why:
            rows.append(f"{margin}{one.why}")
        if one.outcome == "failed":
            rows += [f"{margin}  {visible(line)}" for line in one.evidence]
    return rows


def _cost(cost: TokenCost) -> str:
    if not cost.steps:
        return "tokens: not measured"
    step = f"{cost.per_step:.0f} a step (plan call, answer and updates; {cost.steps} steps)"
    return f"tokens: {cost.definition} for the definition of the tool, {step}"
