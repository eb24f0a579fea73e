"""`python -m punchlist`."""

from .cli import main

raise SystemExit(main())
