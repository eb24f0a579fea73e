"""Whether a message of an agent ends by asking the user something, or by waiting for an answer.

It is guessed from the words, and where that is doubtful the guess is yes: an agent that stops too early costs a word,
one that is nudged over a question costs trust."""

from __future__ import annotations

LONG = 20_000  # characters of a message that are looked at, at its end and at its beginning
_TAIL = 12  # lines at the end of a message in which a question counts
_NEAR = 200  # characters at the end of a line in which a question may be followed by its options
_MARKS = "?？؟՞፧⸮﹖\u037e"  # question marks
_AFTER_MARK = " \t*_\"'”’»)]}>~|!"  # what may follow a `?` that is not part of a word or of code
_ENDS = str.maketrans(dict.fromkeys('.,;:!?…()"—–\n', "|"))  # of clauses


def each(heads: str, tails: str) -> tuple[str, ...]:
    """Every head with every tail; with `|` between them."""
    return tuple([f"{head} {tail}" for head in heads.split("|") for tail in tails.split("|")])


_YOURS = (
    "approval|confirmation|decision|input|answer|reply|response|go ahead|permission|consent|feedback|review|sign off"
    "|guidance|instructions|preference|opinion|thoughts"
)
_WANTED = "approval|permission|confirmation|clarification|guidance|a decision|instructions|further instructions"
_ANSWERING = "confirm|approve|agree|decide|reply|answer|respond|say|tell me|let me know|review|choose|are|give|have"
_NOT_ON = "|".join(each("continue|proceed|go on|go further|start|begin|finish", "without|until|unless"))
_ANYWHERE = (
    *each("your", _YOURS),
    *each("awaiting|waiting for|waiting on|requesting|i need|we need", _WANTED),
    *each("need", "approval|permission|confirmation|clarification|a decision|you to|your"),
    *each("waiting for|waiting on|awaiting", "you|your"),
    *each("awaiting", "further|review|feedback|input"),
    *each("ready for", "your|approval|review|feedback"),
    *each("until you", _ANSWERING),
    *each("if you", "agree|approve|confirm|want me to|would like me to|are happy|are ok|are okay"),
    *each("if you'd", "like me to|prefer"),
    *each("if you're", "happy|ok|okay|ready"),
    *each("if that|if this", "works|sounds good|looks good|is ok|is okay|is fine"),
    *each("before i", "continue i need|proceed i need|go on i need|start i need|begin i need|go further i need"),
    *each("confirm and|approve and|agree and|say so and|say the word and", "i'll|i will|i can"),
    *each("to continue|to proceed|to go on", "i need the|i need a|i need an|i need more|i'll need the|i will need the"),
    *each("i cannot|i can't|i can not|we cannot|we can't|i'm unable to|i am unable to", _NOT_ON),
    *each("tell me", "which|whether|how|when|what|if|once|where"),
    *each("i'll|i will", "wait|pause here|pause until|hold here|hold off until"),
    *each("pausing|holding|waiting", "here"),
    *each("do you|would you", "want|like|prefer"),
    *each("shall|should", "i"),
    *each("when you're|when you are", "ready"),
    "let me know",
    "until i hear",
    "the go ahead",
    "i await",
    "up to you",
    "over to you",
    "pick one",
    "choose one",
    "reply with",
    "want me to",
    "y n",
    "once you",
)
# The same in other languages; whoever waits for an answer seldom puts a question mark.
_ELSEWHERE = (
    *("ich warte auf", "warte auf deine", "warte auf ihre", "sag mir", "sagen sie mir", "lass mich wissen"),
    *("gib mir bescheid", "bitte bestätige", "bitte bestätigen", "deine entscheidung", "deine freigabe", "soll ich"),
    *("espero tu", "espero su", "a la espera de", "dime", "dígame", "avísame", "por favor confirma", "quieres que"),
    *("j'attends", "dis moi", "dites moi", "fais moi savoir", "faites moi savoir", "merci de confirmer", "veux tu"),
    *("attendo", "in attesa di", "fammi sapere", "dimmi", "conferma per", "aguardo", "me avise", "diga me"),
    *("ik wacht op", "laat me weten", "laat het me weten", "czekam na", "daj mi znać", "daj znać", "proszę o"),
    *("жду", "дайте знать", "дай знать", "скажи мне", "скажите", "подтвердите", "подтверди", "чекаю на"),
    *("bekliyorum", "haber ver", "bana söyle", "jag väntar", "säg till", "meddela mig", "odotan", "čekám na"),
    *("menunggu", "beri tahu", "mohon konfirmasi", "đang chờ", "hãy cho tôi biết", "vui lòng", "xin cho biết"),
    *("أنتظر", "بانتظار", "أخبرني", "يرجى", "אני מחכה", "ממתין", "אנא", "תגיד לי"),
)
_UNSPACED = (
    *("请告诉", "告诉我", "请确认", "等待您", "等您", "等你", "请选择", "請告訴", "請確認", "等待確認"),
    *("教えてください", "確認してください", "お待ちして", "ご確認", "お知らせください", "でしょうか", "ますか"),
    *("알려 주세요", "알려주세요", "기다리겠습니다", "기다리고", "확인해 주세요", "할까요"),
    *("โปรดบอก", "กรุณา", "रहा हूँ", "कृपया"),
)
# What says it at the end of a clause only: "your call", not "your call of the function".
_AT_THE_END = (
    *each("your", "call|choice|move|turn|decision"),
    *each("if you", "like|want|wish|prefer|agree|approve"),
    *each("waiting for|waiting on", "input|a reply|an answer|a response|review|feedback"),
    "if you'd like",
    "standing by",
    "any preference",
)
# What says it at the beginning of a clause only: "can you share the log", not "only then can you share it".
_AT_THE_START = (
    *each("can|could|would|will", "you"),
    *each("confirm and|approve and|agree and|say so and|say go and|say yes and", "i"),
    "say the word",
)
_LEADING = frozenset(["and", "but", "so", "also", "then", "now", "first", "just", "however", "ok", "okay", "otherwise"])
_NEEDING = each("i|we", "need|still need|will need|do need|would need|also need") + each(
    "i'll|we'll|i'd", "need|also need"
)
_NEEDED = (
    *each("to", "continue|proceed|go on|go further|move on|finish this"),
    *("password", "passwords", "passphrase", "credentials", "api key", "api token", "access token", "access to"),
)
_SIGNS = ("yes/no", "yes / no", "y/n")
_TYPING = ("type", "say", "press", "enter", "reply", "answer", "send", "hit", "respond")
_TO = each("to", "continue|proceed|confirm|approve|go on|start|begin|accept")
# What "please" may begin with where it asks for nothing.
_COURTESY = frozenset(["note", "see", "find", "keep", "remember", "be", "refer", "ignore", "excuse", "bear", "mind"])


