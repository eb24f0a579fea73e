// `claude plugin test` runs this. Each hook here stands for the engine: a call on `$` is answered by `{ value }`.
import { expect, mock, test } from 'claude-code/testing'
import type { TestBody } from 'claude-code/testing'
import type { Panel } from '../types'

const BAND = {
  plugin: 'punchlist',
  component: 'AbovePrompt',
  viewport: { columns: 80, rows: 24 },
  props: {
    hasSurvey: false,
    isCollapsed: false,
    isWorking: false,
    maxRows: 7,
    bodyColumns: 75,
    scroll: { offset: 0, bodyRows: 6 },
    view: {},
  },
} as const
const SURFACES = ['terminal', 'desktop', 'mobile'] as const
const PANEL: Panel = {
  plan: 'p1',
  expanded: false,
  short: [
    { id: '2', status: 'in_progress', spans: [['▶ ', 'now'], ['2 ', 'dim'], ['Fix <Box>{x}</Box> ${y} "it"', 'bold']] },
    { spans: [['━━', 'good'], ['╌╌ 1/3', 'dim'], ['  Next: 3 Ship it', 'dim']] },
  ],
  long: [
    { spans: [['Plan  1/3', 'bold']] },
    { id: '2', status: 'in_progress', spans: [['▶ 2 Fix it', 'now']] },
    { id: '3', status: 'pending', spans: [['○ 3 Ship it', '']] },
  ],
}

const ANSWER = { exitCode: 0, stdout: 'added 4 "x".\n', stderr: '' }

type On = Parameters<TestBody>[1]
type Ran = { argv: readonly string[]; lines: string[]; watchers: string[] }

/** A Claude Code in which the first watcher prints this and ends, as do the later ones, and a command answers so. */
function engine(on: On, printed: string[], answer = ANSWER, later = printed) {
  const ran: Ran = { argv: [], lines: [], watchers: [] }
  const clock = mock.clock(on)
  on('session.start', (_, e) => ({ cwd: e.cwd }))
  on('session.id', () => ({ value: 's1' }))
  on('command.register', (_, e) => ({ value: { command: e.name } }))
  on('ui.toast', () => ({ value: undefined }))
  on('ui.log', (_, e) => {
    ran.lines.push(e.text)
    return { value: undefined }
  })
  on('process.spawn', async function* (_, e) {
    ran.watchers.push(e.argv.slice(1).join(' '))
    for (const text of ran.watchers.length === 1 ? printed : later) yield { stream: 'stdout' as const, text }
    return { value: { code: 1, signal: null } }
  })
  on('process.run', (_, e) => {
    ran.argv = e.argv
    return { value: { ...answer, isStdoutTruncated: false, isStderrTruncated: false } }
  })
  return { ran, clock }
}

const TYPED = { command: 'todo', origin: { kind: 'composer' }, presentation: { isFullscreen: true, columns: 80 } } as const
const START = { cwd: '/', surface: 'terminal', isInteractive: true } as const

test('the rows are drawn as they came, on every surface that draws', async ($, on) => {
  const whole = JSON.stringify(PANEL)
  engine(on, [whole.slice(0, 30), `${whole.slice(30)}\n{"half`])
  await $.session.start(START)
  for (const surface of SURFACES) {
    const first = await $.ui.mount({ ...BAND, surface })
    await first.unmount()
    const ui = await $.ui.mount({ ...BAND, surface })
    const row = await ui.find({ type: 'Button', key: 'row-0' })
    expect(row?.text).toBe('▶ 2 Fix <Box>{x}</Box> ${y} "it"')
    await ui.unmount()
  }
})

test('a press opens the list, and another one does what it says to an item', async ($, on) => {
  const { ran } = engine(on, [`${JSON.stringify(PANEL)}\n`])
  const high = { ...BAND, viewport: { columns: 80, rows: 50 }, props: { ...BAND.props, maxRows: 20 } }
  await $.session.start(START)
  await (await $.ui.mount({ ...high, surface: 'terminal' })).unmount()
  const ui = await $.ui.mount({ ...high, surface: 'terminal' })
  await ui.press({ key: 'row-0' })
  expect((await ui.find({ type: 'Button', key: 'row-2' }))?.text).toBe('○ 3 Ship it')
  await ui.press({ key: 'row-2' })
  await ui.press({ key: 'start-3' })
  expect(ran.argv.slice(1)).toEqual(['slash', '--session', 's1', '--', 'start 3 '])
  await ui.input({ key: 'add', text: '--help $(x)' })
  expect(ran.argv.slice(1)).toEqual(['slash', '--session', 's1', '--', 'add --help $(x)'])
  await ui.unmount()
})

