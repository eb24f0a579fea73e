"""Whether the user tells an agent to wait or to stop, to do only a part, or just to go on.

It is guessed from the words, clause by clause, and where that is doubtful the guess is yes: an agent that stops too
early costs a word, one that is nudged over a "stop" costs trust. But a task that speaks of stopping something else is
a task. No list of words is complete, so none is ever the only reason to leave an agent alone: without planned work
since the user's last message it is not nudged, in any language."""

from __future__ import annotations

from .questions import LONG, clauses, each, plain, without_code

_BRIEF = 60  # characters of a message that may say nothing but to go on


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _spoken(text: str) -> tuple[str, ...]:
    """Phrases with `|` between them, as `plain` would have them in a message."""
    return tuple(plain(phrase).strip() for phrase in text.split("|"))


# May come before a word that stops.
_FILLERS = _words("""
    please pls plz ok okay no nope hey actually oh hmm uh um well so just now and but then alright right sorry yes yeah
    first can could would you should must let's lets i we want need to will said told that's thats that is it's its may
    claude codex gemini agent bitte por favor s'il vous plaît per favore
""")
# May follow it: "stop there", not "stop button".
_FOLLOWING = _words("""
    for until till there here now please right it that this what doing working all everything everyone a an one when
    before after with and if because i me my we let us immediately just then so while your you
    thanks thank again today work wait stop no
""")
_CLOSELY = _words("it that this what please right now here there everything everyone work thanks for immediately i")
_POLITE = (*each("for", "now|today|the moment|a bit"), "please", "thanks", "thank you", "ok", "then", "now", "claude")
_WORK = _words(
    "work agent agents run session loop task tasks job plan presses refactoring editing coding implementation"
)
_WORKING = _words("""
    working editing doing coding changing going touching modifying running making writing implementing refactoring
    proceeding continuing
""")
_THINGS = _words(
    "this that these those the any my it things files code changes anything everything now here on and please"
)

