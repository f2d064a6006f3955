import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import type { InvalidPackData } from "../LaunchErrors.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import type { Catalog } from "./Catalog.ts"
import { makeInputSchemaCompiler } from "./InputSchema.ts"
import { loadCatalog } from "./PackLoader.ts"

/**
 * The catalog of scenario packs (launch-details section 1.1, last row). With a cache time of 0 ms every call sees the files
 * as they are now; otherwise one reading is served for that long. Calls that arrive during a reading share it, and a failed
 * reading is not kept. Fails with INVALID_PACK_DATA when any pack file is malformed (section 1.7).
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

      const read = Effect.gen(function* () {
        const { catalog, warnings } = yield* loadCatalog(packsDir, compileSchema)
        // The same complaint at every request would bury the log: say it when it changes.
        const text = warnings.join("; ")
        const before = yield* Ref.getAndSet(lastWarnings, text)
        if (text !== "" && text !== before) yield* Effect.logWarning("some packs were left out", { warnings })
        return catalog
      }).pipe(Effect.provideContext(context))

      return PackRegistry.of({ catalog: yield* reuse(read, registryCacheTtlMs) })
    })
  )

  /** A fixed catalog, for tests of what stands on top of it. */
  static readonly layerMemory = (catalog: Catalog) =>
    Layer.succeed(PackRegistry, PackRegistry.of({ catalog: Effect.succeed(catalog) }))
}

/**
 * Serves one success for `ttlMs` milliseconds. Callers that arrive during a reading share its outcome; a failure is then
 * forgotten. The reading has a fiber of its own, so a caller that is interrupted does not take it away from the others.
 */
const reuse = Effect.fnUntraced(function* <A, E>(read: Effect.Effect<A, E>, ttlMs: number) {
  const scope = yield* Effect.scope
  let kept: { readonly value: A; readonly readAt: number } | undefined
  let reading: Fiber.Fiber<A, E> | undefined

  const readAndKeep = Effect.gen(function* () {
    const value = yield* read
    kept = { value, readAt: yield* Clock.currentTimeMillis }
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
