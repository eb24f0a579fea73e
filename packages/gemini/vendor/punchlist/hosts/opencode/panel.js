// Written by `punchlist install opencode`; `punchlist uninstall opencode` removes it.
// Shows the plan in the sidebar of opencode's terminal, and carries out `/plan add ...` at once. Whatever fails, opencode goes on as without it.
// @SHARED@
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