_STOPPING = {
    **dict.fromkeys(("wait", "stop", "halt", "enough", "not yet", "stand by"), _FOLLOWING),
    **dict.fromkeys(("hold on", "hold off", "hold it", "hold up", "hang on"), _FOLLOWING | {"on"}),
    **dict.fromkeys(("pause", "cancel", "abort"), _CLOSELY),
}
# The same in other languages, at the beginning of a clause.
_ELSEWHERE = _spoken("""
    warte|wartet|warten|bitte warten|stopp|stop bitte|hör auf|hören sie auf|aufhören|einen moment|moment mal
    |nicht weitermachen|mach nicht weiter|nicht weiter|lass es|lass das
    |espera|espere|esperad|detente|deténgase|no sigas|no continúes|no continues|un momento
    |attends|attendez|arrête|arrêtez|stoppe|ne continue pas|ne continuez pas|un instant|patiente|patientez|ça suffit
    |aspetta|aspetti|fermati|si fermi|fermo|un attimo|non continuare|non andare avanti
    |aguarde|aguarda|espera aí|chega|não continue|não continues|um momento|só um momento
    |wacht|wacht even|stop ermee|stop er mee|ophouden|hou op|niet verder|niet doorgaan|even wachten|ogenblik
    |czekaj|poczekaj|zaczekaj|przestań|zatrzymaj się|stój|dość|nie kontynuuj|chwileczkę|moment proszę
    |стоп|стой|стойте|подожди|подождите|погоди|погодите|жди|хватит|остановись|остановитесь|прекрати|прекратите
    |не продолжай|не продолжайте|минутку|минуточку
    |зачекай|почекай|зупинись|досить|не продовжуй
    |bekle|bekleyin|durun|dur bir dakika|yeter|devam etme|bir dakika|bir saniye
    |vänta|sluta|stanna|fortsätt inte|ett ögonblick|slutt|ikke fortsett|stop nu|ikke fortsæt
    |odota|lopeta|seis|älä jatka|hetkinen
    |počkej|počkejte|přestaň|zastav|nepokračuj|počkaj|prestaň
    |περίμενε|σταμάτα|στοπ|μη συνεχίσεις|μια στιγμή
    |várj|várjon|állj|elég|ne folytasd|așteaptă|oprește|oprește te|nu continua
    |tunggu|tunggu sebentar|berhenti|hentikan|jangan lanjutkan|jangan teruskan
    |dừng|dừng lại|chờ|chờ đã|chờ chút|đợi|đợi đã|đừng tiếp tục|khoan
    |توقف|توقفي|انتظر|انتظري|قف|كفى|لا تكمل|لا تتابع|لحظة
    |עצור|עצרי|חכה|חכי|מספיק|אל תמשיך|אל תמשיכי
    |रुको|रुकिए|रुक जाओ|रुको ज़रा|ठहरो|ठहरिए|बस करो|आगे मत बढ़ो|इंतज़ार करो|इंतजार करो
    |থামো|থামুন|অপেক্ষা করো|صبر کن|بایست|ادامه نده|رکو|ٹھہرو|انتظار کرو
    |நிறுத்து|காத்திரு|ఆగు|ఆపు|simama|subiri|ngoja
""")
# The same, if the clause says nothing else: "para" is also the Spanish "for".
_ELSEWHERE_ALONE = frozenset(
    _spoken("""
    para|pára|parad|pare|alto|halt|moment|moment bitte|dur|dost|genug|basta|די|רגע|vent|pausa|pausa por favor
    |para por favor|pare por favor|pára por favor|pause bitte|pauza|пауза|duraklat|jeda
""")
)
# At the beginning of a message, in languages that do not put spaces between words.
_UNSPACED = (
    *("等一下", "等等", "等一等", "等会", "稍等", "停", "暂停", "先暂停", "先别", "先不要", "别继续", "不要继续"),
    *("住手", "够了", "暫停", "先別", "別繼續", "不要繼續", "請等", "请等"),
    *("待って", "まって", "ちょっと待", "少し待", "止まって", "止めて", "やめて", "ストップ", "中止", "続けないで"),
    *("待機",),
    *("잠깐", "멈춰", "멈추", "그만", "기다려", "기다리", "중지", "중단", "계속하지", "스톱", "정지"),
    *("หยุด", "รอก่อน", "รอสักครู่", "รอเดี๋ยว", "เดี๋ยวก่อน", "พอแล้ว", "อย่าทำต่อ", "อย่าเพิ่ง"),
    *("ឈប់", "រង់ចាំ", "ຢຸດ", "ရပ်"),
)  # fmt: skip
# What limits the work to a part of the plan: "do only item 2".
_PARTS = "item|items|step|steps|task|tasks|number|point|part|phase|the first|the second|the next|the last|this one|that"
_LIMITING = (
    *each("only|just", _PARTS),
    *each("only|just", "do|do item|do step|do task|do number|do the first|do that|do this|the one|that one"),
    *each("nothing|anything", "else|more|further|beyond that"),
    *each("no", "other items|other steps|other tasks|other changes"),
    *each("leave|skip|not|ignore|forget", "the rest|the other items|the other steps|the other tasks|the others"),
    *each("up to", "item|step|task|number|point"),
    *each("until", "item|step|task"),
    *("and no more", "and that's it", "and that is it", "the rest can wait", "the rest later", "do only", "do just"),
    *("nur punkt", "nur schritt", "nur aufgabe", "nur den ersten", "nur das erste", "sonst nichts", "nichts weiter"),
    *("mach nur", "nichts anderes", "solo el", "solo la", "sólo el", "sólo la", "haz solo", "nada más", "nada mas"),
    *("seulement", "uniquement", "rien d'autre", "rien de plus", "soltanto", "solo il", "solo la", "nient'altro"),
    *("apenas o", "apenas a", "só o", "só a", "mais nada", "alleen", "niets anders", "tylko", "nic więcej"),
    *("только", "больше ничего", "ничего больше", "лише", "тільки", "sadece", "yalnızca", "başka bir şey yapma"),
    *("bara", "inget annat", "kun", "pouze", "jen", "vain", "csak", "doar", "μόνο", "hanya", "saja", "chỉ", "thôi"),
    *("فقط", "רק", *_spoken("केवल|सिर्फ")),
)  # fmt: skip
_LIMITING_UNSPACED = ("只做", "只要", "只需", "仅做", "仅", "だけ", "のみ", "만 해", "만 하", "เท่านั้น")
_LOOSE_ONLY = _words("read write if when not one once two three after be is are was were has have can the")
# A message that says just that.
_GO_ON = frozenset([
    *each("go|carry|move", "on|ahead|along|forward"),
    *("continue", "proceed", "keep going", "keep it up", "keep on", "resume", "next", "go", "onward", "finish it"),
    *("finish the plan", "finish the rest", "do the rest", "do the next", "next item", "next one", "next step"),
    *("weiter", "mach weiter", "weitermachen", "fahre fort", "fahr fort", "sigue", "continúa", "continua", "adelante"),
    *("prosigue", "continuez", "poursuis", "poursuivez", "vas y", "allez y", "prosegui", "vai avanti", "avanti"),
    *("continuar", "prossiga", "siga", "ga door", "ga verder", "verder", "doorgaan", "kontynuuj", "dalej"),
    *("продолжай", "продолжайте", "дальше", "далее", "продовжуй", "devam", "devam et", "fortsätt", "fortsæt"),
    *("fortsett", "jatka", "pokračuj", "συνέχισε", "folytasd", "continuă", "lanjut", "lanjutkan", "tiếp tục", "tiếp"),
    *("استمر", "تابع", "أكمل", "המשך", "תמשיך", *_spoken("जारी रखो|आगे बढ़ो|जारी रखें"), "继续", "繼續", "请继续"),
    *("接着做", "続けて"),
    *("続けてください", "進めて", "계속", "계속해", "계속하세요", "계속 진행", *_spoken("ทำต่อ|ต่อไป")),
])  # fmt: skip
_GO_ON_FILLERS = _words("""
    please pls ok okay yes yeah yep sure great good fine thanks thank you now then and so just well alright right do
    with the plan it work this that your bitte ja gut por favor sí si merci oui s'il te plaît vous per favore
    claude codex gemini agent
""")
_ASKING = _words("why when how what where who which does did is are was do can")  # words a question starts with
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"), ("‘", "’"))
# A whole clause that says so, if nothing else is asked for behind it: "not now", but not "not now, first the tests".
_ALONE = frozenset([
    *each("one|just a|just one|a", "sec|second|moment|minute"),
    *each("not", "now|right now|today|so fast|just yet"),
    *each("forget|leave|park|drop", "it|that|this"),
    *each("that's|that is", "all for now|it for now|all for today|it for today"),
    *each("we're|we are|i'm|i am", "done|done here"),
    *each("done|enough", "for today|for now"),
    *each("call it", "a day"),
    *("hold", "quit", "quit it", "freeze", "stand down", "do nothing", "nevermind", "never mind", "nvm", "later"),
    *("whoa", "hold your horses", "hold that thought", "take a break", "time out", "back off"),
])  # fmt: skip
_ANYWHERE = (
    *each("don't|dont|do not", "continue|go on|proceed|go further|go any further|do anything"),
    *each("stop", "there|here|for now|after"),
    *each("stop and|pause and", "report|wait|ask|tell|show me|let me|check with|summarize|summarise"),
    *each("wait", "for me|for my|for us|for further|for approval|until i|till i|until we|until you hear"),
    *each("do nothing", "until|else|more"),
    *each("no more|no further", "changes|edits|work"),
    *each("no", "code yet|coding yet|changes yet|edits yet"),
    *each("before you", "continue|go on|go further|go any further|proceed"),
    *each("check with|talk to", "me first|me before"),
    *each("let me", "look|think|review|check|verify|consider|take a look|have a look"),
    *each("i'll|i will", "take it from here|take over|do the rest|handle the rest|do it myself|finish it myself"),
    *each("continue|resume|go on|pick this up|pick it up", "tomorrow|later"),
    *each("on", "hold for now|hold please"),
)
# The same, if it goes on with one of the words behind it: "give me a minute to read", not "a minute by minute account".
_SOMETIMES = {
    **dict.fromkeys(
        each("give me", "a sec|a second|a moment|a minute|a few minutes|a bit|some time"),
        _words("to please and i while first here so before now"),
    ),
    **dict.fromkeys(
        each("i want to|i need to|i'd like to|i would like to", "review|think|look"),
        _words("it this that them the your about first before things what everything at over"),
    ),
    **dict.fromkeys(
        each("and|then", "stop|wait|pause|hold"), _words("here there now please thanks thank so then today i we")
    ),
}
# The same, if the clause speaks of the user: "ask me before proceeding", not "show a dialog before proceeding".
_WITH_ME = each("before", "continuing|proceeding|going on|going further|moving on")
_ME = _words("i me my we us our i'm i'd i'll")
_NEGATIONS = _words("don't dont not never no without needn't won't")
_MODALS = _words("should must to will would shall can may might cannot")  # "the loop should stop there"
_ADDRESSED = _words("you we i let's lets please")
_FORBIDDING = _words("""
    write start begin code implement change edit do touch make modify build any anything coding writing
    implementing working changes edits files it on with implementation to work that this yet the
    more further anymore
""")  # verbs and things of no kind in particular: "don't write any code yet", not "don't start the server yet"
# The same, if nothing else is asked for: "don't commit anything yet", not "fix it, and don't commit anything yet".
_FORBIDDING_REST = _FORBIDDING | _words("""
    run execute commit push merge deploy install delete add remove create else other
""")
_MORE = _words("more further anymore else other")
_PROMISED = each("until|till|before", "i|i'm|i've|we|my")  # "until I confirm", not "until the tests pass"
_PRAISE = _words(
    "great perfect good nice fine cool excellent lgtm looks job work works it this that all very well done"
)
_COUNTED = _words("items item steps step tasks task of")
_OWN = _words("i i'm i'll i've i'd we we're we'll my thanks thank sorry back")


