// Part of the package of Punchlist for this agent.
import { fileURLToPath } from "node:url"
// Shows the plan in the sidebar of opencode's terminal, and carries out `/plan add ...` at once. Whatever fails, opencode goes on as without it.
import { spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"

const PUNCHLIST = fileURLToPath(new URL("./bin/punchlist", import.meta.url))
const PLACE = import.meta.url.split("?")[0]
const SECONDS = 20 // for what takes no time
const PATIENCE = 900 // seconds for a command of the user: checks take their time
const AGAIN = 3600e3 // milliseconds until the key is registered again
const SHORTEST = 200 // milliseconds until a watch that ended is started again; twice as long each time
const LONGEST = 30e3
const STEADY = 5e3 // milliseconds after which a watch counts as one that works
const SIGNS = { pending: "○", in_progress: "▶", blocked: "⊘", completed: "✓", abandoned: "–" }
const GRADES = ["verified", "passed", "outdated", "failed", "waived"] // that are worth a word
const DEEPEST = 3 // steps by which a part is indented

// --- processes ---------------------------------------------------------------------------------------------------------

// The key stays in the memory of this program. It tells our commands that you gave them, and not the agent in its shell.
const KEY = (globalThis[Symbol.for("punchlist.panel")] ??= randomBytes(24).toString("hex"))

// Whether this file is the panel of this program: a package and settings may have brought one each, and one draws.
const isDrawing = () => (globalThis[Symbol.for("punchlist.panel.place")] ??= PLACE) === PLACE

// The folder of a program: the agent's may be on another machine.
const placed = (cwd) => (cwd && existsSync(cwd) ? cwd : undefined)

const ran = (words, { input = "", seconds = SECONDS, cwd } = {}) =>
  new Promise((done) => {
    let said = ""
    try {
      const env = { ...process.env, PUNCHLIST_PANEL: "1", NO_COLOR: "1" }
      const child = spawn(PUNCHLIST, words, { cwd: placed(cwd), env, stdio: ["pipe", "pipe", "pipe"] })
      const late = setTimeout(() => child.kill(), 1000 * seconds)
      const keep = (more) => said.length < 20000 && (said += more)
      child.stdout.setEncoding("utf8").on("data", keep)
      child.stderr.setEncoding("utf8").on("data", keep)
      child.stdin.on("error", () => {})
      child.on("error", () => (clearTimeout(late), done({ ok: false, said: "punchlist cannot be started" })))
      child.on("close", (code) => (clearTimeout(late), done({ ok: code === 0, said })))
      child.stdin.end(input)
    } catch {
      done({ ok: false, said: "punchlist cannot be started" })
    }
  })

// Register the key, as a hook: a command in the shell of the agent cannot do that.
const register = async (host, cwd) => {
  const panel = createHash("sha256").update(KEY).digest("hex")
  await ran(["hook", host], { input: JSON.stringify({ moment: "panel", session: "panel", panel, cwd }), cwd })
}

const registered = (host, cwd) => {
  const first = register(host, cwd)
  const timer = setInterval(() => register(host, cwd), AGAIN)
  timer.unref?.()
  return { ready: first, stop: () => clearInterval(timer) }
}

const named = ({ session, agent }) => [`--session=${session}`, ...(agent ? [`--agent=${agent}`] : [])]

// Have Punchlist do what the user typed behind a slash command. The text is one argument: what it means is decided there, in
// every agent alike.
const carried = async (line, { called, who, cwd, ready }) => {
  await ready
  const words = [...named(who), "slash", `--called=${called}`, "--", line]
  const { ok, said } = await ran(words, { input: KEY, seconds: PATIENCE, cwd })
  const lines = said.trim().split("\n").map(harmless).filter((text) => text.trim())
  return { ok, lines: lines.length ? lines : [ok ? "done" : "that failed"] }
}

// What can be typed behind a slash command, and what each word does.
const verbs = async (cwd) => {
  try {
    return Object.entries(JSON.parse((await ran(["slash", "--json", "help"], { cwd })).said))
  } catch {
    return []
  }
}

// Follow a plan: `changed` is called with it, at once and each time it changes, until `stop` is.
const following = (who, cwd, changed) => {
  let child, timer
  let wait = SHORTEST
  let over = false
  const start = () => {
    const begun = Date.now()
    let rest = [] // of a line that has not ended yet
    const again = () => {
      if (over || timer) return
      if (Date.now() - begun > STEADY) wait = SHORTEST
      timer = setTimeout(() => ((timer = undefined), start()), wait)
      timer.unref?.()
      wait = Math.min(2 * wait, LONGEST)
    }
    try {
      child = spawn(PUNCHLIST, [...named(who), "watch", "--json"], { cwd: placed(cwd), stdio: ["ignore", "pipe", "ignore"] })
      child.stdout.setEncoding("utf8").on("data", (more) => {
        rest.push(more)
        if (!more.includes("\n")) return
        const lines = rest.join("").split("\n")
        rest = [lines.pop()]
        const last = lines.pop()
        if (over || !last) return
        try {
          changed(planOf(JSON.parse(last)))
        } catch {
          // what cannot be read is not shown
        }
      })
      child.on("error", again)
      child.on("close", again)
      child.unref?.()
      child.stdout.unref?.()
    } catch {
      again()
    }
  }
  const stop = () => {
    over = true
    clearTimeout(timer)
    process.off("exit", stop)
    child?.kill()
  }
  process.on("exit", stop)
  start()
  return { stop }
}

// --- the plan ----------------------------------------------------------------------------------------------------------

// A line without anything that acts on a terminal: texts are data.
function harmless(text) {
  return String(text ?? "").slice(0, 2000).replace(/[\u200c\u200d\ufe0e\ufe0f]/gu, "").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd")
}

// Text on one line, with single spaces.
function safe(text) {
  return harmless(String(text ?? "").slice(0, 2000).replace(/[\u200c\u200d\ufe0e\ufe0f]/gu, "").replace(/\s+/gu, " ")).trim()
}

// Cells that a character takes on a screen: rather too many than too few.
function cells(char) {
  const code = char.codePointAt(0)
  if (code < 0x300) return 1
  const wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xa960 && code <= 0xa97f)
  const tall = (code >= 0xac00 && code <= 0xd7ff) || (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xffe6)
  return wide || tall || code >= 0x16fe0 || /\p{Extended_Pictographic}/u.test(char) ? 2 : 1
}

