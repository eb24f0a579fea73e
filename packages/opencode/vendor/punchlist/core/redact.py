"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._typing import Any
from .codec import json_form
from .json_text import dumps
from .text import cut

_MOST = 200  # characters of a value
_DEEPER = "…"  # in the place of what is nested too deep
_ROOM = 800  # bytes of a tool call as JSON; with where and when it was made, it is kept in less than 1,000
_EVIDENCE_ROOM = 4_000  # bytes of what was observed of a check
_SHARES = {  # bytes of what belongs to a call beside its parameters, where all of it is too long
    **{"at": 34, "id": 66, "name": 82, "outcome": 12, "exit": 12, "text": 202, "session": 66, "agent": 42},
}
_LEAST, _ENTRY = 40, 100  # bytes of a value, and of an entry of a list, that are worth keeping
_MORE = 24  # bytes to say that there were more entries
_MARK = 8  # bytes of quotes, and of the mark where a text was cut
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
        if value and secret:
            return _BLANK
        return cut(blanked(value[:_READ]), _MOST)
    if secret and value is not None and not isinstance(value, bool):
        return _BLANK
    return value


def shallow(value: Any, levels: int = 8) -> Any:
    """The value without what is nested deeper than that. It may contain itself."""
    if isinstance(value, Mapping):
        if not levels:
            return _DEEPER
        return {key: shallow(entry, levels - 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        if not levels:
            return _DEEPER
        return [shallow(entry, levels - 1) for entry in value]
    return value


def recorded(
    id: str,
    name: str,
    args: Any,
    outcome: str,
    text: str,
    *,
    redact: bool,
    at: str = "",
    exit: int | None = None,
    session: str = "",
    agent: str = "",
) -> dict[str, Any]:
    """A tool call as it is kept with the item it was made for: short, and without secrets. What is not known is left
    out. `text`: the beginning of its result. `exit`: the exit code of a command."""
    if redact:
        args, text = redacted(args), redacted(text)
    call = {"at": at, "id": id, "name": name, "parameters": args, "outcome": outcome, "exit": exit}
    known = {**call, "text": text[:_MOST], "session": session, "agent": agent}
    return bounded_call({key: value for key, value in known.items() if value not in ("", None)})


def bounded_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call whose JSON takes at most 800 bytes. Its parameters give way first, the largest of them most."""
    made: dict[str, Any] = {str(key): json_form(value) for key, value in call.items()}
    if "tree" in made:
        return _bounded_evidence(made)
    if _size(made) <= _ROOM:
        return made
    parameters = made.get("parameters", {})
    made = {key: bounded(made[key], room) for key, room in _SHARES.items() if key in made}
    return {**made, "parameters": bounded(parameters, _ROOM - _size({**made, "parameters": 0}))}


def _bounded_evidence(made: dict[str, Any]) -> dict[str, Any]:
    """What was observed of a check, with less of what only serves to say more about it."""
    for key in ("dirty", "made"):  # a part of one of them would say something else
        if _size(made.get(key)) > _EVIDENCE_ROOM // 2:
            del made[key]
    made = {key: bounded(value, _EVIDENCE_ROOM // 2) for key, value in made.items()}
    for key in ("text", "dirty", "made"):
        if _size(made) > _EVIDENCE_ROOM:
            made.pop(key, None)
    return made


def bounded(value: Any, room: int) -> Any:
    """As much of a JSON value as fits into so many bytes, with a mark where something was left out."""
    if _size(value) <= room:
        return value
    made: Any = value
    if isinstance(value, Mapping):
        keys = list(value)[: max(room // _LEAST, 1)]
        names = [bounded(key, _LEAST // 2) for key in keys]
        left = room - sum(_size(name) + 4 for name in names) - _MORE
        made = dict(zip(names, _shared([value[key] for key in keys], left), strict=True))
        if len(keys) < len(value):
            made["more"] = len(value) - len(keys)
    elif isinstance(value, list):
        kept = value[: max(room // _ENTRY, 1)]
        made = _shared(kept, room - 2 * len(kept) - _MORE)
        if len(kept) < len(value):
            made.append(f"and {len(value) - len(kept)} more")
    if _size(made) <= room:
        return made
    return _cut_to(made if isinstance(made, str) else dumps(made), room)


def _shared(values: Sequence[Any], room: int) -> list[Any]:
    """Several values in so many bytes: the small ones complete, the large ones cut to the same size."""
    made = list(values)
    by_size = sorted(range(len(values)), key=lambda place: _size(values[place]))
    for left, place in zip(range(len(values), 0, -1), by_size, strict=True):
        made[place] = bounded(values[place], room // left)
        room -= _size(made[place])
    return made


def _cut_to(text: str, room: int) -> str:
    """The beginning of a text in so many bytes of JSON, where a character takes up to twelve."""
    kept = text[: max(room - _MARK, 0)]
    while kept and _size(kept) > room - _MARK:
        kept = kept[: min(len(kept) - 1, len(kept) * (room - _MARK) // _size(kept))]
    return f"{kept.rstrip()}…"


def _size(value: Any) -> int:
    return len(dumps(value))


def blanked(text: str) -> str:
    """The text without what looks like a key, or is given as something secret: `TOKEN=...`, `--password ...`."""
    plain = text.casefold()
    is_hinted = any(hint in plain for hint in _HINTS)
    is_hinted = is_hinted or any(hint in text for hint in _EXACT_HINTS)
    has_address = "://" in text and "@" in text
    if not is_hinted and not has_address:
        return text
    from .redact_patterns import blanked

    return blanked(text)


def _named_elsewhere(value: Mapping[Any, Any]) -> dict[Any, str]:
    """The keys of values that another entry gives the name of a secret, with that name."""
    plain = {key: key.casefold() for key in value if isinstance(key, str)}
    names = [value[key] for key, word in plain.items() if word in _NAMING and isinstance(value[key], str)]
    name = next((name for name in names if _is_secret(name)), "")
    if name:
        return {key: name for key, word in plain.items() if word in _NAMED}
    return {}


def _blanked_words(words: Sequence[Any]) -> Sequence[Any]:
    """The words of a command without secrets that only their neighbors tell: `["--password", "hunter2"]`."""
    is_plain = all(isinstance(word, str) and len(word) < _READ and _JOINT not in word for word in words)
    if not words or not is_plain:
        return words
    parted = blanked(_JOINT.join(words)).split(_JOINT)
    if len(parted) == len(words):
        return parted
    return words


def _is_secret(name: str) -> bool:
    plain = name[:_MOST].casefold()
    if not any(part in plain for part in NAMES):
        return False
    from .redact_patterns import is_secret_name

    return plain in ("cookie", "set-cookie") or is_secret_name(name[:_MOST])


def _is_count(name: str, value: Any) -> bool:
    """Whether it is a number of tokens, not one of them."""
    return name.casefold().endswith("tokens") and isinstance(value, int | float)
