"""Find secrets in texts and blank them. Loaded only when a text may hold one. The patterns are kept as text and
compiled when they are needed (`re` remembers them): compiling all of them takes longer than most hooks run.

Every repetition in a pattern is bounded, so the time grows with the length of a text and no faster.
"""

from __future__ import annotations

import re
from itertools import pairwise

from .redact import NAMES, SURE, UNSURE

BLANK = "[redacted]"

# --- names -----------------------------------------------------------------------------------------------------------

_STEMS = (  # a name that ends with one of these is the name of a secret, whatever comes before it
    *("password", "passwd", "passphrase", "passcode", "passwort", "secret", "token", "credential", "authorization"),
    *("apikey", "secretkey", "privatekey", "accesskey", "accountkey", "clientkey", "authkey", "signingkey"),
    *("encryptionkey", "masterkey", "sharedkey", "storagekey", "deploykey", "amzsignature", "accesssignature"),
    *("storepass", "keypass", "userpass", "dbpass", "passin", "passout"),
)
_NO_PASS = ("bypass", "compass", "encompass", "trespass", "surpass", "overpass", "underpass", "getcwd")
_DENIED = ("no", "without", "is", "has", "use", "show", "forgot", "reset")  # the first word of a switch's name
_PLACED = ("prod", "dev", "test", "staging", "new", "old", "value", "data")
_SHORT = ("pass", "pwd", "psk", "pw")  # the same, where they are a word of their own
_ABOUT_WORDS = (  # the last word of a name that only tells something about a secret
    "arn age algorithm at attempts attribute budget callback chars class column cost count counter counts created date"
    " delay dialog dir directory duration enabled endpoint engine env error errors exists expired expires expiration"
    " expiry field file filename form format function handler hash header help hint id ids in index input kind label"
    " layer len length level limit link list manager max message method min mode model name names namespace number"
    " offset option page parser path pattern per placeholder policy position prefix prompt provider ratio regex"
    " required requirements reset rotation rule rules schema scope server service set size source state status stdin"
    " store strategy strength suffix table template text timeout title tooltip ttl type types uri url usage used"
    " validator verifier version via lifetime"
)
_ABOUT = frozenset(_ABOUT_WORDS.split())
_PART = r"[A-Z]{1,80}(?![a-z])|[A-Z]?[a-z]{1,80}|\d{1,80}"

# --- places ----------------------------------------------------------------------------------------------------------