test('what is typed behind /todo is one argument, and its answer is a line for the user alone', async ($, on) => {
  const { ran } = engine(on, [`${JSON.stringify(PANEL)}\n`])
  await $.session.start(START)
  await (await $.ui.mount({ ...BAND, surface: 'terminal' })).unmount()
  const done = await $.command.run({ ...TYPED, args: `add "x" '; rm -rf $HOME` })
  expect(ran.argv.slice(1)).toEqual(['slash', '--session', 's1', '--', `add "x" '; rm -rf $HOME`])
  expect(ran.lines).toEqual(['added 4 "x".'])
  expect(done.text).toBe(undefined)
})

test('where nothing is drawn the answer is the output of the command', async ($, on) => {
  engine(on, [], { exitCode: 2, stdout: '', stderr: "/todo has no 'x'\u001b[31m\n" })
  await $.session.start({ ...START, surface: null, isInteractive: false })
  expect((await $.command.run({ ...TYPED, args: 'x' })).text).toBe("/todo has no 'x'�[31m")
})

test('nothing is drawn without a plan, and none of what a crash prints', async ($, on) => {
  engine(on, ['Traceback: \n', 'null\n', '{"short": 3}\n'])
  on('ui.render', ($, e) => {
    const { Text } = $.ui.resolve(e)
    return <Text>engine</Text>
  })
  await $.session.start(START)
  for (const surface of SURFACES) {
    await (await $.ui.mount({ ...BAND, surface })).unmount()
    const ui = await $.ui.mount({ ...BAND, surface })
    expect((await ui.find({ type: 'Text' }))?.text).toBe('engine')
    await ui.unmount()
  }
})

test('a text that a screen would obey is drawn without that', async ($, on) => {
  const hostile = { ...PANEL, short: [{ spans: [['a\u001b[31m\u202eb', '']] }] }
  engine(on, [`${JSON.stringify(hostile)}\n`])
  await $.session.start(START)
  await (await $.ui.mount({ ...BAND, surface: 'terminal' })).unmount()
  const ui = await $.ui.mount({ ...BAND, surface: 'terminal' })
  expect((await ui.find({ type: 'Button', key: 'row-0' }))?.text).toBe('a�[31m�b')
  await ui.unmount()
})

test('the watcher is started for the session and the size of the band, and again after it ended', async ($, on) => {
  const { ran, clock } = engine(on, [`${JSON.stringify(PANEL)}\n`])
  await $.session.start(START)
  expect(ran.watchers).toEqual([])
  for (const columns of [75, 75, 55]) {
    const ui = await $.ui.mount({ ...BAND, surface: 'terminal', props: { ...BAND.props, bodyColumns: columns } })
    await ui.unmount()
  }
  const [wide, narrow] = ['watch --json --size 75x6 --session s1', 'watch --json --size 55x6 --session s1']
  expect(ran.watchers).toEqual([wide, narrow])
  await clock.advance(1_000)
  expect(ran.watchers).toEqual([wide, narrow, narrow])
  await clock.advance(1_000)
  expect(ran.watchers).toEqual([wide, narrow, narrow])
  await clock.advance(1_000)
  expect(ran.watchers).toEqual([wide, narrow, narrow, narrow])
})

test('an old plan does not stay where Punchlist no longer runs', async ($, on) => {
  const { clock } = engine(on, [`${JSON.stringify(PANEL)}\n`], ANSWER, [])
  on('ui.render', ($, e) => {
    const { Text } = $.ui.resolve(e)
    return <Text>engine</Text>
  })
  await $.session.start(START)
  await (await $.ui.mount({ ...BAND, surface: 'terminal' })).unmount()
  const ui = await $.ui.mount({ ...BAND, surface: 'terminal' })
  expect((await ui.find({ type: 'Button', key: 'row-0' }))?.text).toContain('2 Fix')
  await clock.advance(1_000)
  expect((await ui.find({ type: 'Text' }))?.text).toBe('engine')
  await ui.unmount()
})
