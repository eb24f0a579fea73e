"""Usage:

python -m release check         build the archives of the last commit, check them, install and use them
python -m release cut VERSION   give the unreleased changes a version and a date, and set the version of the package
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(words: list[str]) -> int:
    """Run a command, and return its exit code."""
    if words == ["check"]:
        from .report import check

        return check(ROOT)
    if words[:1] == ["cut"] and len(words) == 2:
        return _cut(words[1])
    print(__doc__.strip(), file=sys.stderr)
    return 2


def _cut(version: str) -> int:
    from .cut import CHANGELOG, PACKAGE, CutError, cut

    try:
        seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
        cut(ROOT, version, time.strftime("%Y-%m-%d", time.gmtime(seconds)))
    except CutError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"{PACKAGE} and {CHANGELOG} are those of {version}. docs/releasing.md says what comes next.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