_QUOTE = r"(?P<quote>\\?\"|'|)"
_URL = r"(://[^\s/:@\"']{0,100}:)[^\s/\"']{1,200}(?=@)"  # https://me:password@host
_LOOSE_URL = (  # the same with blanks, as nobody should write it: postgresql://me:pass word@host
    r"(\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver)(?:\+\w{1,20})?://[^\s/:@\"']{1,100}:)"
    r"(?!\d{1,5}[\s/])[^\s/\"'@]{0,100}(?: [^\s/\"'@]{1,60}){1,5}(?=@[\w.\[-])"
)
_USER_URL = r"(https?://)([\w.-]{16,200})(?=@[\w.\[-])"  # https://TOKEN@host
_NAMED = (  # NAME=..., "name": ..., name => ...; whether the name is one of a secret is judged afterwards
    r"(?<![\w-])(?P<option>-{0,2})(?P<name>[A-Za-z_][\w-]{0,79})(?:\\?[\"'])?\]?(?:[ \t]string)?"
    r"(?P<sign>[ \t]{0,9}(?:=>|:=|!={1,2}|={1,3}|::?)(?:[ \t]{0,9}|\s{0,9}(?=\\?[\"'])))" + _QUOTE
)
_OPTION = (  # --name VALUE
    r"(?<![\w-])(?P<option>--?)(?P<name>[A-Za-z][\w-]{1,79})(?P<sign>)\s{1,9}(?!-)" + _QUOTE
)
_NAME = r"(?P<option>)(?P<name>[A-Za-z_][\w.-]{0,79})"
_MAY_QUOTE = r"(?:\\?[\"'])?"
_TOOLS = (  # what comes before a secret on a command line, and words without one of which it does not
    (  # curl -u me:password; but docker run -u 1000:1000, and rsync -u host:/path
        ("-u", "user", "u ", "u\t", "u\n", "u\x1f"),
        r"(?i)(?<![\w-])(?:-u\s{0,9}|-[a-z]{1,9}u\s{1,9}|--(?:proxy-)?user(?:=|\s{1,9}))"
        r"(?![\"']?\d{1,9}:\d{1,9}[\"']?(?:[\s;&|)]|$))"
        r"(?:(?P<quote>[\"'])[^:\"'\n]{1,100}|[^\s:\"']{1,100}|\"[^:\"\n]{1,100}\"|'[^:'\n]{1,100}'):(?!/)",
    ),
    (  # mysql -ppassword; but mysql -p DATABASE asks for it
        ("mysql", "mariadb", "sshpass", "7z"),
        r"(?:\b(?:mysql|mariadb)[a-z_-]{0,20}\b[^;&|\n]{0,200}?\s-p|\bsshpass\s{1,9}-p\s{0,9}"
        r"|\b7z[ar]?\s[^;&|\n]{0,200}?(?<=\s)-p)(?!\s)(?P<quote>)",
    ),
    (  # -p VALUE
        (
            *(" login", "\tlogin", "\nlogin", "\x1flogin"),
            *("mongo", "cqlsh", "cypher-shell", "rabbitmqadmin", "rdesktop", "twine"),
        ),
        r"\b(?:(?:docker|podman|nerdctl|buildah|skopeo|oras|az|acr|cf|oc|argocd|registry)\s{1,9}login|cqlsh|cypher-shell"
        r"|mongo(?:sh|dump|restore|export|import|stat)?|rabbitmqadmin|rdesktop|twine)"
        r"\s[^;&|\n]{0,200}?(?<=\s)-p(?:\s{1,9}|=|(?=[\"'\w]))(?!-)" + _QUOTE,
    ),
    (  # other letters
        ("zip", "sqlcmd", "bcp", "mosquitto", "ipmitool", "redis-cli", "ldap", "keygen", "plink", "pscp", "psftp"),
        r"(?:\b(?:zip|unzip|sqlcmd|bcp|mosquitto_(?:pub|sub)|ipmitool)\s[^;&|\n]{0,200}?(?<=\s)-P\s{0,9}"
        r"|\bredis-cli\s[^;&|\n]{0,200}?(?<=\s)-a\s{1,9}|\bldap[a-z]{3,9}\s[^;&|\n]{0,200}?(?<=\s)-w\s{0,9}"
        r"|\bssh-keygen\s[^;&|\n]{0,200}?(?<=\s)-P\s{1,9}"
        r"|\b(?:plink|pscp|psftp)\s[^;&|\n]{0,200}?(?<=\s)-pw\s{1,9})(?!-)" + _QUOTE,
    ),
    (
        ("openssl", "secret", "keygen"),
        r"(?:\bssh-keygen\s[^;&|\n]{0,200}?(?<=\s)-N\s{1,9}|\bopenssl\s[^;&|\n]{0,200}?(?<=\s)-(?:k|K)\s{1,9}"
        r"|\bsecret\s{1,9}set\s[^;&|\n]{0,200}?(?<=\s)(?:-b|--body)(?:\s{1,9}|=|(?=[\"'])))(?!-)" + _QUOTE,
    ),
    (  # in one word with the name of a user: smbclient -U me%password, http -a me:password
        ("smb", "rpcclient", "http -", "https -", "http\x1f-", "https\x1f-", "lftp", "curl"),
        r"(?:\b(?:smbclient|smbget|rpcclient)\s[^;&|\n]{0,200}?(?<=\s)-U\s{0,9}[\"']?[^\s%\"']{1,60}%"
        r"|\bhttps?\s[^;&|\n]{0,200}?(?<=\s)(?:-a|--auth)(?:\s{1,9}|=)[\"']?[^\s:\"']{1,60}:"
        r"|\blftp\s[^;&|\n]{0,200}?(?<=\s)-u\s{1,9}[\"']?[^\s,\"']{1,60},"
        r"|\bcurl\s[^;&|\n]{0,200}?(?<=\s)(?:-E|--cert)\s{1,9}[\"']?[^\s:\"']{1,100}:)(?P<quote>)",
    ),
    (  # htpasswd -b FILE USER VALUE, htpasswd -nb USER VALUE
        ("htpasswd",),
        r"\bhtpasswd\s{1,9}(?:-[a-zA-Z]{1,9}\s{1,9}){0,3}(?:-n[a-zA-Z]{0,9}\s{1,9}|-[a-zA-Z]{0,9}n[a-zA-Z]{0,9}\s{1,9}"
        r"|[^\s-]\S{0,100}\s{1,9})[^\s-]\S{0,100}\s{1,9}(?P<quote>)(?=\S{1,200}\s*(?:$|[;&|\n]))",
    ),
    (  # commands whose argument is a secret
        (" login", "\tlogin", "\nlogin", "\x1flogin", "snyk", "ngrok", "doctl", "token", "stdin"),
        r"(?:\b(?:(?:vault|cargo|wandb)\s{1,9}login|snyk\s{1,9}auth|ngrok\s{1,9}(?:config\s{1,9}add-)?authtoken"
        r"|doctl\s{1,9}auth\s{1,9}init\s{1,9}-t)\s{1,9}"
        r"|--(?:with-token|password-stdin)\s{1,9}<<<\s{0,9})(?!-)" + _QUOTE,
    ),
    (
        ("secret", "from-literal", "http-basic", "pypi-token"),
        r"(?:\bsecrets?\s{1,9}(?:set|put|create)\s{1,9}[A-Z_]\w{0,60}=|--from-literal[=\s]\s{0,9}[\"']?[\w.-]{1,60}="
        r"|\bconfig\s{1,9}(?:-\S{1,20}\s{1,9}){0,2}http-basic\.\S{1,60}\s{1,9}\S{1,60}\s{1,9}"
        r"|\bconfig\s{1,9}pypi-token\.\S{1,60}\s{1,9})(?!-)" + _QUOTE,
    ),
    (  # aws configure set aws_secret_access_key VALUE, npm config set //host/:_authToken VALUE
        ("config ", "configure ", "config\x1f", "configure\x1f", "config\t", "configure\t", "config\n", "configure\n"),
        r"\bconfig(?:ure)?\s{1,9}(?:set\s{1,9}|--\S{1,20}\s{1,9}|add\s{1,9}){0,3}(?P<option>)(?:[\w/:.-]{0,80}[:.])?"
        r"(?P<name>[A-Za-z_][\w-]{1,79})(?P<sign>)\s{1,9}(?!-)" + _QUOTE,
    ),
    (  # machine HOST login ME password VALUE
        ("password",),
        r"(?:\bmachine\s{1,9}\S{1,200}|\bdefault)\s{1,9}(?:(?:login|account)\s{1,9}\S{1,200}\s{1,9}){0,2}password\s{1,9}"
        + _QUOTE,
    ),
    (  # the same, a line of it
        ("password",),
        r"(?m)^[ \t]{0,20}password[ \t]{1,9}(?=\S{6,200}$)(?=\S{0,99}[\d!#$%&*?])(?!-)" + _QUOTE,
    ),
    (  # CREATE USER me IDENTIFIED BY 'password', ALTER ROLE me PASSWORD 'password'
        ("identified", "password"),
        r"(?i)\b(?:identified\s{1,9}(?:with\s{1,9}[\w\"']{1,40}\s{1,9})?by|password)\s{1,9}(?P<quote>[\"'])",
    ),
    (("bearer",), r"(?i)\bbearer\s{1,9}(?P<option>)(?P<name>)(?P<sign>)" + _QUOTE),
    (  # a line of .pgpass
        (":5432:", ":5433:", ":6432:", ":*:"),
        r"(?m)^[\w.*-]{1,100}:(?:5432|5433|6432|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:(?P<quote>)",
    ),
    (
        ("chpasswd",),
        r"\becho\s{1,9}(?:-\w{1,3}\s{1,9})?[\"']?[\w.-]{1,60}:"
        r"(?=[^\n|]{1,200}\|[^\n|]{0,60}chpasswd)(?P<quote>)",
    ),
    (
        ("stdin", "with-token", "sudo"),
        r"\b(?:echo|printf)\s{1,9}(?:-\w{1,3}\s{1,9})?"
        r"(?=[^\n|]{1,200}\|[^\n|]{0,100}(?:--(?:password-stdin|with-token)|\bsudo\s[^\n|]{0,60}?-\w{0,9}S\b))"
        + _QUOTE,
    ),
    (  # sudo -S COMMAND <<< VALUE
        ("<<<",),
        r"\b(?:sudo\s[^;&|\n<]{0,100}?-\w{0,5}S\b|gpg\s[^;&|\n<]{0,100}?--passphrase-fd\b|cryptsetup\b|passwd\b)"
        r"[^;&|\n<]{0,200}<<<\s{0,9}" + _QUOTE,
    ),
    (  # {"name": NAME, "value": VALUE}; in YAML and XML, too
        ("value",),
        r"(?i)(?<![\w-])(?:--)?(?:(?:parameter)?(?:name|key)|variable)" + _MAY_QUOTE + r"\s{0,9}[:=\s]\s{0,9}"
        + _MAY_QUOTE + _NAME + _MAY_QUOTE + r"\s{0,20},?\s{0,20}(?:--)?" + _MAY_QUOTE + r"(?:parameter)?value"
        + _MAY_QUOTE + r"\s{0,9}(?P<sign>[:=]|(?<=\s))\s{0,9}" + _QUOTE,
    ),
    (  # {"value": VALUE, "name": NAME}
        ("value",),
        r"(?i)[\"']value\\?[\"']\s{0,9}(?P<sign>:)\s{0,9}(?P<quote>\\?\"|')"
        r"(?=[^\"'\n]{1,200}[\"']\s{0,20},\s{0,20}\\?[\"'](?:name|key)\\?[\"']\s{0,9}:\s{0,9}\\?[\"']"
        + _NAME + r"\\?[\"'])",
    ),
    (  # set -x NAME VALUE, setenv NAME VALUE, setx NAME VALUE
        ("set ", "set\t", "set\x1f", "setenv", "setx"),
        r"(?i)(?<![\w.-])(?:set(?:\s{1,9}--?[a-z]{1,20}){1,4}|setenv|setx(?:\s{1,9}/\w{1,9}){0,2})\s{1,9}" + _NAME
        + r"(?P<sign>)\s{1,9}(?!-)" + _QUOTE,
    ),
    (  # os.putenv("NAME", "VALUE")
        ("set", "put"),
        r"(?i)(?<![a-z0-9])(?:set(?:_?env(?:ironment_?variable)?|default|item|property|_?secret|_?var(?:iable)?)?"
        r"|put(?:_?env|_?secret)?)\(\s{0,9}[\"']" + _NAME + r"[\"']\s{0,9},(?P<sign>)\s{0,9}(?P<quote>[\"'])",
    ),
    (
        ("user-secrets",),
        r"\buser-secrets\s{1,9}set\s{1,9}[\"']?(?:[\w.-]{1,60}:){0,5}" + _NAME + r"[\"']?(?P<sign>)\s{1,9}(?!-)"
        + _QUOTE,
    ),
)  # fmt: skip
_HEADERS = ("authorization", "cookie", "setcookie")
_SCHEMES = ("basic", "bearer", "digest", "auth", "token")
_SCHEME = r"(?:[A-Za-z][A-Za-z-]{1,30}|AWS4-[\w-]{1,30})[ \t]{1,9}(?=[^\s\"'])"
_TYPED = r"[\w\]\[.| ]{0,40}?[ \t]{0,9}=[ \t]{0,9}" + _QUOTE  # the rest of `password: str = "..."`