STOP_HERE = "Stop here until the user says otherwise."  # how the text of our MCP prompt `pause` ends


def runs_pause(text: str) -> bool:
    """Whether the user runs our MCP prompt `pause`: an agent reports its command, or its text, as what they said."""
    said = text.strip().strip("\"'").casefold()
    command = said.split(" ", 1)[0]
    is_command = command.startswith("/") and "punchlist" in command and command.endswith(("_pause", ":pause"))
    return is_command or said.endswith(STOP_HERE.casefold())


def says_wait(text: str) -> bool:
    """Whether the user tells the agent to wait or to stop."""
    prose = "\n".join(without_code(text))
    prose = (prose if len(prose) <= 2 * LONG else f"{prose[:LONG]}\n{prose[-LONG:]}").casefold()
    prose = _unquoted(prose)
    if prose.lstrip("/*\"' \n请請").startswith(_UNSPACED):
        return True
    found = clauses(prose)
    if any(_is_halt(clause, first=not index) for index, clause in enumerate(found)):
        return True
    return any(map(_is_alone, _ending(found))) or _forbids_the_rest(found)


def says_limit(text: str) -> bool:
    """Whether the user asks for a part of the work only: "do only item 2", "step 1 and nothing else"."""
    prose = _unquoted("\n".join(without_code(text))[-2 * LONG :].casefold())
    if any(words in prose for words in _LIMITING_UNSPACED):
        return True
    return any(map(_limits, clauses(prose)))


