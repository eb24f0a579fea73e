"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._typing import Any
from .text import cut

_MOST = 200  # characters of a value
_READ = 10 * _MOST  # characters that are looked at for them
_BLANK = "[redacted]"
_JOINT = "\x1f"  # between the words of a command that is given as a list; white space to every pattern
NAMES = (  # without any of these in it, a name is not the name of a secret
    *("pass", "secret", "token", "key", "authorization", "credential", "pwd", "pw", "psk", "signature", "auth", "sig"),
    "cookie",
)
SURE = (  # a word that begins so is a key of some provider, if it is long enough
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-"),
    *("glimt-", "glagent-", "gloas-", "glsoat-", "xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxp-", "xoxr-", "xoxs-"),
    *("xoxc-", "xoxd-", "xapp-", "dop_v1_", "doo_v1_", "dor_v1_", "hvs.", "hvb.", "hvr.", "ya29.", "GOCSPX-"),
    *("dckr_pat_", "dckr_oat_", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "shpat_", "shpca_", "shppa_"),
    *(
        "shpss_",
        "sq0atp-",
        "sq0csp-",
        "lin_api_",
        "figd_",
        "PMAK-",
        "rubygems_",
        "tskey-",
        "sntrys_",
        "sntryu_",
        "glsa_",
    ),
    *("nfp_", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", "sbp_", "gsk_", "pplx-", "AGE-SECRET-KEY-", "ATATT3x"),
    *("ATCTT3x", "NRAK-", "HRKU-", "SWMTKN-1-", "dt0c01.", "pul-", "phx_", "fm2_", "EZAK", "ops_eyJ", "sk-ant-"),
    *("sk-proj-", "sk-or-", "BBDC-", "tgp_v1_"),
)
UNSURE = (  # the same, if the rest looks drawn by lot
    *("sk-", "sk_", "npm_", "pypi-", "hf_", "SG.", "key-", "r8_", "xai-", "dapi", "ntn_", "secret_", "fw_"),
    *("glc_", "lsv2_", "nvapi-", "ddp_", "ATBB", "LTAI", "AKID", "EAAA", "fo1_"),
)
# Without any of these a text holds no secret that we would find. Most texts hold none, and are not looked at further.
_HINTS = (
    *(
        "passw",
        "passphrase",
        "passcode",
        "passin",
        "passout",
        "pass=",
        "pass:",
        "pass ",
        "pass\t",
        "pass\n",
        "pass\x1f",
    ),
    *('pass"', "pass'", "pass]", "pass\\", "pass_", "pass-", "pwd", "pw=", "pw:", "pw ", "pw\t", "pw\n", "pw\x1f"),
    *('pw"', "pw'", "pw\\", "pw_", "pw]", "psk", "secret", "token", "key", "authorization", "credential", "cookie"),
    *("signature", 'auth"', "auth'", "auth=", "auth:", "auth ", "auth\\", "sig=", 'sig"', "sig:", "bearer", "basic"),
    *("-u", "user", "u ", "u\t", "u\n", "u\x1f", "mysql", "mariadb", "7z", " login", "\tlogin", "\nlogin", "\x1flogin"),
    *("mongo", "cqlsh", "cypher-shell", "rabbitmqadmin", "rdesktop", "twine", "zip", "sqlcmd", "bcp", "mosquitto"),
    *("sudo", "cryptsetup", "private-lines"),
    *("ipmitool", "redis-cli", "ldap", "plink", "pscp", "psftp", "openssl", "smb", "rpcclient", "http -", "https -"),
    *("http\x1f-", "https\x1f-", "lftp", "curl", "snyk", "ngrok", "doctl", "stdin", "from-literal", "http-basic"),
    *("identified", ":5432:", ":5433:", ":6432:", ":*:", "akia", "asia", "abia", "acca", "aiza", "eyj", "-us"),
    *(
        "atlasv1",
        "hooks.slack",
        "webhooks",
        ":aa",
        "1//0",
        "$1$",
        "$2",
        "$5$",
        "$6$",
        "$7$",
        "$y$",
        "$apr1$",
        "$argon2",
    ),
    *(prefix.casefold() for prefix in SURE + UNSURE),
)
_EXACT_HINTS = tuple(f"SK{digit}" for digit in "0123456789abcdef")  # the same, where case matters
# Keys of two entries that belong together: {"name": "DB_PASSWORD", "value": "hunter2"}
_NAMING = ("name", "key", "variable", "var", "parameterkey", "field", "header")
_NAMED = ("value", "val", "parametervalue", "content", "data")


def redacted(value: Any, name: str = "") -> Any:
    """The value with secrets blanked and long texts cut. Its form stays."""
    if isinstance(value, Mapping):
        named = _named_elsewhere(value)
        return {key: redacted(entry, named.get(key, str(key))) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(entry, name) for entry in _blanked_words(value)]
    secret = _is_secret(name) and not _is_count(name, value)
    if isinstance(value, str):
        return _BLANK if value and secret else cut(blanked(value[:_READ]), _MOST)
    return _BLANK if secret and value is not None and not isinstance(value, bool) else value


def recorded(id: str, name: str, args: Any, outcome: str, text: str, *, redact: bool) -> dict[str, Any]:
    """A tool call as it is kept with the item it was made for: short, and without secrets."""
    if redact:
        args, text = redacted(args), redacted(text)
    return {"id": id, "name": name, "parameters": args, "outcome": outcome, "text": text[:_MOST]}


def blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    plain = text.casefold()
    is_hinted = any(hint in plain for hint in _HINTS) or any(hint in text for hint in _EXACT_HINTS)
    if not is_hinted and not ("://" in text and "@" in text):
        return text
    from .redact_patterns import blanked

    return blanked(text)


def _named_elsewhere(value: Mapping[Any, Any]) -> dict[Any, str]:
    """The keys of values that another entry gives the name of a secret, with that name."""
    plain = {key: key.casefold() for key in value if isinstance(key, str)}
    names = [value[key] for key, word in plain.items() if word in _NAMING and isinstance(value[key], str)]
    name = next((name for name in names if _is_secret(name)), "")
    return {key: name for key, word in plain.items() if word in _NAMED} if name else {}


def _blanked_words(words: Sequence[Any]) -> Sequence[Any]:
    """The words of a command without secrets that only their neighbors tell: `["--password", "hunter2"]`."""
    if not words or not all(isinstance(word, str) and len(word) < _READ and _JOINT not in word for word in words):
        return words
    parted = blanked(_JOINT.join(words)).split(_JOINT)
    return parted if len(parted) == len(words) else words


def _is_secret(name: str) -> bool:
    plain = name[:_MOST].casefold()
    if not any(part in plain for part in NAMES):
        return False
    from .redact_patterns import is_secret_name

    return plain in ("cookie", "set-cookie") or is_secret_name(name[:_MOST])


def _is_count(name: str, value: Any) -> bool:
    """Whether it is a number of tokens, not one of them."""
    return name.casefold().endswith("tokens") and isinstance(value, int | float)
