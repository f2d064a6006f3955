import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { closeSync, openSync, readdirSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun, endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { checkArchive, temporaryFolder } from "./Archives.ts"

/** A folder without space for a file of the archive while it is `full`. */
interface Disk {
  readonly folder: string
  readonly fill: () => void
  readonly empty: () => void
  /** What the kernel reports. */
  readonly says: string
}

class Stage extends Context.Service<Stage, { readonly disk: Disk; readonly lines: Array<string> }>()("test/Stage") {}

const run = (command: string, ...args: ReadonlyArray<string>) => execFileSync(command, args, { stdio: "pipe" })

const fill = (file: string) => {
  const block = Buffer.alloc(4_096, 1)
  const ballast = openSync(file, "w")
  try {
    while (true) writeSync(ballast, block)
  } catch (cause) {
    assert.match(String(cause), /ENOSPC/)
  } finally {
    closeSync(ballast)
  }
}

/** A file system of 1 MiB, of which the ballast takes all. */
const fileSystem: Effect.Effect<Disk, never, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  yield* Effect.acquireRelease(
    Effect.sync(() => run("mount", "-t", "tmpfs", "-o", "size=1m", "runplane-test", folder)),
    () => Effect.sync(() => run("umount", "-l", folder))
  )
  const ballast = join(folder, "ballast")
  return {
    folder,
    fill: () => fill(ballast),
    empty: () => rmSync(ballast),
    says: "ENOSPC: no space left on device, write"
  }
})

/** The soft limit of this process for the size of a file: smaller than any file that the test archives. Bytes. */
const LIMIT = 8_192

const limitFiles = (soft: string) => run("prlimit", "--pid", String(process.pid), `--fsize=${soft}:`)

const sizeLimit: Effect.Effect<Disk, never, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const empty = () => void limitFiles("unlimited")
  yield* Effect.addFinalizer(() => Effect.sync(empty))
  return { folder, fill: () => void limitFiles(String(LIMIT)), empty, says: "EFBIG: file too large, write" }
})

/** Whether this process may mount a file system. */
const refusalToMount = (): string | undefined => {
  const folder = run("mktemp", "-d").toString().trim()
  try {
    run("mount", "-t", "tmpfs", "-o", "size=1m", "runplane-test", folder)
    run("umount", folder)
    return undefined
  } catch (cause) {
    return String(cause instanceof Error ? cause.message : cause)
      .trim()
      .replaceAll("\n", " ")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const refusal = refusalToMount()
const means = [
  { name: "a limit of the size of files", disk: sizeLimit },
  ...(refusal === undefined ? [{ name: "a file system of 1 MiB that is full", disk: fileSystem }] : [])
]

const service = (disk: Effect.Effect<Disk, never, Scope.Scope>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        lines.push(`${logLevel}: ${[message].flat().join(" ")}`)
      })
      const stage = { disk: yield* disk, lines }
      const settings = { ARCHIVE_URL: `file://${stage.disk.folder}`, ARCHIVE_INTERVAL_MS: "1000" }
      return layerTestService({ settings }).pipe(
        Layer.provideMerge(Layer.succeed(Stage, stage)),
        Layer.provide(Logger.layer([logger]))
      )
    })
  )

const archiveNow = Effect.map(call("GET", "/admin/archive"), ({ body }) => body.archive)
const readiness = Effect.map(call("GET", "/readyz"), ({ body }) => body)

/** Every file of the folder, the temporary ones too. */
const namesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "ballast")
    .map(({ name }) => name)

/** Events that no compression makes smaller than the limit. */
const appendLargeEvents = Effect.gen(function* () {
  const run = yield* createRun()
  for (let event = 0; event < 8; event++) yield* appendMessages(run, 1, 1, randomBytes(4_096).toString("base64"))
  yield* endRun(run)
})

const isDone = ({ failure, lagEvents, waitingChanges }: { [Name in string]: unknown }) =>
  failure === null && lagEvents === 0 && waitingChanges === 0

describe("an archive in a directory without space", () => {
  if (refusal !== undefined) console.info(`only the limit of files is tested: this process cannot mount (${refusal})`)
  for (const { disk, name } of means) {
    layer(service(disk), { excludeTestServices: true })(name, (it) => {
      it.effect("is reported once, loses nothing, and is resumed when there is space", () =>
        Effect.gen(function* () {
          const { disk, lines } = yield* Stage
          const target = fileTarget(disk.folder)
          yield* endedRun
          const before = yield* until(archiveNow, (archive) => archive !== null && isDone(archive))
          const files = yield* target.list("events/")
          disk.fill()
          yield* appendLargeEvents
          const failing = yield* until(archiveNow, ({ failure }) => failure !== null)
          assert.deepInclude(failing.failure, { kind: "full" })
          assert.include(failing.failure.message, disk.says)
          const degraded = yield* until(readiness, ({ archive }) => archive?.ok === false)
          assert.strictEqual(degraded.status, "degraded")
          assert.include(degraded.archive.detail, "the store is full")
          // The second try fails too, without a line.
          const failures = Effect.map(call("GET", "/metrics"), ({ body, text }) =>
            Number(/archive_failures_total\{kind="full"\} (\d+)/.exec(String(text ?? body))?.[1] ?? 0)
          )
          yield* until(failures, (count) => count >= 2)
          const still = yield* archiveNow
          assert.strictEqual(still.writtenSeq, before.writtenSeq)
          assert.isAbove(still.lagEvents, 0)
          assert.deepStrictEqual(yield* target.list("events/"), files)
          disk.empty()
          yield* until(archiveNow, isDone)
          const ready = yield* until(readiness, ({ archive }) => archive.ok)
          assert.strictEqual(ready.status, "ok", JSON.stringify(ready))
          yield* checkArchive(target)
          assert.isEmpty(namesIn(disk.folder).filter((file) => !file.endsWith(".parquet")))
          const reported = lines.filter((line) => line.includes("loop archive"))
          assert.lengthOf(reported, 2, reported.join("\n"))
          assert.match(reported[0] ?? "", /^Warn: loop archive failed, and is retried: events\/.*write$/)
          assert.match(reported[1] ?? "", /^Info: loop archive works again after \d+ s and \d+ failed rounds$/)
        })
      )
    })
  }
})