const widthOf = (text) => [...text].reduce((sum, char) => sum + (SIGNED.has(char) ? 1 : cells(char)), 0)

const SIGNED = new Set([...Object.values(SIGNS), "⏸", "✔"]) // our own signs, of one cell each

// The beginning of a text, as much of it as there is room for.
function fit(text, room) {
  if (widthOf(text) <= room) return text
  let kept = ""
  let left = room - 1
  for (const char of text) {
    left -= SIGNED.has(char) ? 1 : cells(char)
    if (left < 0) break
    kept += char
  }
  return room < 1 ? "" : `${kept.trimEnd()}…`
}

// What the panel shows of a plan, from its JSON.
function planOf(json) {
  const parents = {}
  const items = (Array.isArray(json?.items) ? json.items : []).map((item) => {
    parents[item.id] = item.parent
    return {
      id: safe(item.id),
      status: item.status in SIGNS ? item.status : "pending",
      text: safe(item.status === "in_progress" ? item.active || item.text : item.text),
      phase: safe(item.phase),
      reason: item.status === "blocked" ? safe(item.reason) : "",
      grade: item.status === "completed" && GRADES.includes(item.grade) ? item.grade : item.looks_done ? "looks done" : "",
      needs: Array.isArray(item.needs) ? item.needs : [],
      parent: item.parent,
      depth: 0,
    }
  })
  const open = new Set(items.filter((item) => item.status !== "completed" && item.status !== "abandoned").map((item) => item.id))
  const above = new Set(items.filter((item) => open.has(item.id)).map((item) => item.parent))
  for (const item of items) {
    for (let at = item.parent; at && item.depth < DEEPEST; at = parents[at]) item.depth += 1
  }
  const counted = items.filter((item) => item.status !== "abandoned")
  return {
    title: safe(json?.title),
    items,
    done: counted.filter((item) => item.status === "completed").length,
    total: counted.length,
    active: items.filter((item) => item.status === "in_progress"),
    next: items.find((item) => item.status === "pending" && !above.has(item.id) && !item.needs.some((id) => open.has(String(id)))),
    blocked: items.filter((item) => item.status === "blocked").length,
    paused: json?.paused ? safe(json.paused.reason) || "paused" : "",
    mode: json?.mode && json.mode !== "act" ? safe(json.mode) : "",
  }
}