# --- values ----------------------------------------------------------------------------------------------------------

_NOTHING = frozenset(["", "none", "null", "nil", "true", "false", "undefined", "yes", "no", "on", "off", "0", "1"])
_PROSE_WORDS = (  # what follows `password:` or `--token` in prose and in code, and is not a secret
    "a above accepted all also always an and any are array as assert at authentication authorization async await back"
    " before begin below between blob bool boolean but by byte bytes call can cannot changed char char[] check const"
    " contains could create created credential credentials date def denied description did do does done each either"
    " else email empty end enter env environment error every exception expected expired failed field file final for"
    " found from func function generate generated get given granted has have header help here hidden how id if ignored"
    " import in include incorrect inherit inline input int integer invalid is it its keyword label last leave length"
    " let list longer lost manager many match max may method min minimum missing mode model more must my name names"
    " need needed needs never new next not number object of ok omit once one only optional or other our output param"
    " parameter parse passed path please policy prompt provided read readonly received redacted refresh rejected"
    " removed required reset return returned returns rotated same same-origin same-site saved script secretstr see"
    " self sent set should show size so some source state static store stored str string string[] strings struct super"
    " table team text that the their then there these they this to too two type types typeof unexpected unique unknown"
    " unless unset until update updated use used uses using valid validate value values varchar var verified verify"
    " via void was we were what when where whether which while who will with without works wrong yield you your bearer"
    " basic digest auth token"
)
_PROSE = frozenset(_PROSE_WORDS.split())
_ASKING = frozenset(["enter", "please", "password", "passwords", "invalid", "wrong", "must", "incorrect", "choose"])
_LOOKED_AT = 200  # characters of a value that tell whether it is a secret
_FIRST = r"[^\s&|]{0,120}"
_ENCODED = r"[A-Za-z0-9+/_-](?=[\w+/%=-]{0,60}[A-Z0-9])[\w+/%-]{11,400}={0,2}(?![\w.])"  # bWU6aHVudGVyMg==
_COMPARED = ("==", "===", "!=", "!==", "=>", "::", ":=")
_TRAILING = ",;.:!?)]}>\"'`"
_REFERENCE = (
    r"(?i)\$\{[^}\n]{1,200}\}?$|\$\(|\$\{\{|\$env:|\$[A-Za-z_]\w{0,80}(?:[\[.(-]|$)|\$\d$|\{\{|`|%[A-Za-z_]\w{0,80}%"
    r"|\*{2,}$|\.{2,}$|x{3,}$|_{3,}$|@/|<[\w .:-]{1,80}>?$|\[[\w .:-]{1,80}\]?$|\{[\w.:-]{0,80}\}?$|your[-_ ]"
    r"|[-=(\[{|<>&+/?]+$|[\[{][\]}\"'{\[]|!Ref|!Sub|#|//|(?:env|file|stdin|fd):"
)
_CODE = (
    r"&?\*?!?[A-Za-z_][\w:]{0,80}(?:(?:\??\.|->|::)[A-Za-z_]\w{0,80}){0,9}(?:\(|<\w)"  # a call
    r"|(?:self|this|cls|os|sys|process|env|args|opts?|options|config|cfg|conf|settings|req(?:uest)?|res(?:ponse)?|ctx"
    r"|context|user|data|params|props|state|parser|secrets|var|local|module|body|form|event|session|headers?|row|item"
    r"|result|client|import|input|values|steps|github|vars|inputs|lexer|tokens?)(?:\.[A-Za-z_]|\?\.|\[|->)"
    r"|[A-Za-z_]\w{0,80}\[[\"'\w]|(?:Optional|List|Dict|Union|Sequence|Secret|Literal|Annotated|Array|Option|Vec)[\[<(]"
    r"|lambda\b|id=|type="
)
_IDENTIFIER = r"&?[A-Za-z_$][\w$.]{0,80}\Z"
_QUOTED = {  # what may follow an opening quote, before the same one
    '"': r"(?s)(?:[^\"\\]|\\.)*",
    '\\"': r"(?:[^\"\\]|\\[^\"])*",
    "'": r"[^']*",
}
_DOUBLE, _SINGLE = r"\"(?:[^\"\\\n]|\\.){0,500}\"", r"'[^'\n]{0,500}'"
_WORD = {  # pieces with and without quotes, by the quote that is open around all of it
    "": rf"(?:{_DOUBLE}|{_SINGLE}|\\.|[^\s\"'&;|\\])*",
    '"': rf"(?:{_SINGLE}|[^\s\"'&;|\\]|\\[^\"])*",
    "'": rf"(?:{_DOUBLE}|[^\s\"'&;|])*",
}
_LINE = {  # up to the end of a header, by the quote that is open around it
    "": r"[^\n]*?(?=[\"']?(?:\r?\n|\\n|$))",
    '"': r"(?:[^\"\\\n]|\\[^n\"])*",
    "'": r"[^'\n]*",
}
_MARK = r"(?s)\\.|(?<=\w)'(?=\w)|([\"'])"  # a quote, but not the one in "don't"
_GOES_ON = r"[^\s&;|,:)\]}>]"  # the same word behind a closing quote: 'one'"two", not {"a":"b","c":1}

