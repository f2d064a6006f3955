/**
 * Measures the event loop of the process that preloads this file (`--import`). Processor time of the thread between two
 * ticks of a timer, so a pause of the machine does not count: it is the work of one turn of the loop. A signal prints
 * the largest since the signal before.
 */
const TICK_MS = 1

let last = process.threadCpuUsage()
let longest = 0
let prints = 0

const tick = () => {
  const { system, user } = process.threadCpuUsage()
  longest = Math.max(longest, system + user - last.system - last.user)
  last = { system, user }
}
setInterval(tick, TICK_MS).unref()

process.on("SIGUSR2", () => {
  tick()
  prints += 1
  process.stdout.write(`step ${prints}: ${longest / 1_000} ms\n`)
  longest = 0
})
