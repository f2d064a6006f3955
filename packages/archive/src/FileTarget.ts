import { randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import * as Effect from "effect/Effect"
import { ArchiveFault, type ArchiveFaultKind } from "./ArchiveFault.ts"
import type { ArchiveTarget } from "./ArchiveStore.ts"

/** Rights of a made directory and of a file: the texts of all runs are for the user of the service alone. */
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

/** Temporary files begin with a dot and end so: no engine reads them. */
const TEMPORARY = ".tmp"

/**
 * An archive in a directory, which is made when it is missing. A file is written beside its path, synchronised, and
 * renamed; then its directory is synchronised.
 */
export const fileTarget = (root: string): ArchiveTarget => {
  const at = (path: string) => join(root, ...path.split("/"))
  return {
    url: `file://${root}`,
    put: (path, bytes) => attempt(path, () => put(at(path), bytes)),
    size: (path) => attempt(path, async () => (await stat(at(path))).size),
    read: (path, from, to) => attempt(path, () => withFile(at(path), "r", (file) => readAll(file, from, to))),
    list: (prefix) =>
      attempt(prefix, async () => {
        const names = await readdir(at(prefix), { recursive: true, withFileTypes: true }).catch(orEmpty)
        return names
          .filter((entry) => entry.isFile() && !entry.name.endsWith(TEMPORARY))
          .map((entry) =>
            join(entry.parentPath, entry.name)
              .slice(root.length + 1)
              .replaceAll("\\", "/")
          )
          .toSorted()
      }),
    remove: (path) =>
      attempt(path, async () => {
        await rm(at(path), { force: true })
        await sync(dirname(at(path))).catch(ifThere)
      })
  }
}

const put = async (path: string, bytes: Uint8Array) => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE })
  const prefix = `.${basename(path)}.`
  // What a process that was killed left of the same file.
  for (const name of await readdir(folder)) {
    if (name.startsWith(prefix) && name.endsWith(TEMPORARY)) await rm(join(folder, name), { force: true })
  }
  const temporary = join(folder, `${prefix}${randomUUID()}${TEMPORARY}`)
  try {
    await withFile(temporary, "wx", async (file) => {
      await file.writeFile(bytes)
      await file.sync()
    })
    await rename(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true })
    throw cause
  }
  await sync(folder)
}

const sync = (folder: string) => withFile(folder, "r", (file) => file.sync())

const withFile = async <A>(path: string, flags: string, use: (file: FileHandle) => Promise<A>): Promise<A> => {
  const file = await open(path, flags, FILE_MODE)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

const readAll = async (file: FileHandle, from: number, to: number): Promise<Uint8Array<ArrayBuffer>> => {
  const bytes = new Uint8Array(Math.max(0, to - from))
  let read = 0
  while (read < bytes.length) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, from + read)
    if (bytesRead === 0) throw new ArchiveFault({ kind: "unreadable", message: "the file is shorter than it was" })
    read += bytesRead
  }
  return bytes
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

const orEmpty = (cause: unknown): [] => {
  if (codeOf(cause) === "ENOENT") return []
  throw cause
}

const ifThere = (cause: unknown): void => {
  if (codeOf(cause) !== "ENOENT") throw cause
}

const KINDS: Readonly<Record<string, ArchiveFaultKind>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "refused",
  EPERM: "refused",
  EROFS: "refused",
  ENOENT: "missing",
  ENOTDIR: "missing",
  EIO: "unreachable",
  ESTALE: "unreachable",
  ETIMEDOUT: "unreachable"
}

const attempt = <A>(path: string, run: () => Promise<A>): Effect.Effect<A, ArchiveFault> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => {
      if (cause instanceof ArchiveFault) return cause
      const code = codeOf(cause)
      const why = cause instanceof Error ? cause.message : String(cause)
      return new ArchiveFault({ kind: KINDS[code] ?? "failed", message: `${path}: ${why}` })
    }
  })