# --- keys ------------------------------------------------------------------------------------------------------------

_RUN = r"[A-Za-z0-9_][\w.-]{13,}"
_EXACT = (
    r"(?:A[KSBC][IC]A[A-Z0-9]{12,}|AIza[\w-]{12,}|eyJ[\w-]{8,}\.[\w.-]{2,}|[0-9a-f]{32}-us\d{1,2}"
    r"|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{20,}|SK[0-9a-f]{32})\Z"
)
_OTHER = (
    ("hooks.slack", r"(?<=hooks\.slack\.com/services/)[\w/]{20,100}"),
    ("webhooks", r"(?<=/api/webhooks/)\d{5,30}/[\w-]{20,100}"),
    (":aa", r"(?<![\w:])\d{8,10}:AA[\w-]{30,40}(?![\w-])"),  # a bot's
    ("1//0", r"(?<![\w/])1//0[\w-]{25,100}"),
    ("$", r"\$(?:1|2[abxy]|5|6|7|y|apr1|argon2id?)\$[\w./$,=+-]{12,200}"),  # as crypt writes them
)
_BASIC = r"(?i)\bbasic[ \t]{1,9}([A-Za-z0-9+/]{8,400}={0,2})(?![\w+/=])"
_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PUTTY = (  # Private-Lines: 2, and so many lines of base64
    r"(?i)(private-lines:[ \t]{0,9}\d{1,4}(?:\s|\\[rn]){1,6})[a-z0-9+/=]{16,100}(?![\w:-])"
    r"(?:(?:\s|\\[rn]){1,6}[a-z0-9+/=]{1,100}(?![\w:-])){0,400}"
)
_BODY = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\ \t\r\n"


