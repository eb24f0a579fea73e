"""What Punchlist costs: tokens, calls, start-up, durable writes. `python -m bench [NAME...] [--json FILE]`."""
