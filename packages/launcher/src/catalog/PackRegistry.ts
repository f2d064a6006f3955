import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import type { InvalidPackData } from "../LaunchErrors.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import type { Catalog } from "./Catalog.ts"
import { makeInputSchemaCompiler } from "./InputSchema.ts"
import { loadCatalog } from "./PackLoader.ts"
import { type TracedFiles, traceFiles } from "./TracedFiles.ts"

/**
 * The catalog of scenario packs (launch-details section 1.1, last row). With a cache time of 0 ms every call sees the
 * files as they are now; otherwise one reading is served for that long. Calls that arrive during a reading share it,
 * and a failed reading is not kept. Files that have not changed since the last reading are looked at but not read
 * again, nor is its outcome worked out again. Fails with INVALID_PACK_DATA when any pack file is malformed (section
 * 1.7).
 */
export class PackRegistry extends Context.Service<
  PackRegistry,
  { readonly catalog: Effect.Effect<Catalog, InvalidPackData> }
>()("runplane/launcher/PackRegistry") {
  static readonly layer = Layer.effect(
    PackRegistry,
    Effect.gen(function* () {
      const { packsDir, registryCacheTtlMs } = yield* LauncherSettings
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const compileSchema = makeInputSchemaCompiler()
      const lastWarnings = yield* Ref.make("")

      const load = Effect.gen(function* () {
        const { catalog, warnings } = yield* loadCatalog(packsDir, compileSchema)
        // The same complaint at every request would bury the log: say it when it changes.
        const text = warnings.join("; ")
        const before = yield* Ref.getAndSet(lastWarnings, text)
        if (text !== "" && text !== before) yield* Effect.logWarning("some packs were left out", { warnings })
        return catalog
      })
      const read = Effect.provideContext(unlessUnchanged(load), context)

      return PackRegistry.of({ catalog: yield* reuse(read, registryCacheTtlMs) })
    })
  )

  /** A fixed catalog, for tests of what stands on top of it. */
  static readonly layerMemory = (catalog: Catalog) =>
    Layer.succeed(PackRegistry, PackRegistry.of({ catalog: Effect.succeed(catalog) }))
}

/** The outcome of the last time, a failure too, for as long as nothing has changed that it was made of. */
const unlessUnchanged = <A, E>(
  load: Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
): Effect.Effect<A, E, FileSystem.FileSystem | Path.Path> => {
  let last: { readonly files: TracedFiles; readonly exit: Exit.Exit<A, E> } | undefined
  return Effect.gen(function* () {
    if (last !== undefined && (yield* last.files.unchanged)) return yield* last.exit
    const files = traceFiles(yield* FileSystem.FileSystem)
    const exit = yield* Effect.exit(Effect.provideService(load, FileSystem.FileSystem, files.fs))
    last = { files, exit }
    return yield* exit
  })
}

/**
 * Serves one success for `ttlMs` milliseconds. Callers that arrive during a reading share its outcome; a failure is
 * then forgotten. The reading has a fiber of its own, so a caller that is interrupted does not take it away from the
 * others.
 */
const reuse = Effect.fnUntraced(function* <A, E>(read: Effect.Effect<A, E>, ttlMs: number) {
  const scope = yield* Effect.scope
  let kept: { readonly value: A; readonly readAt: number } | undefined
  let reading: Fiber.Fiber<A, E> | undefined

  const readAndKeep = Effect.gen(function* () {
    // A file may change while others are still being read, so the reading is as old as its beginning.
    const readAt = yield* Clock.currentTimeMillis
    const value = yield* read
    kept = { value, readAt }
    return value
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        reading = undefined
      })
    )
  )

  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (kept !== undefined && now - kept.readAt < ttlMs) return kept.value
    reading ??= yield* Effect.forkIn(readAndKeep, scope)
    return yield* Fiber.join(reading)
  })
})