def says_go_on(text: str) -> bool:
    """Whether a message says nothing but to go on."""
    if len(text) > _BRIEF:
        return False
    said = " ".join(clause.strip() for clause in clauses(text.casefold()))
    if said in _GO_ON:
        return True
    words = said.split()
    kept = [word for word in words if word not in _GO_ON_FILLERS]
    return " ".join(kept) in _GO_ON and len(words) - len(kept) <= 4


# --- inside ----------------------------------------------------------------------------------------------------------


def _limits(clause: str) -> bool:
    """Whether a clause asks for a part only: by a phrase, or by "only" at its end or its beginning."""
    if any(f" {phrase} " in clause for phrase in _LIMITING):
        return not clause.startswith((" not only ", " if only "))
    words = _bare(clause).split()
    if len(words) < 2 or "only" not in words:
        return False
    return (words[-1] == "only" and words[-2] not in ("read", "write")) or (
        words[0] == "only" and words[1] not in _LOOSE_ONLY - {"the"}
    )


def _unquoted(prose: str) -> str:
    """A text without what is quoted in it: `Add a "Stop" button` tells nobody to stop. What is only a quotation stays
    as it is."""
    for opening, closing in _QUOTES:
        while (start := prose.find(opening)) >= 0 and (end := prose.find(closing, start + 1)) >= 0:
            kept = f"{prose[:start]} quoted {prose[end + 1 :]}"
            if not kept.replace("quoted", "").strip(" .!?\n"):
                return prose
            prose = kept
    return prose


def _ending(found: list[str]) -> list[str]:
    """The clauses at the end behind which nothing is asked for: the last one, and before it what leads to clauses in
    which the user speaks of himself."""
    start = len(found) - 1
    while start > 0 and (_is_own(found[start]) or _is_alone(found[start])):
        start -= 1
    return found[max(start, 0) :]


def _is_own(clause: str) -> bool:
    """Whether the user speaks of himself in a clause, or says nothing."""
    return clause.split()[0] in _OWN or clause.startswith(" let me ") or not _bare(clause).strip()


def _is_alone(clause: str) -> bool:
    """Whether a clause says nothing but that."""
    for words in (clause.strip(), _bare(clause).strip()):
        for polite in ("", *_POLITE):
            if words.removesuffix(polite).rstrip() in _ALONE:
                return True
    return False


