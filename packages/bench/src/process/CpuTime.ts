import { existsSync, readdirSync, readFileSync } from "node:fs"
import * as Effect from "effect/Effect"

/** Clock ticks a second in /proc, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/**
 * CPU seconds that a server has used with all its children, the ones that have ended included: what a PostgreSQL
 * postmaster and its backends cost. Undefined without /proc.
 */
export const cpuSecondsOfTree = (pid: number): Effect.Effect<number | undefined> =>
  Effect.sync(() => {
    const root = statOf(pid)
    if (root === undefined) return undefined
    const ticks = childrenOf(pid).reduce((sum, { own, reaped }) => sum + own + reaped, root.own + root.reaped)
    return ticks / TICKS_PER_SECOND
  })

/**
 * CPU seconds that the machine has spent on anything since it started, hypervisor's theft included. Undefined
 * without /proc.
 */
export const machineCpuSeconds: Effect.Effect<number | undefined> = Effect.sync(() => {
  const line = readIfThere("/proc/stat")?.split("\n", 1)[0]
  return line === undefined ? undefined : busyTicks(line) / TICKS_PER_SECOND
})

/**
 * The first line of /proc/stat without the idle times, which are the fourth and the fifth, and without the guests, who
 * are counted twice.
 */
export const busyTicks = (line: string): number =>
  line
    .trim()
    .split(/\s+/)
    .slice(1, 9)
    .reduce((sum, ticks, index) => (index === 3 || index === 4 ? sum : sum + Number(ticks)), 0)

/** The children of a process with their CPU time; none without /proc. */
export const childrenOf = (pid: number) =>
  (existsSync("/proc") ? readdirSync("/proc") : []).flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    return stat?.parent === pid ? [{ ...stat, pid: Number(name) }] : []
  })

const statOf = (pid: number) => {
  const text = readIfThere(`/proc/${pid}/stat`)
  return text === undefined ? undefined : parseStat(text)
}

/** A process may end during the read, and systems other than Linux have no such file. */
const readIfThere = (file: string) => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}

/** The fields of proc(5) that follow the command, which may itself hold blanks and brackets. */
export const parseStat = (text: string) => {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const at = (index: number) => Number(fields[index] ?? 0)
  return { parent: at(1), own: at(11) + at(12), reaped: at(13) + at(14) }
}
