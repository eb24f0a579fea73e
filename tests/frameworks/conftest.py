"""Without `make frameworks`, nothing here is collected: the frameworks are not installed. Of one that cannot be
installed the tests are left out, and `test_installed.py` names it."""

from __future__ import annotations

import os

from tests.frameworks.installed import missing

if os.environ.get("PUNCHLIST_TEST_FRAMEWORKS"):
    collect_ignore_glob = [f"test_{name}*.py" for name in missing()]
else:
    collect_ignore_glob = ["test_*.py"]
