import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The data folder cannot be made, written or used. */
export class DataFolderUnusable extends Data.TaggedError("DataFolderUnusable")<{
  readonly folder: string
  readonly reason: string
}> {
  override get message() {
    return `data folder ${this.folder} cannot be used: ${this.reason}`
  }
}

/**
 * Makes a folder and those above it. One by one: where folders cannot be made at all (`/proc`), Node's `recursive`
 * never comes back, and on a read-only file system it names the wrong reason.
 */
export const makeFolder = (folder: string): void => {
  if (existsSync(folder)) {
    // Fails when it is something else than a folder.
    mkdirSync(folder, { recursive: true })
    return
  }
  const above = dirname(folder)
  if (!existsSync(above)) makeFolder(above)
  try {
    mkdirSync(folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  }
}

/** Runs an operation on the file system; its failure becomes one line about the folder. */
export const attempt = <A>(folder: string, use: () => A): Effect.Effect<A, DataFolderUnusable> =>
  Effect.try({ try: use, catch: (cause) => new DataFolderUnusable({ folder, reason: reasonOf(cause) }) })

const ELSEWHERE = "set RUNPLANE_DATA_DIR to a folder that you may write"

const REASONS: Readonly<Record<string, string>> = {
  EACCES: `permission denied; ${ELSEWHERE}`,
  EPERM: `permission denied; ${ELSEWHERE}`,
  EROFS: `the file system is read-only; ${ELSEWHERE}`,
  EXDEV: "it cannot be moved to another file system; delete it, or move it by hand",
  ENOENT: `no folder can be made there; ${ELSEWHERE}`,
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is a file",
  EEXIST: "its path is a file"
}

const reasonOf = (cause: unknown) => {
  if (!(cause instanceof Error)) return String(cause)
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : ""
  return REASONS[code] ?? cause.message
}
