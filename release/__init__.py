"""A release: cut the changelog and set the version, build the archives, check them, install and use them.

`python -m release cut 0.2.0` and `python -m release check`; docs/releasing.md has the steps around them.
"""
