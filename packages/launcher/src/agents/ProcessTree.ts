import { readdirSync, readFileSync } from "node:fs"

/** The variable that every process of an agent inherits, unless it clears its environment. */
export const AGENT_MARK = "RUNPLANE_AGENT"

/** A process of this machine. The system may give the id alone to another process later. */
export interface SeenProcess {
  readonly pid: number
  readonly parent: number
  /** When it started, in clock ticks of the machine. */
  readonly started: string
}

/**
 * The processes that a process has started, at any depth, and those with the mark, also when they have left the group
 * of the agent (`setsid`). A process whose parents have ended is found by the mark alone.
 * Linux only, where /proc shows processes; empty elsewhere.
 */
export const helpersOf = (pid: number, mark: string): ReadonlyArray<SeenProcess> => {
  const all = processNames()
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? [])
  const found = new Set<number>([pid, ...all.filter((seen) => hasMark(seen.pid, mark)).map((seen) => seen.pid)])
  const children = Map.groupBy(all, ({ parent }) => parent)
  // The iteration of a set includes the values that are added meanwhile.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.pid)
  return all.filter((seen) => seen.pid !== pid && found.has(seen.pid))
}

/** Sends a signal to those that are still the same processes. */
export const signalAll = (processes: ReadonlyArray<SeenProcess>, signal: NodeJS.Signals): void => {
  for (const { pid, started } of processes) {
    if (readProcess(pid)?.started !== started) continue
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Empty where there is no /proc. */
const processNames = (): ReadonlyArray<string> => {
  try {
    return readdirSync("/proc")
  } catch {
    return []
  }
}

// Synchronous, because the system answers from memory: 250 processes take some milliseconds, and a tenth of a second
// when each read goes through the thread pool.
const read = (file: string): string => {
  try {
    return readFileSync(file, "latin1")
  } catch {
    // It has ended, or belongs to another user.
    return ""
  }
}

const readProcess = (pid: number): SeenProcess | undefined => {
  const stat = read(`/proc/${pid}/stat`)
  // The name, in parentheses, may hold anything. After it come the state, the parent and, as the 20th, the start.
  const fields = stat.replace(/^.*\) /s, "").split(" ")
  const parent = fields[1]
  const started = fields[19]
  return parent === undefined || started === undefined ? undefined : { pid, parent: Number(parent), started }
}

/** Another user's process cannot be read, and an agent's own are the user's. */
const hasMark = (pid: number, mark: string): boolean => read(`/proc/${pid}/environ`).includes(`${AGENT_MARK}=${mark}\0`)
