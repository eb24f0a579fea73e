"""What touches the machine for checks: the files as they are, and running commands."""
