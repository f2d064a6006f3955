import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { failed } from "../CliFailure.ts"
import type { EngineOutcome, EngineRequest } from "./engine/Exchange.ts"

/** The version that is tested, which the catalog of the workspace pins. */
export const DUCKDB_PACKAGE = "@duckdb/node-api@1.5.6-r.1"

/** DuckDB, which is an optional package: 70 MB of native code. */
export const DuckDbModule = Context.Reference<string>("runplane/cli/DuckDbModule", {
  defaultValue: () => "@duckdb/node-api"
})

/** Fails when DuckDB is not installed, with the command that installs it. */
export const requireDuckDb = Effect.flatMap(DuckDbModule, (module) =>
  Effect.try({
    try: () => createRequire(import.meta.url).resolve(module),
    catch: () =>
      failed(
        `runplane query needs DuckDB: install it beside runplane, with npm install ${DUCKDB_PACKAGE}, and with -g ` +
          "for a global runplane"
      )
  })
)

/** Beside this file, or in the bundle. */
const ENTRY = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./engine/main.ts" : "./query-engine.js", import.meta.url)
)

/** The process gets these variables alone: SQL has no use for the keys of a bucket. */
const VARIABLES = ["HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PATH", "SystemRoot", "TEMP"]

const environment = () =>
  Object.fromEntries(
    VARIABLES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]))
  )

/** MiB of the heap for rows: a number of two bytes as JSON needs up to 30. */
const heapSize = (bytes: number) => 512 + Math.ceil((30 * bytes) / 2 ** 20)

const Outcome = Schema.fromJsonString(
  Schema.Union([
    Schema.TaggedStruct("Answer", {
      answer: Schema.Struct({
        columns: Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String })),
        rows: Schema.Array(Schema.Array(Schema.Json)),
        cut: Schema.optionalKey(Schema.Literals(["rows", "bytes"]))
      })
    }),
    Schema.TaggedStruct("Fault", { message: Schema.String }),
    Schema.TaggedStruct("Refused", {}),
    Schema.TaggedStruct("Parameters", {}),
    Schema.TaggedStruct("Unloadable", { message: Schema.String }),
    Schema.TaggedStruct("Beyond", { bound: Schema.Literals(["memory", "disk"]) })
  ])
)
const decode = Schema.decodeUnknownOption(Outcome)

/**
 * Runs a request in a process of its own, which ends with this effect: at once by SIGKILL, because no statement of
 * DuckDB can be stopped everywhere. It also ends when this process is killed.
 */
export const runEngine = (request: EngineRequest) =>
  Effect.callback<EngineOutcome, ReturnType<typeof failed>>((resume) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${heapSize(request.bounds.bytes)}`, ENTRY], {
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      cwd: request.folder,
      env: environment(),
      // Ctrl-C reaches this process, which then ends the other one.
      detached: process.platform !== "win32",
      windowsHide: true
    })
    const parts: Array<Buffer> = []
    const [input, , , outcome] = child.stdio
    input?.on("error", () => undefined)
    outcome?.on("error", () => undefined)
    outcome?.on("data", (part: Buffer) => parts.push(part))
    outcome?.once("end", () => child.kill("SIGKILL"))
    child.once("error", ({ message }) => resume(failed(`the process of the query cannot start: ${message}`)))
    child.once("close", (code, signal) =>
      resume(
        Option.match(decode(Buffer.concat(parts).toString("utf8")), {
          onSome: Effect.succeed,
          onNone: () =>
            failed(
              `the process of the query ended with ${signal ?? `code ${code}`}: less memory was available than the ` +
                "query needs, or DuckDB has a fault"
            )
        })
      )
    )
    input?.write(`${JSON.stringify(request)}\n`)
    return Effect.callback<void>((ended) => {
      if (child.exitCode !== null || child.signalCode !== null || !child.kill("SIGKILL")) return ended(Effect.void)
      child.once("exit", () => ended(Effect.void))
    })
  })