def blanked(text: str) -> str:
    """Return the text without keys and without what is given as a secret: `TOKEN=...`, `--password ...`."""
    plain = text.casefold()
    if "private key" in plain:
        text = _without_blocks(text)
    if "private-lines" in plain:
        text = re.sub(_PUTTY, rf"\g<1>{BLANK}", text)
    if "@" in text:
        text = re.sub(_USER_URL, lambda found: found[1] + (BLANK if _is_drawn(found[2]) else found[2]), text)
        text = re.sub(_URL, rf"\g<1>{BLANK}", text)
        text = re.sub(_LOOSE_URL, rf"\g<1>{BLANK}", text)
    if any(part in plain for part in NAMES):
        text = _without(_OPTION, _without(_NAMED, text))
    for hints, place in _TOOLS:
        if any(hint in plain for hint in hints):
            text = _without(place, text)
    if "basic" in plain:
        text = re.sub(_BASIC, _without_pair, text)
    for hint, pattern in _OTHER:
        if hint in plain:
            text = re.sub(pattern, BLANK, text)
    return re.sub(_RUN, lambda run: _without_key(run[0]), text)


def is_secret_name(name: str) -> bool:
    """Return whether something with this name is a secret: `db_password`, `apiKey`, but not `token_count`."""
    words = _words(name)
    last = max((at for at in range(len(words)) if _ends_a_name(words, at)), default=-1)
    if last < 0 or words[0] in _DENIED:
        return False
    rest = words[last + 1 :]
    if not rest or words[last:] == ["secret", "id"]:
        return True
    return rest[-1] not in _ABOUT and (not _is_short(words[last]) or rest[-1] in _PLACED)


