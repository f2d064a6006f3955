import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import * as Effect from "effect/Effect"

const BUNDLER = fileURLToPath(new URL("../../../../scripts/bundle.mjs", import.meta.url))
/** The name that the entry of the bench has in the bundle. */
const NAME = "bench-service"
const ENTRY = fileURLToPath(new URL("./main.ts", import.meta.url))

/**
 * The bench's entry of the control plane, bundled with the programs as they are shipped, so that it shares their files,
 * and with a cache of compiled code of its own, as the image has one. The folder goes away with the scope.
 */
export const bundledService = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "runplane-bench-bundle-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const programs = join(folder, "programs")
  const args = [BUNDLER, programs, "--no-database", "--with", `${NAME}=${ENTRY}`]
  yield* Effect.promise(() => promisify(execFile)(process.execPath, args))
  return {
    entry: pathToFileURL(join(programs, "lib", `${NAME}.js`)),
    environment: { NODE_COMPILE_CACHE: join(folder, "compile-cache") }
  }
})
