"""What the test runs of `.ci/run` came to, from their reports in build/ci.

summary.py failed NAME   the tests of a run to try once more, one a line; nothing if trying again cannot help
summary.py               every skipped, flaky and failed test by name, then the counts over all runs
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

REPORTS = Path("build/ci")
MOST = 20  # more failures than these are not chance


def cases(report: Path) -> list[tree.Element]:
    """Return the test cases of a report; none if the run ended before it wrote one."""
    return list(tree.parse(report).iter("testcase")) if report.exists() else []


def has_failed(case: tree.Element) -> bool:
    return any(case.find(kind) is not None for kind in ("failure", "error"))


def to_try_again(name: str) -> list[str]:
    """Return the tests of a run that failed, if they are all that went wrong with it."""
    kept = REPORTS / "cache" / name / "v/cache/lastfailed"
    if not kept.exists():
        return []
    failed = sorted(json.loads(kept.read_text("utf-8")))
    reported = [case for case in cases(REPORTS / f"{name}.xml") if has_failed(case)]
    return failed if 0 < len(reported) <= MOST and len(failed) <= MOST else []


def name_of(case: tree.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def elsewhere() -> list[str]:
    """Return a line for each run of tests: how many it had, and how many others had that it did not have."""
    reports = [report for report in sorted(REPORTS.glob("*.xml")) if not report.stem.startswith("again-")]
    runs = {report.stem: {name_of(case) for case in cases(report)} for report in reports}
    lines = []
    for run, names in runs.items():
        missing = {other: len(theirs - names) for other, theirs in runs.items() if theirs - names}
        if run.startswith("tests-") and missing:
            listed = ", ".join(f"{count} of {other}" for other, count in missing.items())
            lines.append(f"{run}: {len(names)} tests; not among them: {listed}")
    return lines


def summary() -> int:
    """Print the counts. A test that failed and then passed alone is flaky; it does not fail the run."""
    counted = {"passed": 0, "failed": 0, "skipped": 0, "flaky": 0}
    for report in sorted(REPORTS.glob("*.xml")):
        if report.stem.startswith("again-"):
            continue
        again = {name_of(case): case for case in cases(REPORTS / f"again-{report.name}")}
        for case in cases(report):
            name, how = name_of(case), "passed"
            skipped = case.find("skipped")
            if has_failed(case):
                second = again.get(name)
                is_chance = second is not None and not has_failed(second) and second.find("skipped") is None
                how = "flaky" if is_chance else "failed"
            elif skipped is not None:
                how, name = "skipped", f"{name}: {skipped.get('message')}"
            counted[how] += 1
            if how != "passed":
                print(f"{how}: {name} ({report.stem})")
    for line in elsewhere():
        print(line)
    print(f"{counted['flaky']} flaky: failed once, then passed alone; counted as passed")
    passed = counted["passed"] + counted["flaky"]
    print(f"{passed} passed, {counted['failed']} failed, {counted['skipped']} skipped")
    return 1 if counted["failed"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["failed"]:
        print("\n".join(to_try_again(sys.argv[2])))
    else:
        sys.exit(summary())
