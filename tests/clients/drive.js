// Drives a GTP engine as Sabaki does, with Sabaki's own module: node drive.js SIZE KOMI COMMAND ARGUMENTS…
// What was seen goes out as one line of JSON.
const {ControllerStateTracker} = require('@sabaki/gtp')

const [size, komi, path, ...args] = process.argv.slice(2)
const tracker = ControllerStateTracker.fromController(path, args)
const engine = tracker.controller
const seen = {}

/** The content of an answer; a refusal is an error. */
async function ask(name, ...words) {
  const response = await engine.sendCommand({name, args: words})
  if (response.error) throw new Error(`${name} ${words.join(' ')}: ${response.content}`)
  return response.content
}

const play = (colour, vertex) => ({name: 'play', args: [colour, vertex]})

/** Analyses until the first line came, and then sends another command, which must end it. */
async function analyse(command) {
  let line = null
  let next = null
  const response = await engine.sendCommand({name: command, args: ['B', '5']}, event => {
    if (line == null && event.line.includes('info move')) {
      line = event.line
      next = ask('name')
    }
  })
  if (response.error) throw new Error(`${command}: ${response.content}`)
  return [line, await next]
}

async function main() {
  engine.on('stderr', ({content}) => console.error(content))
  engine.start()
  seen.name = await ask('name')
  seen.protocol = await ask('protocol_version')
  seen.knows = await tracker.knowsCommand('kata-genmove_analyze')

  // Positions, as when somebody clicks through a game tree.
  const first = [play('B', 'C3'), play('W', 'D4'), play('B', 'E3'), play('W', 'B2')]
  const boardsize = [Number(size), Number(size)]
  seen.boards = []
  for (const history of [first, first.slice(0, 3), [...first.slice(0, 2), play('B', 'A1')], []]) {
    await tracker.sync({komi: Number(komi), boardsize, history})
    seen.boards.push(await ask('showboard'))
  }
  seen.analyses = {}
  for (const command of ['analyze', 'lz-analyze', 'kata-analyze']) seen.analyses[command] = await analyse(command)
  seen.before = tracker.state.history.length

  // A whole game against itself, once with the plain command and once with the one that tells what it sees.
  seen.games = []
  for (const command of ['genmove', 'kata-genmove_analyze']) {
    await tracker.sync({history: []})
    const moves = []
    for (let passes = 0; passes < 2 && moves.length < 1000; ) {
      await ask(command, 'BW'[moves.length % 2])
      // The tracker reads the move off the answer; a resignation is no move.
      if (tracker.state.history.length === moves.length) break
      const move = tracker.state.history.at(-1).args[1].toUpperCase()
      moves.push(move)
      passes = move === 'PASS' ? passes + 1 : 0
    }
    seen.games.push({moves, score: await ask('final_score')})
  }
  await engine.stop()
  console.log(JSON.stringify(seen))
}

main().catch(async error => {
  console.error(error.stack)
  await engine.kill()
  process.exit(1)
})
