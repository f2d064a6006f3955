import { assert, layer } from "@effect/vitest"
import { s3Target } from "@runplane/archive"
import { S3_CREDENTIALS, type S3Server, startS3Server, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { checkArchive, rowsOf } from "./Archives.ts"

class Store extends Context.Service<Store, S3Server>()("test/Store") {}
class Lines extends Context.Service<Lines, Array<string>>()("test/Lines") {}

/** The whole service with an archive in a bucket whose store the test disturbs, and the lines of its log. */
const service = Layer.unwrap(
  Effect.gen(function* () {
    const store = yield* startS3Server
    const lines: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      lines.push(`${logLevel}: ${[message].flat().join(" ")}`)
    })
    const settings = {
      ...{ ARCHIVE_URL: "s3://bucket/prod", ARCHIVE_INTERVAL_MS: "1000", AWS_ENDPOINT_URL: store.endpoint },
      ...{ AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId, AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey }
    }
    return layerTestService({ settings }).pipe(
      Layer.provideMerge(Layer.mergeAll(Layer.succeed(Store, store), Layer.succeed(Lines, lines))),
      Layer.provide(Logger.layer([logger]))
    )
  })
)

const target = (store: S3Server) =>
  s3Target({ bucket: "bucket", prefix: "prod/" }, { ...S3_CREDENTIALS, region: "us-east-1", endpoint: store.endpoint })

const archiveNow = Effect.map(call("GET", "/admin/archive"), ({ body }) => body.archive)
const readiness = Effect.map(call("GET", "/readyz"), ({ body }) => body)

const outages = [
  {
    name: "a full store",
    begin: (store: S3Server) => {
      store.disturb = (request) => (request.startsWith("PUT") ? { status: 507, code: "XMinioStorageFull" } : undefined)
    },
    kind: "full",
    why: "the store is full"
  },
  {
    name: "a store that is away",
    begin: (store: S3Server) => {
      store.disturb = () => "cut"
    },
    kind: "unreachable",
    why: "the store does not answer"
  },
  {
    name: "credentials without rights",
    begin: (store: S3Server) => {
      store.disturb = () => ({ status: 403, code: "AccessDenied" })
    },
    kind: "refused",
    why: "the store refuses the credentials"
  },
  {
    name: "a clock that is off by an hour",
    begin: (store: S3Server) => {
      store.aheadMs = 3_600_000
    },
    kind: "clock",
    why: "the clock of this machine differs too much from the store's"
  }
] as const

layer(service, { excludeTestServices: true })("an archive whose store fails", (it) => {
  for (const { begin, kind, name, why } of outages) {
    it.effect(`survives ${name}: reported once, resumed, nothing lost`, () =>
      Effect.gen(function* () {
        const store = yield* Store
        const lines = yield* Lines
        lines.length = 0
        begin(store)
        const run = yield* endedRun
        const failing = yield* until(archiveNow, (archive) => archive !== null && archive.failure !== null)
        assert.strictEqual(failing.failure.kind, kind)
        const degraded = yield* until(readiness, ({ archive }) => archive?.ok === false)
        assert.strictEqual(degraded.status, "degraded")
        assert.include(degraded.archive.detail, why)
        const requests = store.requests.length
        yield* until(
          Effect.sync(() => store.requests.length),
          (count) => count > requests
        )
        store.disturb = () => undefined
        store.aheadMs = 0
        yield* until(
          archiveNow,
          ({ failure, lagEvents, waitingChanges }) => failure === null && lagEvents === 0 && waitingChanges === 0
        )
        assert.strictEqual((yield* until(readiness, ({ archive }) => archive.ok)).status, "ok")
        yield* checkArchive(target(store))
        assert.isTrue((yield* rowsOf(target(store), "runs")).some(({ run_id }) => run_id === run))
        const reported = lines.filter((line) => line.includes("loop archive"))
        assert.lengthOf(reported, 2, reported.join("\n"))
        assert.match(reported[0] ?? "", /^Warn: loop archive failed, and is retried: (put|head) /)
        assert.match(reported[1] ?? "", /^Info: loop archive works again after \d+ s and \d+ failed rounds$/)
      })
    )
  }

  it.effect("shows what is in files", () =>
    Effect.gen(function* () {
      const archive = yield* archiveNow
      assert.deepInclude(archive, { url: "s3://bucket/prod", cell: "main", lagSeconds: 0 })
      assert.deepStrictEqual(
        archive.tables.map(({ rows, table }: { rows: number; table: string }) => [table, rows]),
        [
          ["events", 8],
          ["runs", 4],
          ["marks", 0],
          ["tombstones", 0]
        ]
      )
      assert.match(archive.lastFile.path, /^runs\/dt=/)
      const metrics = yield* call("GET", "/metrics")
      assert.match(String(metrics.text ?? metrics.body), /runplane_archive_files_total [1-9]/)
    })
  )
})
