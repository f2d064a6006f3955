import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { UnreadableFile } from "../common/LaunchErrors.ts"
import { DIRECTORY_KEYS, unknownKeys } from "./KnownKeys.ts"
import { decodePart, PeopleDocument } from "./PackDocuments.ts"
import type { PackFault } from "./PackFault.ts"
import type { PackFiles } from "./PackFiles.ts"

/** The file of a pack with its people and their groups (docs/reference/people.md#the-directory). */
export const PEOPLE_FILE = "people.yaml"

/**
 * The people of a pack; undefined without the file. One that is empty or cannot be read costs its pack: as an absent
 * one it would let every group pass.
 */
export const readPeopleFile = Effect.fnUntraced(function* <R>(
  files: PackFiles,
  directory: string,
  warn: (file: string, faults: ReadonlyArray<PackFault>) => Effect.Effect<void, never, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(directory, PEOPLE_FILE)
  const name = files.nameOf(file)
  const exists = yield* Effect.mapError(
    fs.exists(file),
    ({ reason }) => new UnreadableFile({ message: `${name} cannot be read: ${reason._tag}` })
  )
  if (!exists) return undefined
  const document = (yield* files.read(file)) ?? null
  yield* warn(name, unknownKeys(document, DIRECTORY_KEYS))
  return (yield* Effect.fromResult(decodePart(PeopleDocument, document, name, ""))).people
})
