// Without this: each start of a program in the fault and browser tests compiles its sources, for 4 s of CPU instead of
// 0.7 s.
import { execFile } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { temporaryFolder } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { TestProject } from "vitest/node"
import type {} from "./Bundle.ts"

const BUNDLER = join(import.meta.dirname, "../../../scripts/bundle.mjs")

/** Programs that only the tests have. */
const CHILDREN = {
  "crash-child": "packages/control-plane/test/crash/CrashChild.ts",
  "archive-child": "packages/control-plane/test/features/archive/ArchiveChild.ts",
  "receipt-child": "packages/control-plane/test/features/receipts/ReceiptChild.ts",
  "seat-child": "packages/launcher/test/people/kills/SeatChild.ts",
  "turn-child": "packages/launcher/test/people/turns/TurnChild.ts",
  "suspension-child": "packages/launcher/test/people/suspend/SuspensionChild.ts",
  "soak-child": "packages/launcher/test/people/kills/SoakChild.ts"
}

/** The optional package of `runplane query`, which a user installs beside the programs. */
const DUCKDB = "node_modules/@duckdb"

/** Bundles the programs of the checkout, as they are shipped, once for all fault tests or all browser tests. */
export default async function setup(project: TestProject) {
  const scope = Scope.makeUnsafe()
  const folder = await Effect.runPromise(Scope.provide(temporaryFolder, scope))
  const programs = join(folder, "programs")
  const children = Object.entries(CHILDREN).flatMap(([name, file]) => ["--with", `${name}=${file}`])
  // The fault tests need no console, and it is not built for them.
  const parts = project.name === "console" ? [] : ["--no-console"]
  await promisify(execFile)(process.execPath, [BUNDLER, programs, ...parts, ...children])
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(join(import.meta.dirname, "../../cli", DUCKDB), join(folder, DUCKDB))
  project.provide("programs", { folder: programs, cache: join(folder, "compile-cache") })
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
