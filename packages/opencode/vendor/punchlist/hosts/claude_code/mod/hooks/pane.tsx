// The plan above the prompt of Claude Code, live, and /todo to change it. Neither asks the model anything.
//
// Punchlist decides what is shown and what a command means: `punchlist watch --json --size` sends rows that are ready to
// draw, `punchlist slash` gets what was typed, as one argument and without a shell. This file draws, and passes on.
import { atom, read, update } from 'claude-code'
import type { EngineInterface, HookStream, ProcessSpawnChunk, ProcessSpawnResult, Register } from 'claude-code'
import type { Panel, Row } from '../types'

// Change the shape when a panel has another form: one of an older version, which outlives a reload, is then passed over
const panel = atom({ plugin: 'punchlist', key: 'panel' } as const, null, { shape: 'panel-1' })
const open = atom({ plugin: 'punchlist', key: 'open' } as const, null)
const picked = atom({ plugin: 'punchlist', key: 'picked' } as const, '')

const FIRST = 500 // milliseconds until a watcher that ended is started again; twice as long each time
const LONGEST = 60_000
const STEADY = 30_000 // one that ran so long has worked
const PATIENCE = 600_000 // for a command: checks take their time
const LOW = 30 // rows of a screen on which none is left blank
const ROOMY = 9 // rows of a band in which one is for adding an item
const JITTER = 3 // rows: the prompt and what is below it take a row more or less all the time, and no new list for that
const LOG_LINES = 3 // what is longer is printed as the output of the command
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

// What can be done to an item, by its status: a label, its key, and what Punchlist is asked for.
const ACTIONS: Record<string, [label: string, hotkey: string, verb: string, why: string][]> = {
  pending: [['start', 's', 'start', ''], ['done', 'd', 'done', ''], ['drop', 'x', 'drop', 'dropped by the user']],
  in_progress: [['done', 'd', 'done', ''], ['drop', 'x', 'drop', 'dropped by the user']],
  blocked: [['unblock', 'u', 'unblock', ''], ['done', 'd', 'done', ''], ['drop', 'x', 'drop', 'dropped by the user']],
  completed: [['reopen', 'o', 'reopen', '']],
  abandoned: [['reopen', 'o', 'reopen', '']],
}

type Engine = EngineInterface
type Child = HookStream<ProcessSpawnChunk, ProcessSpawnResult>

let session = '' // the one on the screen
let size = '' // of the band: COLUMNSxROWS
let height = 0 // rows of the list
let running = 0 // which of the watchers counts
let child: Child | null = null
let wake = () => {} // ends the wait for another session or size
let changed = new Promise<void>(done => (wake = done))
let isDrawn = false // whether anything here is ever drawn

/** Follow the plan of this session on a screen of this size; does nothing if that is done already. */
function follow(newSession: string, newSize: string) {
  if (newSession === session && newSize === size) return
  session = newSession
  size = newSize
  stop()
}

/** Have the present watcher end, and another one begin if there is something to follow. */
function stop() {
  running += 1
  const last = child
  child = null
  void last?.return({ code: null, signal: null }).catch(() => undefined)
  const heard = wake
  changed = new Promise(done => (wake = done))
  heard()
}

/** One watcher after the other, for as long as the session lasts: what a drawing starts would end with the next one. */
async function keepWatching($: Engine) {
  for (;;) {
    const next = changed
    if (session !== '' && size !== '') void watch($, running).catch(() => undefined) // this module was unloaded
    await next
  }
}

async function watch($: Engine, mine: number) {
  let pause = FIRST
  while (mine === running) {
    const started = await $.clock.now()
    if (mine !== running) return // another one was started meanwhile
    const hasSpoken = await drawFrom($, mine).catch(() => false)
    if (mine !== running) return
    if (!hasSpoken) await update($, panel, () => null) // rather no plan than an old one
    pause = (await $.clock.now()) - started > STEADY ? FIRST : Math.min(pause * 2, LONGEST)
    await $.clock.sleep(pause)
  }
}

/** Draw what a watcher sends until it ends; whether it has sent anything. */
async function drawFrom($: Engine, mine: number): Promise<boolean> {
  const made = $.process.spawn({ argv: [`${$.plugin.root}/bin/punchlist`, 'watch', '--json', '--size', size, '--session', session] })
  child = made
  let rest = ''
  let hasSpoken = false
  for await (const piece of made) {
    if (mine !== running) break
    if (piece.stream !== 'stdout') continue
    const lines = (rest + piece.text).split('\n')
    rest = lines.pop() ?? ''
    const last = lines.pop()
    if (last === undefined) continue
    hasSpoken = true
    await update($, panel, () => parsed(last))
  }
  return hasSpoken
}

