"""What is meant by a message: whether it ends by asking the user something, whether the user says to wait.

It is guessed from the words, and where that is doubtful the guess is yes: an agent that rests too early costs a word,
one that is sent on over a question or a "stop" costs trust."""

_LONG = 20_000  # characters of a message that are looked at, at its end and at its beginning
_TAIL = 12  # lines at the end of a message in which a question counts
_NEAR = 200  # characters at the end of a line in which a question may be followed by its options
_MARKS = "?？؟՞፧⸮﹖\u037e"  # question marks
_AFTER_MARK = " \t*_\"'”’»)]}>~|!"  # what may follow a `?` that is not part of a word or of code
_ASKING = (
    "let me know",
    "please confirm",
    "please advise",
    "please choose",
    "please approve",
    "please review",
    "your approval",
    "your confirmation",
    "your decision",
    "your input",
    "your answer",
    "your reply",
    "your go ahead",
    "waiting for you",
    "waiting for your",
    "waiting for approval",
    "waiting on you",
    "waiting on your",
    "awaiting your",
    "awaiting approval",
    "awaiting confirmation",
    "please provide",
    "please tell me",
    "pick one",
    "choose one",
    "reply with",
    "y n",
    "i'll wait",
    "i will wait",
    "tell me which",
    "tell me whether",
    "tell me how",
    "would you like",
    "do you want",
    "if you want me to",
    "if you'd like me to",
    "shall i",
    "should i",
    "once you",
    "when you're ready",
    "when you are ready",
)

_ENDS = str.maketrans(dict.fromkeys('.,;:!?…()"—–\n', "|"))  # of clauses
_BEFORE = """
    please ok okay no nope hey actually oh hmm uh um well so just now and but then alright right sorry yes yeah first
    can could would you should must let's lets i we want need to will said told that's thats that is it's its
    claude codex gemini agent bitte por favor s'il vous plaît per favore
"""
_BEHIND = """
    for until till there here now please right it that this what doing working all everything everyone a an one when
    before after with and or where as if because i me my we let us immediately just then so while on off up your you
    thanks thank again today work
"""
_FILLERS = frozenset(_BEFORE.split())  # may stand before a word that stops
_FOLLOWING = frozenset(_BEHIND.split())  # may stand behind it: "stop there", not "stop button"
_WORK = frozenset(["work", "agent", "agents", "run", "session", "loop", "task", "tasks", "job", "plan", "presses"])
_STOPPING = (
    "wait",
    "stop",
    "hold on",
    "hold off",
    "hold it",
    "pause",
    "halt",
    "hang on",
    "not yet",
    "enough",
    "cancel",
    "abort",
    "stand by",
)
_ELSEWHERE = ("warte", "stopp", "attends", "attendez", "arrête", "espera", "aspetta", "fermati", "стоп", "подожди")
_UNSPACED = ("等一下", "等等", "停", "待って", "ストップ", "잠깐", "멈춰")  # of languages without spaces
_ANYWHERE = (
    "don't continue",
    "do not continue",
    "don't go on",
    "do not go on",
    "don't proceed",
    "do not proceed",
    "stop there",
    "stop here",
    "stop for now",
    "stop after",
    "wait for me",
    "wait for my",
    "wait until i",
    "wait till i",
    "don't start yet",
    "do not start yet",
    "don't do anything",
    "do not do anything",
    "do nothing until",
    "do nothing else",
    "do nothing more",
    "no more changes",
    "no further changes",
    "before you continue",
    "before you go on",
    "before continuing",
    "before proceeding",
)
_AT_THE_END = ("and stop", "then stop", "and wait", "then wait", "and pause", "then pause")
_NEGATIONS = frozenset(("don't", "dont", "not", "never", "no", "without", "needn't", "won't"))


def asks(text: str) -> bool:
    """Whether a message ends by asking the user something, or by waiting for an answer."""
    lines = [line for line in map(_prose, _without_code(text[-_LONG:])) if line.strip()]
    lines = lines[-_TAIL - _options(lines) :]
    if any(map(_ends_asking, lines)) or any(_is_asked(line[-_NEAR:]) for line in lines[-3:]):
        return True
    end = _plain(" ".join(lines[-3:]))
    return any(f" {phrase} " in end for phrase in _ASKING)


def says_wait(text: str) -> bool:
    """Whether the user tells the agent to wait or to stop."""
    text = text if len(text) <= 2 * _LONG else f"{text[:_LONG]}\n{text[-_LONG:]}"
    prose = "\n".join(_without_code(text)).casefold()
    if prose.lstrip("/*\"' \n请").startswith(_UNSPACED):
        return True
    clauses = [_plain(clause) for clause in prose.translate(_ENDS).split("|")]
    clauses = [clause for clause in clauses if clause.strip()]
    return any(_is_halt(clause, first=not index) for index, clause in enumerate(clauses))


# --- inside ----------------------------------------------------------------------------------------------------------


def _without_code(text: str) -> list[str]:
    """The lines of a message outside of its fenced code."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    return lines


def _options(lines: list[str]) -> int:
    """How many lines at the end are a list: what there is to choose from stands below a question."""
    count = 0
    while count < len(lines) and (lines[-1 - count].lstrip()[:1] in tuple("-*+•") or _is_numbered(lines[-1 - count])):
        count += 1
    return count


def _is_numbered(line: str) -> bool:
    digits = len(line.lstrip()) - len(line.lstrip().lstrip("0123456789"))
    return 0 < digits < 4 and line.lstrip()[digits : digits + 1] in (".", ")")


def _prose(line: str) -> str:
    """A line without the code in it."""
    parts = line.split("`")
    return " ".join(parts[::2]) if len(parts) % 2 else line


def _plain(text: str) -> str:
    """The words of a text, with one space around each."""
    kept = [char if char.isalnum() or char == "'" else " " for char in text.casefold().replace("’", "'")]
    return f" {' '.join(''.join(kept).split())} "


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


def _is_halt(clause: str, *, first: bool) -> bool:
    words = clause.split()
    while words and words[0] in _FILLERS and words[:2] != ["no", "need"]:
        del words[0]
    bare = f" {' '.join(words)} "
    if bare.startswith(tuple(f" {word} " for word in _ELSEWHERE)):
        return True
    for phrase in _STOPPING:
        if bare.startswith(f" {phrase} ") and _may_follow(bare[len(phrase) + 2 :], loosely=first):
            return True
    if any(f" {phrase} " in clause and _may_follow(clause.partition(f" {phrase} ")[2]) for phrase in _AT_THE_END):
        return True
    return any(_is_meant(clause.partition(f" {phrase} ")[0]) for phrase in _ANYWHERE if f" {phrase} " in clause)


def _may_follow(rest: str, *, loosely: bool = False) -> bool:
    """Whether a clause goes on like this, if it tells somebody to stop."""
    word, what = [*rest.split(maxsplit=2), "", ""][:2]
    is_work = word.endswith("ing") or (word == "the" and (what in _WORK or what.endswith("ing")))
    return not word or word in _FOLLOWING or (loosely and is_work)


def _is_meant(before: str) -> bool:
    """Whether what follows is not taken back by the words before it: "don't wait for me"."""
    return not _NEGATIONS.intersection(before.split()[-3:])
