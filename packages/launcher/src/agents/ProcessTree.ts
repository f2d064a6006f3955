import { readdir, readFile } from "node:fs/promises"

/** The variable that every process of an agent inherits, unless it clears its environment. */
export const AGENT_MARK = "RUNPLANE_AGENT"

/** A process of this machine at one moment. The id alone may be another process's a moment later. */
export interface SeenProcess {
  readonly pid: number
  readonly parent: number
  /** When it started, in the machine's own count. */
  readonly started: string
}

/**
 * The processes that a process has started, at any depth, and those with the mark: what has left the group of an agent
 * by a session of its own (`setsid`) is among them. A process whose parents have ended is found by the mark alone.
 * Linux only, where /proc shows processes; empty elsewhere.
 */
export const helpersOf = async (pid: number, mark: string): Promise<ReadonlyArray<SeenProcess>> => {
  const names = await readdir("/proc").catch(() => [])
  const all = (
    await Promise.all(
      names
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .map(look)
    )
  ).filter(isSeen)
  const marked = await Promise.all(all.map((seen) => hasMark(seen.pid, mark)))
  const found = new Set<number>([pid, ...all.filter((_, at) => marked[at]).map((seen) => seen.pid)])
  const children = Map.groupBy(all, ({ parent }) => parent)
  // A set is walked over what is added to it meanwhile.
  for (const id of found) for (const child of children.get(id) ?? []) found.add(child.pid)
  return all.filter((seen) => seen.pid !== pid && found.has(seen.pid))
}

/** Sends a signal to those that are still the same processes. */
export const signalAll = async (processes: ReadonlyArray<SeenProcess>, signal: NodeJS.Signals): Promise<void> => {
  for (const { pid, started } of processes) {
    if ((await look(pid))?.started !== started) continue
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}

const isSeen = (seen: SeenProcess | undefined) => seen !== undefined

const look = async (pid: number): Promise<SeenProcess | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  // The name, in parentheses, may hold anything. Behind it stand the state, the parent and, as the 20th, the start.
  const fields = stat.replace(/^.*\) /s, "").split(" ")
  const parent = fields[1]
  const started = fields[19]
  return parent === undefined || started === undefined ? undefined : { pid, parent: Number(parent), started }
}

/** Another user's process cannot be read, and an agent's own are the user's. */
const hasMark = async (pid: number, mark: string): Promise<boolean> =>
  (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")).includes(`${AGENT_MARK}=${mark}\0`)
