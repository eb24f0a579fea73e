"""Start the punchlist in the folder `vendor` beside this one."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(here), "vendor"))
sys.argv[0] = os.path.join(here, "punchlist")

from punchlist.cli import main, start  # noqa: E402

if "hook" in sys.argv[1:]:
    start()
sys.exit(main())