/** Have Punchlist do what was typed; what it says. */
async function run($: Engine, words: string): Promise<string> {
  try {
    const argv = [`${$.plugin.root}/bin/punchlist`, 'slash', '--session', await $.session.id(), '--', words]
    const done = await $.process.run(argv, { timeoutMs: PATIENCE })
    return clean(`${done.stdout}${done.stderr}`).trim() || (done.exitCode === 0 ? 'done' : 'punchlist failed')
  } catch (error) {
    return `punchlist did not run: ${clean(String(error))}`
  }
}

async function press($: Engine, words: string) {
  await update($, picked, () => '')
  $.ui.toast(await run($, words))
}

export const register: Register = on => {
  on('session.start', async ($, e, next) => {
    const started = await next(e)
    await $.command.register({
      name: 'todo',
      description: 'The plan: open the list, or add, done, start, drop, undo, pause, verify... without the model',
      argumentHint: '[add TEXT | done ID | help]',
      immediate: true,
    })
    follow(await $.session.id(), size)
    void keepWatching($)
    return started
  })

  on('classic.SessionStart', async ($, e, next) => {
    follow(e.session_id, size) // after /clear and /resume the process goes on with another session
    return next(e)
  })

  on('session.end', async ($, e, next) => {
    stop()
    session = ''
    await update($, panel, () => null)
    await update($, open, () => null)
    return next(e)
  })

  on('command.run', { command: 'todo' }, async ($, e) => {
    const words = e.args.trim()
    const shown = await read($, panel)
    if (words === '' && isDrawn && shown !== null && shown.long.length > 0) {
      await update($, open, before => !(before ?? shown.expanded))
      return {}
    }
    const said = await run($, words)
    const lines = said.split('\n')
    if (!isDrawn || lines.length > LOG_LINES) return { text: said }
    for (const line of lines) $.ui.log(line) // the model is told of an edit by Punchlist, once: this row is yours alone
    return {}
  })

  on('ui.render', { component: 'AbovePrompt' }, async ($, e, next) => {
    isDrawn = true
    const room = Math.min(e.props.maxRows, Math.floor((e.viewport?.rows ?? LOW) / 2))
    const hasInput = room >= ROOMY
    const rows = Math.max(room - (hasInput ? 2 : 1), 3) // a row is for what can be done to an item
    if (Math.abs(rows - height) >= JITTER) height = rows
    follow(session, `${Math.max(e.props.bodyColumns, 20)}x${height}`)
    const shown = await read($, panel)
    const isOpen = (await read($, open)) ?? shown?.expanded ?? false
    const item = await read($, picked)
    const list = (isOpen ? shown?.long : shown?.short) ?? []
    if (e.props.hasSurvey || shown === null || list.length === 0) return next(e)

    const { Box, Button, Input, Text } = $.ui.resolve(e)
    const look = (row: Row) => row.spans.map(([text, style]) => <Text {...styled(style)}>{clean(text)}</Text>)
    const toggle = () => void update($, open, () => !isOpen)
    const pick = (id: string) => void update($, picked, before => (before === id ? '' : id))
    return (
      <Box flexDirection="column" marginTop={(e.viewport?.rows ?? LOW) > LOW ? 1 : 0}>
        {list.map((row, number) => {
          const id = isOpen ? row.id : undefined
          const isPicked = id !== undefined && id === item
          const isLast = isPicked && list[number + 1]?.id !== id
          return (
            <Box flexDirection="column">
              <Button key={`row-${number}`} plain onPress={() => (id === undefined ? toggle() : pick(id))}>
                {look(row)}
              </Button>
              {isLast && (
                <Box gap={2} paddingLeft={4}>
                  {(ACTIONS[row.status ?? ''] ?? []).map(([label, hotkey, verb, why]) => (
                    <Button
                      key={`${verb}-${id}`}
                      plain
                      label={label}
                      hotkey={hotkey}
                      onPress={() => void press($, `${verb} ${id} ${why}`)}
                    />
                  ))}
                </Box>
              )}
            </Box>
          )
        })}
        {isOpen && hasInput && (
          <Input key="add" label="add" placeholder="an item for the plan" submitLabel="add" value=""
            onSubmit={text => void (text.trim() !== '' && press($, `add ${text}`))} />
        )}
      </Box>
    )
  })
}

function parsed(line: string): Panel | null {
  try {
    const found = JSON.parse(line) as Panel
    return Array.isArray(found.short) && Array.isArray(found.long) ? found : null
  } catch {
    return null
  }
}

function styled(style: string) {
  const words = style.split(' ')
  const color = words.includes('good') ? 'success' : words.includes('bad') ? 'error' : words.includes('now') ? 'claude' : undefined
  return {
    ...(color !== undefined && { color }),
    ...(words.includes('dim') && { dimColor: true }),
    ...(words.includes('bold') && { bold: true }),
    ...(words.includes('strike') && { strikethrough: true }),
  }
}

/** Without characters that a screen would obey: Claude Code refuses to draw a text that has one. */
function clean(text: string): string {
  return text.replace(CONTROLS, '�')
}
