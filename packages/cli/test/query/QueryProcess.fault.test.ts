import { mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import { S3_CREDENTIALS, type S3Server, startProgram, startS3Server, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { bytesOfRows, eventRowOf, openFolder, pathOf, putRows, runRowOf } from "./Archives.ts"

const MAIN = join(import.meta.dirname, "../../src/main.ts")
const ENDLESS = "SELECT count(*) FROM events, range(1000000000) a, range(1000000000) b"
/** The interrupt of DuckDB does not reach this function. */
const DEAF = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000)) FROM events"

/** `runplane query` in a process of its own, with a folder for its temporary files. */
const startQuery = Effect.fnUntraced(function* (args: ReadonlyArray<string>, settings: NodeJS.ProcessEnv = {}) {
  const temporary = join(yield* openFolder, "tmp")
  mkdirSync(temporary)
  const env = { PATH: process.env["PATH"], TMPDIR: temporary, ...settings }
  const program = yield* startProgram(MAIN, { args: ["query", ...args], env })
  const files = () => readdirSync(temporary, { recursive: true, encoding: "utf8" })
  return { ...program, files, temporary }
})

const pidIn = (temporary: string) =>
  readdirSync("/proc").find((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).startsWith(temporary)
    } catch {
      // A process that has ended, or of another user.
      return false
    }
  })

/** Seconds of CPU that the process of DuckDB has used, which works in the temporary folder. */
const cpuSecondsIn = (temporary: string) =>
  Effect.sync(() => {
    const pid = pidIn(temporary)
    if (pid === undefined) return 0
    const [, , , , , , , , , , , user = "0", system = "0"] =
      readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()?.split(" ") ?? []
    return (Number(user) + Number(system)) / 100
  })

const keysOf = ({ endpoint }: S3Server): NodeJS.ProcessEnv => ({
  AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  AWS_ENDPOINT_URL: endpoint
})

/** A bucket with an archive of one run and one event. */
const startBucket = Effect.gen(function* () {
  const store = yield* startS3Server
  store.objects.set(`/bucket/a/${pathOf("events", 1, 1)}`, bytesOfRows("events", [eventRowOf(1)]))
  store.objects.set(`/bucket/a/${pathOf("runs", 1, 1)}`, bytesOfRows("runs", [runRowOf("run-1", 1)]))
  return store
})

layer(Layer.empty, { excludeTestServices: true })("the process of runplane query", (it) => {
  it.effect("copies the files of a bucket, and removes them when it succeeds and when it fails", () =>
    Effect.gen(function* () {
      const store = yield* startBucket
      const sql = "SELECT run_id FROM runs"
      const away = yield* startS3Server
      away.disturb = () => "cut"
      const wrong = { AWS_SECRET_ACCESS_KEY: "wrong" }
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, NodeJS.ProcessEnv, number, RegExp]> = [
        [[sql, "--csv", "--archive", "s3://bucket/a"], {}, 0, /^run_id\nrun-1$/],
        [["SELECT nope FROM runs", "--archive", "s3://bucket/a"], {}, 2, /line 1, column 8: /],
        [[sql, "--archive", "s3://bucket/a", "--max-download", "1KiB"], {}, 1, /1 files of s3:.* more than --max-down/],
        [[sql, "--archive", "s3://bucket/a"], wrong, 4, /SignatureDoesNotMatch/],
        [[sql, "--archive", "s3://other/a"], {}, 1, /NoSuchBucket/],
        [[sql, "--archive", "s3://bucket/a"], { AWS_ENDPOINT_URL: away.endpoint }, 5, /list a\/runs\/: /]
      ]
      const run = ([args, settings, code, expected]: (typeof cases)[number]) =>
        Effect.gen(function* () {
          const { ended, files } = yield* startQuery(args, { ...keysOf(store), ...settings })
          const end = yield* ended
          const text = [...end.stdout, ...end.stderr].join("\n")
          assert.deepStrictEqual([end.code, files()], [code, []], text)
          assert.match(text, expected)
        })
      yield* Effect.forEach(cases, run, { concurrency: 3 })
      assert.isFalse(store.requests.some((request) => /GET .*\/events\/.*parquet/.test(request)))
    })
  )

  it.effect.runIf(process.platform === "linux")("ends at once on a signal, and removes its files", () =>
    Effect.gen(function* () {
      const store = yield* startBucket
      // A file whose bytes never arrive.
      store.objects.set(`/bucket/b/${pathOf("runs", 1, 1)}`, bytesOfRows("runs", [runRowOf("run-1", 1)]))
      store.disturb = (request) => (/^GET .*\/b\/.*parquet/.test(request) ? "silent" : undefined)
      const cases: ReadonlyArray<readonly [string, string, NodeJS.Signals, number | null]> = [
        [ENDLESS, "s3://bucket/a", "SIGINT", 130],
        [DEAF, "s3://bucket/a", "SIGTERM", 130],
        ["SELECT 1 FROM runs", "s3://bucket/b", "SIGINT", 130],
        // The process of DuckDB removes the files.
        [ENDLESS, "s3://bucket/a", "SIGKILL", null]
      ]
      const run = ([sql, url, signal, code]: (typeof cases)[number]) =>
        Effect.gen(function* () {
          const program = yield* startQuery([sql, "--archive", url], keysOf(store))
          const isInvolved = url.endsWith("/b")
            ? Effect.sync(() => program.files().length)
            : cpuSecondsIn(program.temporary)
          yield* until(isInvolved, (amount) => amount > 1)
          const { code: ended, stderr, stdout } = yield* program.kill(signal)
          assert.deepStrictEqual([ended, stdout, stderr], [code, [], []], sql)
          yield* until(Effect.sync(program.files), (files) => files.length === 0)
        })
      yield* Effect.forEach(cases, run, { concurrency: 2 })
    })
  )

  it.effect("ends a query that uses more memory than its bound, of which DuckDB has no account", () =>
    Effect.gen(function* () {
      const folder = yield* openFolder
      yield* putRows(fileTarget(folder), "events", [1, 1], [eventRowOf(1)])
      const archive = ["--archive", `file://${folder}`, "--memory", "64MiB"]
      const bombs = [
        // In one vector of DuckDB, and in one value that does not fit into the heap.
        "SELECT repeat('x', 50000000) AS y FROM events, range(2048)",
        `SELECT ${[1, 2, 3, 4].map((n) => `repeat('x', 120000000) AS y${n}`).join(", ")}, ENDED FROM events`
      ]
      const run = (sql: string) =>
        Effect.gen(function* () {
          const { ended, files } = yield* startQuery([sql.replace(", ENDED", ""), ...archive])
          const { code, stderr, stdout } = yield* ended
          assert.deepStrictEqual([code, stdout, files()], [1, [], []])
          assert.match(stderr.join("\n"), /^runplane: .*more memory than --memory|less memory was available/)
          assert.lengthOf(stderr, 1)
        })
      yield* Effect.forEach(bombs, run, { concurrency: 2 })
    })
  )
})
