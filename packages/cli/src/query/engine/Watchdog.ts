import { readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { EngineOutcome, EngineRequest } from "./Exchange.ts"

/** Pauses between two checks of the memory, and of the temporary files. Milliseconds. */
const MEMORY_MS = 50
const DISK_MS = 500
/** What Node and the code of DuckDB use, and temporary files of a moment. Bytes. */
const PROCESS_BYTES = 512 * 1024 * 1024

const bytesIn = (folder: string): number => {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true }).reduce((sum, entry) => {
      const found = entry.isFile() ? statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false }) : undefined
      return sum + (found?.size ?? 0)
    }, 0)
  } catch {
    // A folder that DuckDB removes meanwhile; the next check follows.
    return 0
  }
}

/**
 * Reports a process that uses more than its bounds. DuckDB's own limits do not count all: the texts of a vector, as in
 * `repeat('x', 2000000000)`, and files that a function writes.
 */
export const watchBounds = ({ disk, memory, spill }: EngineRequest, report: (outcome: EngineOutcome) => void): void => {
  const most = memory * 1.25 + PROCESS_BYTES
  setInterval(() => {
    if (process.memoryUsage.rss() > most) report({ _tag: "Beyond", bound: "memory" })
  }, MEMORY_MS).unref()
  setInterval(() => {
    if (bytesIn(spill) > disk + PROCESS_BYTES) report({ _tag: "Beyond", bound: "disk" })
  }, DISK_MS).unref()
}

/** The process that started this one is gone, so it cannot remove the temporary files. */
export const removeAndEnd = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true })
  process.kill(process.pid, "SIGKILL")
}