# --- inside: names ---------------------------------------------------------------------------------------------------


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.compile(_PART).findall(name)]


def _ends_a_name(words: list[str], at: int) -> bool:
    """Whether the name of a secret ends with this word."""
    joined = "".join(words[: at + 1])
    return joined.removesuffix("s").endswith(_STEMS) or joined.endswith(_STEMS) or _is_short(words[at])


def _is_short(word: str) -> bool:
    return word in _SHORT or (word.endswith(("pass", "pwd")) and word not in _NO_PASS)


def _is_held(name: str, head: str) -> bool:
    """Whether a name that says little comes before something that looks like a secret."""
    words = _words(name)
    return words[-1:] in (["auth"], ["sig"]) and re.compile(_ENCODED).match(head) is not None


# --- inside: values --------------------------------------------------------------------------------------------------


def _without(place: str, text: str) -> str:
    """The text without the words in such a place."""
    pattern = re.compile(place)
    kept: list[str] = []
    done = read = at = 0
    around = ""
    while found := pattern.search(text, at):
        quote = found["quote"] or ""
        opened = found.start("quote") if quote else found.end()
        around = _around(text[read:opened], around)
        read = at = max(opened, found.start() + 1)
        place_of_it = _secret_at(found, text, quote, around)
        if place_of_it is None:
            continue
        start, end, quote = place_of_it
        kept += [text[done:start], BLANK]
        if quote and text.startswith(quote, end):
            kept.append(quote)
            end = _end_of_word(text, end + len(quote), around)
        done = read = at = end
    return "".join([*kept, text[done:]])


def _secret_at(found: re.Match[str], text: str, quote: str, around: str) -> tuple[int, int, str] | None:
    """Where the secret of a place begins and ends, and the quote around it; None if there is none."""
    start = found.end()
    named = found.groupdict()
    name = named.get("name")
    if name is None:
        if _is_reference(text, start, quote):
            return None
        return _spanned(text, start, quote, around)
    joined = "".join(_words(name))
    if joined.endswith(_HEADERS) and named["sign"].strip() in (":", "=", "=>", ""):
        return _header_at(text, start, quote, around, joined)
    head = text[start : start + _LOOKED_AT]
    if name and not is_secret_name(name) and not _is_held(name, head):
        return None
    if not name and not _is_bearer(head):
        return None
    if not _is_kept(named, text, start, quote):
        return _spanned(text, start, quote, around)
    typed = None
    if not quote and _first(head, "").casefold() in _PROSE:
        typed = re.compile(_TYPED).match(text, start)
    if typed is None or _is_kept(named, text, typed.end(), typed["quote"]):
        return None
    return _spanned(text, typed.end(), typed["quote"], around)


