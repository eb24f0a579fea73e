"""The screen of the reference agent: `punchlist run` and `punchlist demo`."""
