"""SHA-256 from the interpreter itself: `hashlib` loads OpenSSL, which takes longer than everything else that is loaded
to grade a plan."""

from __future__ import annotations

from functools import cache

from ._typing import Any


@cache
def _find() -> Any:
    try:
        from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:  # before Python 3.12
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    return sha256


def hex_digest(data: bytes) -> str:
    """The SHA-256 of some bytes, in 64 hexadecimal digits."""
    return str(_find()(data).hexdigest())