def _spanned(text: str, start: int, quote: str, around: str) -> tuple[int, int, str] | None:
    end = _end(text, start, quote, around)
    if end > start:
        return (start, end, quote)
    return None


def _header_at(text: str, start: int, quote: str, around: str, name: str) -> tuple[int, int, str] | None:
    """The same for a header, whose value has several words: `Authorization: Digest username="me", response="..."`."""
    head = text[start : start + _LOOKED_AT]
    if name.endswith("cookie") and "=" not in _first(head, quote):
        return None
    scheme = re.compile(_SCHEME).match(text, start)
    word = _first(head, quote).casefold().rstrip(_TRAILING)
    if word in _NOTHING or (word in _PROSE and (scheme is None or word not in _SCHEMES)):
        return None
    if scheme:
        start = scheme.end()
    if _is_reference(text, start, quote or around) or re.compile(_CODE).match(text, start):
        return None
    if not quote and not around:
        has_fields = scheme is not None and "=" in _first(text[start : start + _LOOKED_AT], "")
        has_fields = has_fields or name.endswith("cookie")
        if has_fields:
            end = _matched(_LINE[""], text, start)
        else:
            end = _end(text, start, "", "")
    else:
        end = _matched(_LINE[(quote or around)[-1]], text, start)
    if end > start:
        return (start, end, quote)
    return None


def _is_kept(named: dict[str, str | None], text: str, start: int, quote: str) -> bool:
    """Whether a value is not a secret although its name says so: a type, a reference, a word of prose."""
    name, sign = named["name"] or "", named["sign"] or ""
    head = text[start : start + _LOOKED_AT]
    first = _first(head, quote)
    plain = first.casefold().rstrip(_TRAILING)
    if plain in _NOTHING or _is_reference(text, start, quote) or _is_number(name, first):
        return True
    if quote:
        return (plain in _PROSE and sign.strip() != "=") or _is_asking(first)
    if re.compile(_CODE).match(head) or _is_own_name(name, plain, first) or _is_path(name, first):
        return True
    if sign.strip() in _COMPARED and not name.isupper() and re.compile(_IDENTIFIER).match(first.rstrip(_TRAILING)):
        return True
    if name == "PASS" and sign.startswith(":"):  # as test programs report
        return True
    is_metavar = sign == "" and first.isupper() and first.isalpha()
    return is_metavar or (sign != "=" and plain in _PROSE)


def _first(head: str, quote: str) -> str:
    """The beginning of a value: its first word, or all that is in quotes."""
    if quote:
        return head.split(quote, 1)[0]
    return re.compile(_FIRST).match(head)[0]  # type: ignore[index]


def _is_reference(text: str, start: int, quote: str) -> bool:
    """Whether a value is only named here: `$PASSWORD`, `<password>`, `***`."""
    head = text[start : start + _LOOKED_AT]
    if quote == "'" and head.startswith("$") and not head.startswith("${"):
        return False  # a shell takes it as it is
    if not quote and head[:1] in ("'", '"'):
        return _is_reference(text, start + 1, head[0])
    first = _first(head, quote).rstrip(",;")
    return re.compile(_REFERENCE).match(first.rstrip("\"'")) is not None


def _is_number(name: str, first: str) -> bool:
    words = _words(name)
    digits = first.rstrip(_TRAILING)
    if words[-1:] == ["tokens"] or "tokens" in words:
        return digits[:1].isdigit() and len(digits) <= 12
    return digits[:3].isdigit() and len(digits) <= 3 and words[-1:] in (["pass"], ["token"]) and not name.isupper()


def _is_asking(first: str) -> bool:
    """Whether it is what a form or a message says: "Enter your password"."""
    words = first.casefold().split()
    return len(words) > 2 and words[0] in _ASKING


def _is_own_name(name: str, plain: str, first: str) -> bool:
    """Whether a value is a variable that is named like it: `password=new_password`."""
    given = _words(first.rstrip(_TRAILING))
    if name.isupper() or not given or not re.compile(_IDENTIFIER).match(first.rstrip(_TRAILING)):
        return False
    return "".join(given) == "".join(_words(name)) or (len(given) > 1 and given[-1] in _words(name))