def asks(text: str) -> bool:
    """Whether a message ends by asking the user something, or by waiting for an answer."""
    prose = "\n".join(without_code(text))[-LONG:]
    lines = [line for line in map(_prose, prose.splitlines()) if line.strip()]
    options = _options(lines)
    lead = _lead(lines)
    lines = lines[-_TAIL - options :]
    if any(map(_ends_asking, lines)) or any(_is_asked(line[-_NEAR:]) for line in [*lead, *lines[-3:]]):
        return True
    end = "\n".join([*lead, *lines[-3 - options :]])
    words = plain(end)
    if any(f" {phrase} " in words for phrase in (*_ANYWHERE, *_ELSEWHERE)):
        return True
    if any(sign in end.casefold() for sign in (*_SIGNS, *_UNSPACED)):
        return True
    return any(map(_wants_something, clauses(end)))


def without_code(text: str) -> list[str]:
    """The lines of a message outside of its fenced code. A fence that is never closed opens nothing."""
    lines = text.splitlines()
    closable = _closable(lines)
    kept: list[str] = []
    opened = ""
    for index, line in enumerate(lines):
        fence = _fence(line)
        if opened:
            if fence.startswith(opened) and _is_bare(line):
                opened = ""
            else:
                opened = opened
        elif fence and len(fence) <= closable[index][fence[0]]:
            opened = fence
        else:
            kept.append(line.strip(" \t`~") if fence else line)
    return kept


def clauses(text: str) -> list[str]:
    """What is between the marks of a text, as words."""
    found = [plain(clause) for clause in text.translate(_ENDS).split("|")]
    return [clause for clause in found if clause.strip()]