// Whether an item is what is worked on, or would be next if nothing is.
const isNext = (plan, item) => item.status === "in_progress" || (!plan.active.length && item === plan.next)

// How far a plan is, in a few words.
const progress = (plan) => `${plan.done}/${plan.total}`

// At most so many rows of a plan, around what is active: items, names of phases, and how many items are left out.
function rowsOf(plan, limit) {
  const all = []
  let phase = ""
  for (const item of plan.items) {
    if (item.phase !== phase && item.phase) all.push({ phase: item.phase })
    phase = item.phase
    all.push({ item })
  }
  if (all.length <= limit) return all
  const room = Math.max(limit - 2, 1)
  const here = all.findIndex(({ item }) => item && (item === plan.active[0] || (!plan.active.length && item === plan.next)))
  const center = here < 0 ? all.length - 1 : here
  const first = Math.max(Math.min(center - Math.floor((room - 1) / 3), all.length - room), 0)
  const shown = all.slice(first, first + room)
  const above = all.slice(0, first).filter(({ item }) => item).length
  const below = all.slice(first + room).filter(({ item }) => item).length
  if (limit < 3) return shown
  return [...(above ? [{ more: `${above} above` }] : []), ...shown, ...(below ? [{ more: `${below} more` }] : [])]
}
import { createComponent, createElement, effect, insert, setProp, useTerminalDimensions } from "@opentui/solid"
import { createEffect, createSignal } from "solid-js"

// --- opencode ----------------------------------------------------------------------------------------------------------

const HOST = "opencode"
const ROOM = 37 // cells in the sidebar
const ROWS = 14 // of the list, unless it is shown in full or the terminal is low
const OTHERS = 24 // rows that everything else in the sidebar takes
const MOST = 60 // of the list in full: the sidebar scrolls
const WIDE = 120 // columns up to which opencode hides its sidebar
const ALIASES = ["todo", "punchlist"] // what it is called in other agents
const COMMAND = "plan"
const LONG = 8 // lines of an answer above which it gets a dialog
const TYPED = /^\/(?:plan|todo|punchlist)(?:\s+([^]*))?$/

// An element. Properties that are functions are followed, as are children.
const h = (tag, props = {}, ...children) => {
  const node = createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function" && !name.startsWith("on")) effect(() => setProp(node, name, value()))
    else setProp(node, name, value)
  }
  for (const child of children) insert(node, child)
  return node
}

