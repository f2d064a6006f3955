import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"

/** Whether a process with this id exists. One that ended but was not waited for yet does not count. */
export const isRunning = (pid: number): boolean => table().some((entry) => entry.pid === pid)

/** Ids of all processes that the given one started, directly or not. */
export const descendants = (root: number): ReadonlyArray<number> => {
  const entries = table()
  const found: Array<number> = []
  collect(entries, root, found)
  return found
}

interface Entry {
  readonly pid: number
  readonly parent: number
}

const collect = (entries: ReadonlyArray<Entry>, parent: number, found: Array<number>) => {
  for (const entry of entries) {
    if (entry.parent !== parent) continue
    found.push(entry.pid)
    collect(entries, entry.pid, found)
  }
}

// A slim container has no ps.
const table = (): ReadonlyArray<Entry> => (existsSync("/proc/self/stat") ? fromProc() : fromPs())

const fromProc = () =>
  readdirSync("/proc").flatMap((name): ReadonlyArray<Entry> => {
    if (!/^\d+$/.test(name)) return []
    try {
      // The name in parentheses may hold anything; state and parent come after it.
      const [state, parent] = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")
      return state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent) }]
    } catch {
      return [] // It ended meanwhile.
    }
  })

const fromPs = () =>
  execFileSync("ps", ["-eo", "pid=,ppid=,stat="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state = "Z"]) => !state.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }))