def plain(text: str) -> str:
    """The words of a text, with one space around each."""
    kept = [char if char.isalnum() or char == "'" else " " for char in text.casefold().replace("’", "'")]
    words = [word.strip("'") for word in "".join(kept).split()]
    return f" {' '.join(filter(None, words))} "


# --- inside ----------------------------------------------------------------------------------------------------------


def _fence(line: str) -> str:
    """The fence that a line begins with; "```ls``` lists it" is none."""
    line = line.strip()
    if line.startswith(("```", "~~~")):
        fence = line[: len(line) - len(line.lstrip(line[:1]))]
    else:
        fence = ""
    if "`" in fence and "`" in line[len(fence) :]:
        return ""
    return fence


def _is_bare(line: str) -> bool:
    """Whether there is nothing behind the fence of a line: only such a one closes."""
    return not line.strip().strip("`~")


def _closable(lines: list[str]) -> list[dict[str, int]]:
    """For each line the longest fences of both kinds below it that close one."""
    longest = {"`": 0, "~": 0}
    found: list[dict[str, int]] = []
    for line in reversed(lines):
        found.append(longest)
        fence = _fence(line)
        if fence and _is_bare(line):
            longest = {**longest, fence[0]: max(longest[fence[0]], len(fence))}
    return found[::-1]


def _wants_something(clause: str) -> bool:
    """Whether a clause asks the user to do something, or leaves it to them."""
    first, second = [*clause.split(maxsplit=2), "", ""][:2]
    if first == "please" and second and second not in _COURTESY:
        return True
    if first in _TYPING and any(f" {phrase} " in clause for phrase in _TO):
        return True
    bare = _led_off(clause)
    if bare.startswith(tuple([f" {phrase} " for phrase in _AT_THE_START])) or _lacks_something(bare):
        return True
    return clause.endswith(tuple([f" {phrase} " for phrase in _AT_THE_END]))


def _led_off(clause: str) -> str:
    """A clause without what leads over to it: "so", "but"."""
    words = clause.split()
    start = 0
    while start < len(words) and words[start] in _LEADING:
        start += 1
    return f" {' '.join(words[start:])} "


def _lacks_something(clause: str) -> bool:
    """Whether it cannot go on without what only the user has: "I need the password", not "I need to read it"."""
    for phrase in _NEEDING:
        if clause.startswith(f" {phrase} "):
            what = clause[len(phrase) + 1 :]
            return not what.startswith((" to ", " no ")) and any(f" {thing} " in what for thing in _NEEDED)
    return False


def _lead(lines: list[str]) -> list[str]:
    """The line above a list, where one or two lines of prose follow the list: a word on the options."""
    below = 0
    while below < len(lines) and below < 3 and not _is_option(lines[-1 - below]):
        below += 1
    above = lines[: len(lines) - below]
    if 0 < below < 3:
        return above[: len(above) - _options(above)][-1:]
    return []


def _options(lines: list[str]) -> int:
    """How many lines at the end are a list: the choices are below a question."""
    count = 0
    while count < len(lines) and _is_option(lines[-1 - count]):
        count += 1
    return count


def _is_option(line: str) -> bool:
    return line.lstrip()[:1] in tuple("-*+•") or _is_numbered(line)


def _is_numbered(line: str) -> bool:
    digits = len(line.lstrip()) - len(line.lstrip().lstrip("0123456789"))
    return 0 < digits < 4 and line.lstrip()[digits : digits + 1] in (".", ")")


def _prose(line: str) -> str:
    """A line without the code in it."""
    parts = line.split("`")
    if len(parts) % 2:
        return " ".join(parts[::2])
    return line


def _ends_asking(line: str) -> bool:
    """Whether the last thing in a line, but for ornaments, is a question mark."""
    end = len(line)
    while end and not line[end - 1].isalnum() and line[end - 1] not in _MARKS:
        end -= 1
    return line[:end].endswith(tuple(_MARKS))


def _is_asked(text: str) -> bool:
    """Whether there is a question in it, with something behind it: options, thanks."""
    if any(mark in text for mark in _MARKS[1:]):
        return True
    return any(text[place + 1 : place + 2] in _AFTER_MARK for place, char in enumerate(text) if char == "?")