const tui = async (api) => {
  if (!isDrawing()) return
  const [plan, setPlan] = createSignal() // of the session that is shown
  const [full, setFull] = createSignal(false)
  const [folded, setFolded] = createSignal(false)
  let who, watch
  const theme = () => api.theme.current
  const cwd = () => api.state.path.directory || process.cwd()
  const key = registered(HOST, cwd())

  const follow = (session) => {
    const parent = session && api.state.session.get(session)?.parentID
    const named = process.env.PUNCHLIST_SESSION
    const now = parent ? { session: named || parent, agent: session } : { session: named || session }
    if (!now.session || (now.session === who?.session && now.agent === who?.agent)) return
    watch?.stop()
    who = now
    setPlan(undefined)
    watch = following(who, cwd(), (changed) => setPlan(changed))
  }

  const toast = (message, variant) => api.ui.toast({ title: "Plan", message: fit(message, 600), variant, duration: 4000 })

  // --- drawing

  const color = (item) => {
    const colors = { in_progress: theme().accent, blocked: theme().warning, completed: theme().success }
    return colors[item.status] ?? theme().textMuted
  }

  const line = (text, fg, more = {}) => h("text", { fg, wrapMode: "word", ...more }, text)

  const row = (item) => {
    const room = ROOM - 2 - 2 * item.depth
    const sign = item.grade === "verified" ? "✔" : SIGNS[item.status]
    const tail = item.grade || (item.reason && `blocked: ${item.reason}`)
    const fg = isNext(plan(), item) ? theme().text : theme().textMuted
    const text = h("box", { flexGrow: 1, flexShrink: 1 }, line(fit(`${item.id} ${item.text}`, 2 * room - 6), fg))
    if (tail) insert(text, line(fit(tail, 2 * room - 6), item.grade === "failed" ? theme().error : item.reason ? theme().warning : theme().textMuted), null)
    return h("box", { flexDirection: "row", gap: 1, paddingLeft: 2 * item.depth }, line(sign, color(item), { flexShrink: 0 }), text)
  }

  const list = (now, height) => {
    const rows = rowsOf(now, full() ? MOST : Math.min(Math.max(height - OTHERS, 5), ROWS))
    return rows.map(({ item, phase, more }) => (item ? row(item) : line(fit(phase ?? `  … ${more}`, ROOM), theme().textMuted)))
  }

  const sidebar = (size) => {
    const now = plan()
    if (!now?.total) return []
    const over = now.done === now.total
    const head = h("box", { flexDirection: "row", gap: 1, onMouseDown: () => setFolded((was) => !was) })
    insert(head, [line(folded() ? "▶" : "▼", theme().text), h("text", { fg: theme().text }, h("b", {}, "Plan")), line(progress(now), over ? theme().success : theme().textMuted)])
    const extra = [now.blocked ? `${now.blocked} blocked` : "", now.mode ? `${now.mode} mode` : ""].filter(Boolean).join(" · ")
    if (extra) insert(head, line(`· ${extra}`, theme().warning), null)
    const paused = now.paused ? [line(fit(`⏸ paused: ${now.paused}`, 2 * ROOM - 6), theme().warning)] : []
    const item = now.active[0] ?? now.next
    return [head, ...paused, ...(folded() ? (item ? [row(item)] : []) : list(now, size().height))]
  }

  const View = (props) => {
    createEffect(() => follow(props.session_id))
    const size = useTerminalDimensions()
    return h("box", {}, () => sidebar(size))
  }

  // Beside the prompt, where the terminal is too narrow for the sidebar.
  const Short = (props) => {
    createEffect(() => follow(props.session_id))
    const size = useTerminalDimensions()
    const words = () => {
      const now = plan()
      if (!now?.total || size().width > WIDE) return ""
      const item = now.active[0]
      const state = now.paused ? "⏸ " : item ? "▶ " : "plan "
      const room = Math.min(Math.floor(size().width / 3), 32)
      return fit(`${state}${progress(now)}${item ? ` ${item.text}` : ""}`, room)
    }
    return h("text", { fg: () => theme().textMuted, wrapMode: "none" }, words)
  }

  // --- what the user says

  const isOpen = () => api.route.current.name === "session"

  const carry = async (line) => {
    if (!who || !isOpen()) return toast("open a session first: a plan belongs to one", "warning")
    const { ok, lines } = await carried(line, { called: COMMAND, who, cwd: cwd(), ready: key.ready })
    if (lines.length <= LONG) return toast(lines.join("\n"), ok ? "success" : "warning")
    const message = fit(lines.slice(0, MOST).join("\n"), 6000)
    api.ui.dialog.replace(() => createComponent(api.ui.DialogAlert, { title: "Plan", message, onConfirm: close }))
    api.ui.dialog.setSize?.("large")
  }

  const close = () => api.ui.dialog.clear()

  const ask = (verb, title, placeholder) => () =>
    api.ui.dialog.replace(() => createComponent(api.ui.DialogPrompt, { title, placeholder, onConfirm: (text) => (close(), text.trim() && carry(`${verb} ${text}`)), onCancel: close }))

  const pick = (verb, title, statuses, why = "") => () => {
    const items = ((isOpen() && plan()?.items) || []).filter((item) => statuses.includes(item.status))
    if (!items.length) return toast("there is no such item", "info")
    const options = items.map((item) => ({ title: fit(`${SIGNS[item.status]} ${item.id} ${item.text}`, 56), value: item.id }))
    api.ui.dialog.replace(() => createComponent(api.ui.DialogSelect, { title, options, current: plan()?.active[0]?.id, onSelect: (option) => (close(), carry(`${verb} ${option.value} ${why}`)) }))
  }

  const at_once = (verb) => () => (close(), void carry(verb))
  const OPEN = ["in_progress", "pending", "blocked"]
  const COMMANDS = [
    ["add", "Plan: add an item", ask("add", "Add an item to the plan", "What is to be done")],
    ["done", "Plan: mark an item done", pick("done", "Mark done", OPEN)],
    ["start", "Plan: start an item", pick("start", "Start", ["pending", "blocked"])],
    ["drop", "Plan: give an item up", pick("drop", "Give up", OPEN, "dropped by the user")],
    ["reopen", "Plan: open a finished item again", pick("reopen", "Open again", ["completed", "abandoned"])],
    ["undo", "Plan: undo the last change", at_once("undo")],
    ["redo", "Plan: redo what was undone", at_once("redo")],
    ["pause", "Plan: pause the agent", ask("pause", "Pause the agent", "Why")],
    ["resume", "Plan: end the pause", at_once("resume")],
    ["verify", "Plan: run the checks of finished items", at_once("verify")],
    ["list", "Plan: the complete list in the sidebar, or a part", () => (close(), setFull((was) => !was))],
  ]

  const choose = () => {
    const options = COMMANDS.map(([verb, title, run]) => ({ title: title.slice(6, 7).toUpperCase() + title.slice(7), value: verb, onSelect: run }))
    const now = isOpen() ? plan() : undefined
    const title = now?.total ? `Plan ${progress(now)}` : "Plan"
    api.ui.dialog.replace(() => createComponent(api.ui.DialogSelect, { title, options }))
  }

  const command = (name, title, run, more) => ({ name: `punchlist.${name}`, title, category: "Plan", namespace: "palette", run: () => void run(), ...more })

  api.keymap.registerLayer({
    commands: [command("show", "Plan: what you can do with it", choose, { slashName: COMMAND, slashAliases: ALIASES }), ...COMMANDS.map(([verb, title, run]) => command(verb, title, run))],
  })

  // `/plan add TEXT` and Enter: it is for us, and not a prompt for the model.
  const intercept = ({ event, consume }) => {
    const input = api.renderer.currentFocusedRenderable
    if (event?.name !== "return" || event.shift || event.ctrl || event.meta || api.mode.current() !== "base") return
    const text = typeof input?.plainText === "string" ? input.plainText : ""
    const typed = TYPED.exec(text.trim())
    if (!typed || (!typed[1] && text === text.trimEnd())) return // opencode itself opens the menu
    consume?.()
    event.preventDefault?.()
    event.stopPropagation?.()
    input.setText("")
    void carry(typed[1] || "show")
  }
  try {
    api.keymap.intercept?.("key", intercept, { priority: 1000 })
  } catch {
    // the commands are still in the palette
  }

  api.slots.register({
    order: 150, // below what opencode says of the session, above its servers and its own list
    slots: {
      sidebar_content: (_context, props) => createComponent(View, props),
      session_prompt_right: (_context, props) => createComponent(Short, props),
    },
  })

  api.lifecycle.onDispose(() => {
    watch?.stop()
    key.stop()
  })
}

export default { id: "punchlist", tui }
