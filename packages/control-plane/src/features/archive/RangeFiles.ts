import { ArchiveStore, type EncodedFile } from "@runplane/archive"
import { type ArchiveRange, fileChanges } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { WrittenFile } from "./ArchiveState.ts"

/**
 * Makes the files of a committed range visible. A planned file without a row is removed: an earlier attempt may have
 * written it before its run was deleted.
 */
export const putFiles = Effect.fn("archive.putFiles")(function* (
  range: ArchiveRange,
  files: ReadonlyArray<EncodedFile>
) {
  const store = yield* ArchiveStore
  const written: Array<WrittenFile> = []
  const { puts, removals } = fileChanges(
    range,
    files.map(({ day }) => day)
  )
  for (const { day, path } of puts) {
    const file = files.find((one) => one.day === day)
    if (file === undefined) continue
    yield* store.put(path, file.bytes)
    written.push({ path, day, rows: file.rows, bytes: file.bytes.length })
  }
  yield* Effect.forEach(removals, store.remove, { discard: true })
  return written
})
