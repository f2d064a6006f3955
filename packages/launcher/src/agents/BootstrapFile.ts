import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { JsonObject } from "../Json.ts"

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/**
 * Writes a bootstrap file that lives as long as the scope (launch-details section 5.5). It holds a credential: only the
 * service's own user may read it, and a folder that belongs to somebody else is refused (`chmod` fails there).
 */
export const bootstrapFile = Effect.fn("BootstrapFile.write")(function* (
  folder: string,
  runId: string,
  participantId: string,
  content: JsonObject
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(folder, { recursive: true, mode: FOLDER_MODE })
  yield* fs.chmod(folder, FOLDER_MODE)
  const now = yield* Clock.currentTimeMillis
  const file = path.join(folder, `${fileNamePart(runId)}_${fileNamePart(participantId)}_${now}.json`)
  return yield* Effect.acquireRelease(
    // "wx": a file or link that is already there under this name was not put there by us.
    Effect.as(fs.writeFileString(file, JSON.stringify(content), { flag: "wx", mode: FILE_MODE }), file),
    () => Effect.ignore(fs.remove(file, { force: true }))
  )
})

/** A participant id may hold anything, path separators included. */
const fileNamePart = (text: string) => text.replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 80)
