import { execFileSync } from "node:child_process"

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

const table = (): ReadonlyArray<Entry> =>
  execFileSync("ps", ["-eo", "pid=,ppid=,stat="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state = "Z"]) => !state.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }))
