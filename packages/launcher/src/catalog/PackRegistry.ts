import type { LauncherFault } from "@runplane/api"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import { invalidPackData } from "../common/LaunchErrors.ts"
import { LaunchPressure } from "../common/LaunchPressure.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import type { Catalog } from "./Catalog.ts"
import { cachedInputSchemaCompiler } from "./InputSchema.ts"
import { loadCatalog } from "./PackLoader.ts"
import { type TracedFiles, traceFiles } from "./TracedFiles.ts"

/** The NODE_ENV in which one broken file does not fail all packs, unless PACKS_STRICT says so. */
const PRODUCTION = "production"

/** How long one reading is used while launches wait for slots and the machine is busy, ms. */
const BUSY_TTL_MS = 1_000

/**
 * The catalog of scenario packs. With a cache time of 0 ms every call sees the files as they are now, except while
 * launches wait (docs/internals/launch.md#reading); otherwise one
 * reading is served for that long. Calls that arrive during a reading share it, and a failed reading is not kept. Files
 * that have not changed since the last reading are checked but not read again.
 * A malformed file fails it with INVALID_PACK_DATA where packs are strict, else only its pack is broken.
 */
export class PackRegistry extends Context.Service<
  PackRegistry,
  { readonly catalog: Effect.Effect<Catalog, LauncherFault> }
>()("runplane/launcher/PackRegistry") {
  static readonly layer = Layer.effect(
    PackRegistry,
    Effect.gen(function* () {
      const { environment, packsDir, packsStrict, registryCacheTtlMs } = yield* LauncherSettings
      const isStrict = packsStrict ?? environment !== PRODUCTION
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const compileSchema = cachedInputSchemaCompiler()
      const lastWarnings = yield* Ref.make("")

      const load = Effect.gen(function* () {
        const { catalog, warnings } = yield* Effect.mapError(
          loadCatalog(packsDir, compileSchema, isStrict),
          ({ message }) => invalidPackData(message)
        )
        // The same complaint at every request would bury the log: say it when it changes.
        const text = warnings.join("; ")
        const before = yield* Ref.getAndSet(lastWarnings, text)
        if (text !== "" && text !== before) yield* Effect.logWarning("the packs have faults", { warnings })
        return catalog
      })
      const read = Effect.provideContext(unlessUnchanged(load), context)
      const pressure = Option.getOrUndefined(yield* Effect.serviceOption(LaunchPressure))
      const isBusy = () => pressure !== undefined && pressure.waiting > 0
      const ttlMs = () => (isBusy() ? Math.max(registryCacheTtlMs, BUSY_TTL_MS) : registryCacheTtlMs)

      return PackRegistry.of({ catalog: yield* reuse(read, ttlMs) })
    })
  )

  /** A fixed catalog, for tests of the services that use it. */
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
 * Serves one success for `ttlMs` milliseconds from the beginning of its reading, for a file may change while others are
 * still being read. Callers that arrive during a reading share its outcome; a failure is then forgotten.
 */
const reuse = Effect.fnUntraced(function* <A, E>(read: Effect.Effect<A, E>, ttlMs: () => number) {
  const readings = yield* Cache.makeWith((_: "packs") => Effect.timed(read), {
    capacity: 1,
    timeToLive: Exit.match({
      onFailure: () => 0,
      onSuccess: ([took]) => Math.max(0, ttlMs() - Duration.toMillis(took))
    })
  })
  return Effect.map(Cache.get(readings, "packs"), ([, value]) => value)
})
