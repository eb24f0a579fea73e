"""SHA-256 from the interpreter itself: `hashlib` loads OpenSSL, which takes longer than everything else that is loaded
to grade a plan."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 12):
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
else:
    from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]


def hex_digest(data: bytes) -> str:
    """The SHA-256 of some bytes, in 64 hexadecimal digits."""
    return str(sha256(data).hexdigest())
