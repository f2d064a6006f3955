import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const BUNDLER = fileURLToPath(new URL("../../../../scripts/bundle.mjs", import.meta.url))
/** The name that the entry of the bench has in the bundle. */
const NAME = "bench-service"
const SOURCES = new URL("./main.ts", import.meta.url)

/** Bundles the bench's entry with the programs as they are shipped, so that it shares their files. */
const bundled = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "runplane-bench-bundle-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const programs = join(folder, "programs")
  const args = [BUNDLER, programs, "--no-console", "--no-database", "--with", `${NAME}=${fileURLToPath(SOURCES)}`]
  yield* Effect.promise(() => promisify(execFile)(process.execPath, args))
  return {
    entry: pathToFileURL(join(programs, "lib", `${NAME}.js`)),
    environment: { NODE_COMPILE_CACHE: join(folder, "compile-cache") }
  }
})

/** What is run as the control plane. */
export class ServiceForm extends Context.Service<
  ServiceForm,
  { readonly entry: URL; readonly environment: Readonly<Record<string, string>> }
>()("runplane/bench/ServiceForm") {
  static readonly layerSource = Layer.succeed(ServiceForm, { entry: SOURCES, environment: {} })

  /**
   * As the image and the package `runplane` have it, with a cache of compiled code of its own. The bundle is made when
   * the layer is built and is removed with it.
   */
  static readonly layerBundle = Layer.effect(ServiceForm, bundled)
}