def _is_path(name: str, first: str) -> bool:
    """Whether it is the directory of a shell: PWD=/home/me."""
    return name.casefold() in ("pwd", "oldpwd") and (first[:1] in "/~." or first[1:2] == ":")


def _is_bearer(head: str) -> bool:
    first = _first(head, "").rstrip(_TRAILING)
    return len(first) >= 20 or any(char.isdigit() for char in first)


# --- inside: quotes --------------------------------------------------------------------------------------------------


def _around(text: str, quote: str) -> str:
    """The quote that is open at the end of a text."""
    for mark in re.compile(_MARK).findall(text):
        if mark == quote:
            quote = ""
        elif not quote:
            quote = mark
    return quote


def _end(text: str, start: int, quote: str, around: str) -> int:
    """Where a secret ends: at the quote that was opened before it, or with its word."""
    if not quote and text[start : start + 1] in ("'", '"') and text[start] != around:
        end = _matched(_QUOTED[text[start]], text, start + 1)
        return _end_of_word(text, min(end + 1, len(text)), around)
    if not quote:
        return _matched(_WORD[around], text, start)
    end = _matched(_QUOTED[quote], text, start)
    is_closing = quote == around and end == len(text)  # -d "password=" URL: it was opened before
    if is_closing:
        return _matched(_WORD[""], text, start)
    return end


def _end_of_word(text: str, start: int, around: str) -> int:
    """Where a word ends of which a piece in quotes was read."""
    if re.compile(_GOES_ON).match(text, start):
        return _matched(_WORD[around], text, start)
    return start


def _matched(pattern: str, text: str, start: int) -> int:
    found = re.compile(pattern).match(text, start)
    if found:
        return found.end()
    return start


# --- inside: keys ----------------------------------------------------------------------------------------------------


def _without_blocks(text: str) -> str:
    """The text without private keys in PEM, whole or what is there of them."""
    kept: list[str] = []
    done = 0
    while begin := re.compile(_BEGIN).search(text, done):
        end = re.compile(_END).search(text, begin.end())
        kept += [text[done : begin.start()], BLANK]
        done = end.end() if end else len(text)
    tail = text[done:]
    if end := re.compile(_END).search(tail):  # its beginning was cut off
        before = tail[: end.start()].rstrip(_BODY)
        kept += [before, BLANK]
        tail = tail[end.end() :]
    return "".join([*kept, tail])


def _without_pair(found: re.Match[str]) -> str:
    """`Basic` credentials without them; prose such as `basic authentication` as it is."""
    from binascii import Error, a2b_base64

    try:
        is_pair = b":" in a2b_base64(found[1] + "=" * (-len(found[1]) % 4))
    except Error:
        is_pair = False
    if is_pair:
        return found[0][: found.start(1) - found.start()] + BLANK
    return found[0]


def _without_key(run: str) -> str:
    """A word, or nothing of it if it is the key of some provider."""
    word = run.rstrip(".-")
    prefix = next((one for one in SURE if word.startswith(one)), "")
    if prefix and _is_long(word[len(prefix) :]):
        return BLANK + run[len(word) :]
    prefix = next((one for one in UNSURE if word.startswith(one)), "")
    if prefix and _is_random(word[len(prefix) :]):
        return BLANK + run[len(word) :]
    if re.compile(_EXACT).match(word):
        return BLANK + run[len(word) :]
    return run


def _is_long(word: str) -> bool:
    return len(word) >= 20 or (len(word) >= 12 and any(char.isdigit() for char in word))


def _is_random(word: str) -> bool:
    """Whether a word looks drawn by lot: long, with digits among letters, and not made of words with dashes."""
    pieces = word.replace("-", "_").split("_")
    longest = max(pieces, key=len)
    return len(longest) >= 30 or (len(word) >= 16 and len(longest) >= 10 and _is_mixed(longest))


def _is_drawn(word: str) -> bool:
    """Whether a word in the place of a user's name is a token: letters and digits take turns in it."""
    switches = sum(one.isdigit() != other.isdigit() for one, other in pairwise(word))
    has_both = word != word.lower() and word != word.upper()
    return switches >= 4 or (switches > 0 and has_both and len(word) >= 20 and "." not in word)


def _is_mixed(word: str) -> bool:
    digits = sum(char.isdigit() for char in word)
    has_both = word != word.lower() and word != word.upper()
    return 0 < digits < len(word) or (has_both and len(word) >= 20)
