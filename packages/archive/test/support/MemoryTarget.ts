import { ArchiveFault, type ArchiveTarget } from "@runplane/archive"
import * as Effect from "effect/Effect"

/** An archive in memory that counts the bytes that were read. */
export const memoryTarget = (given: Readonly<Record<string, Uint8Array>> = {}) => {
  const files = new Map(Object.entries(given))
  let read = 0
  const find = (path: string) => {
    const bytes = files.get(path)
    return bytes === undefined
      ? Effect.fail(new ArchiveFault({ kind: "missing", message: `${path} does not exist` }))
      : Effect.succeed(bytes)
  }
  const target: ArchiveTarget = {
    url: "memory:",
    put: (path, bytes) => Effect.sync(() => void files.set(path, bytes)),
    size: (path) => Effect.map(find(path), ({ length }) => length),
    read: (path, from, to) =>
      Effect.map(find(path), (bytes) => {
        read += to - from
        return new Uint8Array(bytes.slice(from, to))
      }),
    list: (prefix) => Effect.sync(() => [...files.keys()].filter((path) => path.startsWith(prefix)).toSorted()),
    remove: (path) => Effect.sync(() => void files.delete(path))
  }
  return { ...target, files, bytesRead: () => read }
}