def _is_halt(clause: str, *, first: bool) -> bool:
    bare = _bare(clause)
    elsewhere = tuple([f" {words} " for words in _ELSEWHERE])
    if bare.startswith(elsewhere) or clause.startswith(elsewhere) or clause.strip() in _ELSEWHERE_ALONE:
        return True
    for phrase, following in _STOPPING.items():
        if bare.startswith(f" {phrase} ") and _may_follow(bare[len(phrase) + 2 :], following, loosely=first):
            return True
    if any(_goes_on(clause, phrase, following) for phrase, following in _SOMETIMES.items()):
        return True
    return _forbids_all(clause) or any(_is_meant(clause, phrase) for phrase in _phrases(clause))


def _bare(clause: str) -> str:
    """A clause without what may come before its point."""
    words = clause.split()
    start = 0
    while start < len(words) and words[start] in _FILLERS and words[start : start + 2] != ["no", "need"]:
        start += 1
    return f" {' '.join(words[start:])} "


def _phrases(clause: str) -> list[str]:
    of_me: tuple[str, ...] = ()
    if not _ME.isdisjoint(clause.split()):
        of_me = _WITH_ME
    return [phrase for phrase in (*_ANYWHERE, *of_me) if f" {phrase} " in clause]


def _may_follow(rest: str, following: frozenset[str], *, loosely: bool = False) -> bool:
    """Whether a clause goes on like this, if it tells somebody to stop."""
    word, what = [*rest.split(maxsplit=2), "", ""][:2]
    if not word:
        return True
    if word in following and what != "from":
        return True
    if not loosely:
        return False
    if word == "the":
        return what in _WORK
    return word in _WORKING and what in _THINGS | {""}


def _goes_on(clause: str, phrase: str, following: frozenset[str]) -> bool:
    """Whether a phrase is there, and nothing behind it, or one of these words."""
    _, found, rest = clause.partition(f" {phrase} ")
    return bool(found) and _may_follow(rest, following)


def _is_meant(clause: str, phrase: str) -> bool:
    """Whether a phrase is not taken back by the words before it ("don't wait for me"), and not said of something else
    ("the loop should stop there")."""
    before, _, rest = clause.partition(f" {phrase} ")
    if before.split()[:1] and before.split()[0] in _ASKING:  # "why does it stop after 3 items"
        return False
    last = before.split()[-3:]
    if not _NEGATIONS.isdisjoint(last):
        return False
    if last and last[-1] in _MODALS and _ADDRESSED.isdisjoint(last):
        return False
    number, what = [*rest.split(maxsplit=2), "", ""][:2]
    return not (phrase == "stop after" and number.isdigit() and what not in _COUNTED)


def _forbids_all(clause: str) -> bool:
    """Whether nothing at all is to be done, or not yet: "don't write any code yet", "do not touch anything"."""
    _, found, what = _contracted(clause).partition(" don't ")
    return bool(found) and _is_everything(f" {what}", _FORBIDDING)


def _forbids_the_rest(found: list[str]) -> bool:
    """Whether nothing is said but what not to do: "don't touch anything else", not "fix it, don't touch anything
    else"."""
    said = [clause for clause in found if not (_is_own(clause) or _is_alone(clause) or _is_praise(clause))]
    bare = [_contracted(_bare(clause)) for clause in said]
    return bool(bare) and all(
        clause.startswith(" don't ") and _is_everything(clause.removeprefix(" don't"), _FORBIDDING_REST)
        for clause in bare
    )


def _is_praise(clause: str) -> bool:
    return _PRAISE.issuperset(clause.split())


def _contracted(clause: str) -> str:
    return clause.replace(" do not ", " don't ").replace(" dont ", " don't ")


def _is_everything(what: str, kinds: frozenset[str]) -> bool:
    """Whether what is forbidden is everything, or everything that is left, at least until the user says more."""
    for phrase in _PROMISED:
        head, found, _ = what.partition(f" {phrase} ")
        if found:
            return bool(head) and kinds.issuperset(head.split())
    words = _unpolite(what).split()
    if not words or not kinds.issuperset(words):
        return False
    return words[-1] in ("yet", "anything") or not _MORE.isdisjoint(words)


def _unpolite(what: str) -> str:
    """Words without what is said for politeness behind them."""
    ends = [f" {polite} " for polite in _POLITE]
    return next((what.removesuffix(end) for end in ends if what.endswith(end)), what)
