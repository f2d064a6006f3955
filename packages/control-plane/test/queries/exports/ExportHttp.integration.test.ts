import { randomUUID } from "node:crypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it, layer } from "@effect/vitest"
import { RunBundle } from "@runplane/api"
import { emptyRunState, project, RunId, verifyExport } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { EventRepository } from "../../../src/event-log/EventRepository.ts"
import { ArtifactRepository } from "../../../src/event-log/runs/ArtifactRepository.ts"
import { RunGone } from "../../../src/event-log/runs/RunGone.ts"
import { RunRepository } from "../../../src/event-log/runs/RunRepository.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { ExportRepository } from "../../../src/queries/exports/ExportRepository.ts"
import { exportAnswer } from "../../../src/queries/exports/ExportsHttp.ts"
import { EVENTS_PER_EXPORT_READ } from "../../../src/queries/exports/ExportText.ts"
import { RunExports } from "../../../src/queries/exports/RunExports.ts"
import { RunDocuments } from "../../../src/queries/runs/RunDocuments.ts"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun, endRun } from "../../support/EndedRuns.ts"
import { baseUrl, call, descriptor, layerTestService } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"
import { createRun } from "../../support/Runs.ts"
import { forgetChain, publishedKeys } from "../../support/SealTests.ts"
import { CountedRows } from "./CountedRows.ts"

const decodeBundle = Schema.decodeUnknownEffect(RunBundle)
const caller = {
  actor: { actorId: "key:1", actorType: "api-key", role: "admin" },
  requestId: "req-1",
  address: "127.0.0.1"
} as const

const exportOf = (runId: string, query = "") => call("GET", `/runs/${runId}/export?${query}`)
const parseLines = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** A run whose session was followed to its end: with frames, messages, a trace artifact and a secret. */
const followedRun = Effect.gen(function* () {
  const runId = RunId.make(randomUUID())
  const fake = yield* RuntimeFake
  yield* fake.openSession({ sessionId: runId, participants: ["agent://lead"], initiator: "agent://lead" })
  const metadata = {
    source: "launch",
    sourceRef: "ref",
    cancelCallback: { url: "http://127.0.0.1:1", bearer: "secret" }
  }
  yield* call("POST", "/runs", {
    body: descriptor({ runtime: { kind: "fake", version: "1" }, session: { sessionId: runId, metadata } })
  })
  yield* awaitStatus(runId, "running")
  yield* fake.accept(runId, { messageType: "Proposal", messageId: "m1", sender: "agent://lead" })
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  return runId
})

/**
 * An ended run of so many events, put into the log as fast as the database takes them; its projection does not know of
 * them.
 */
const longRun = Effect.fnUntraced(function* (total: number) {
  const runId = yield* endedRun
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO canonical_events (seq, run_id, index, ts, type, event)
    SELECT seq, ${runId}::uuid, n, now(), 'message.received',
           json_build_object('id', 'e' || n, 'runId', ${runId}::text, 'seq', seq, 'index', n, 'type', 'message.received',
                             'data', json_build_object('text', repeat('x', 200)))
    FROM (SELECT nextval('event_seq') AS seq, n FROM generate_series(3, ${total}::int) AS n) AS positions`
  // The database writes white space, which no text of version 2 has.
  yield* sql`UPDATE run_heads SET last_index = ${total}, chain_version = 1 WHERE run_id = ${runId}::uuid`
  return runId
})

/** Exports whose canonical rows are counted as they leave the database. */
const layerCountedExports = (rows: CountedRows, events: EventRepository["Service"]) =>
  Layer.fresh(RunExports.layer).pipe(
    Layer.provide([ArtifactRepository.layer, ExportRepository.layer.pipe(Layer.provide(RunDocuments.layer))]),
    Layer.provide(RunRepository.layer),
    Layer.provide(Layer.succeed(EventRepository, { ...events, salted: rows.countEvents(events.salted) }))
  )

layer(layerTestService(), { excludeTestServices: true })("GET /runs/:id/export", (it) => {
  let followed: RunId | undefined
  /** One run serves all tests that only look at it. */
  const anyFollowedRun = Effect.gen(function* () {
    followed ??= yield* followedRun
    return followed
  })

  it.effect("bundles the run with everything that belongs to it, in the declared form", () =>
    Effect.gen(function* () {
      const runId = yield* anyFollowedRun
      const { body, headers, status, text } = yield* exportOf(runId, "includeRaw=true")
      assert.strictEqual(status, 200, text)
      assert.match(headers.get("content-type") ?? "", /^application\/json/)
      const bundle = yield* decodeBundle(body)
      assert.deepStrictEqual(Object.keys(body), [
        ...["run", "session", "projection", "metrics", "artifacts", "canonicalEvents", "rawEvents", "exportedAt"],
        ...["seal", "heads", "salts", "digest"]
      ])
      assert.strictEqual(body.run.id, runId)
      assert.strictEqual(body.run.status, "completed")
      assert.strictEqual(body.run.runtimeVersion, "1")
      assert.strictEqual(body.run.archivedAt, null)
      assert.deepStrictEqual(body.run.source, { kind: "launch", ref: "ref" })
      assert.notInclude(text, "secret")
      assert.deepStrictEqual(body.session.metadata, { participants: ["agent://lead"] })
      assert.strictEqual(body.session.lastStreamCursor, 1)
      assert.strictEqual(body.session.sessionState, "RESOLVED")
      for (const [key, path] of [
        ["projection", "state"],
        ["metrics", "metrics"],
        ["artifacts", "artifacts"],
        ["canonicalEvents", "events?limit=1000"]
      ] as const) {
        assert.deepStrictEqual(body[key], (yield* call("GET", `/runs/${runId}/${path}`)).body, key)
      }
      assert.deepStrictEqual(
        bundle.canonicalEvents.reduce(project, emptyRunState(runId)),
        bundle.projection ?? emptyRunState(runId)
      )
      const [raw] = body.rawEvents
      assert.deepStrictEqual(Object.keys(raw), [
        "id",
        "runId",
        "seq",
        "ts",
        "kind",
        "sourceName",
        "payload",
        "createdAt"
      ])
      assert.strictEqual(raw.seq, 1)
      assert.isString(raw.payload.envelope.payloadBase64)
      assert.deepStrictEqual((yield* exportOf(runId, "includeRaw=true")).body.rawEvents, body.rawEvents)
    })
  )

  it.effect("has no session before the binding", () =>
    Effect.gen(function* () {
      const { body } = yield* exportOf(yield* createRun())
      assert.strictEqual(body.session, null)
      assert.deepStrictEqual(body.artifacts, [])
      assert.deepStrictEqual(body.rawEvents, [])
      assert.lengthOf(body.canonicalEvents, 1)
    })
  )

  for (const [query, canonical, raw] of [
    ["", true, false],
    ["includeCanonical=false", false, false],
    ["includeCanonical=no&includeRaw=yes", false, false],
    ["includeRaw=true&includeCanonical=true", true, true]
  ] as const) {
    it.effect(`takes the parts of ?${query}`, () =>
      Effect.gen(function* () {
        const { body } = yield* exportOf(yield* anyFollowedRun, query)
        assert.strictEqual(body.canonicalEvents.length > 0, canonical)
        assert.strictEqual(body.rawEvents.length > 0, raw)
      })
    )
  }

  for (const [query, message] of [
    ["eventLimit=0", ["eventLimit must not be less than 1"]],
    ["eventLimit=50001", ["eventLimit must not be greater than 50000"]],
    ["format=xml", ["format must be one of the following values: json, jsonl"]]
  ] as const) {
    it.effect(`refuses ?${query}`, () =>
      Effect.gen(function* () {
        const answer = yield* exportOf(yield* createRun(), query)
        assert.strictEqual(answer.status, 400)
        assert.deepStrictEqual(answer.body.message, message)
      })
    )
  }

  it.effect("takes the first events up to the limit, over several reads", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* appendMessages(runId, EVENTS_PER_EXPORT_READ + 200, 350)
      const { body } = yield* exportOf(runId, `eventLimit=${EVENTS_PER_EXPORT_READ + 1}`)
      assert.deepStrictEqual(
        body.canonicalEvents.map((event: { index: number }) => event.index),
        Array.from({ length: EVENTS_PER_EXPORT_READ + 1 }, (_, position) => position + 1)
      )
    })
  )

  it.effect("writes a header and a line for each event as jsonl", () =>
    Effect.gen(function* () {
      const runId = yield* anyFollowedRun
      const { body } = yield* exportOf(runId, "includeRaw=true")
      const url = `${yield* baseUrl}/runs/${runId}/export?includeRaw=true&format=jsonl`
      const { headers, text } = yield* Effect.promise(async () => {
        const response = await fetch(url)
        return { headers: response.headers, text: await response.text() }
      })
      assert.strictEqual(headers.get("content-type"), "application/x-ndjson")
      assert.isTrue(text.endsWith("\n"))
      const [header, ...lines] = parseLines(text)
      assert.deepStrictEqual(Object.keys(header), [
        ...["type", "run", "session", "projection", "metrics", "artifacts", "exportedAt"]
      ])
      assert.deepStrictEqual(
        { ...header, exportedAt: "" },
        {
          type: "header",
          run: body.run,
          session: body.session,
          projection: body.projection,
          metrics: body.metrics,
          artifacts: body.artifacts,
          exportedAt: ""
        }
      )
      assert.deepStrictEqual(lines, [
        ...body.canonicalEvents.map((event: { type: string }) => ({
          ...event,
          type: "canonical_event",
          eventType: event.type
        })),
        ...body.rawEvents.map((event: object) => ({ ...event, type: "raw_event" })),
        { type: "seal", seal: body.seal, heads: body.heads, salts: body.salts },
        { type: "digest", ...lines.at(-1), algorithm: "sha256-ed25519" }
      ])
    })
  )

  for (const format of ["json", "jsonl"]) {
    it.effect(`can be verified with the published keys (${format})`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* appendMessages(runId, EVENTS_PER_EXPORT_READ + 3, 350)
        const check = yield* publishedKeys
        const verified = Effect.map(exportOf(runId, `format=${format}&includeRaw=true`), ({ text }) => ({
          text,
          found: verifyExport(sha256, check, Buffer.from(text))
        }))
        const open = yield* verified
        assert.deepInclude(open.found, { ok: true, seal: null, exportSignature: "valid" }, JSON.stringify(open.found))
        yield* endRun(runId)
        const { found, text } = yield* verified
        const events = EVENTS_PER_EXPORT_READ + 5
        assert.deepInclude(found, { ok: true, events, signature: "valid", exportSignature: "valid" })
        const changed = text.replace('"index":7,', '"index":8,')
        assert.deepInclude(verifyExport(sha256, check, Buffer.from(changed)), { ok: false, index: 7 })
        const first = (yield* exportOf(runId, `format=${format}&eventLimit=2`)).text
        assert.deepInclude(verifyExport(sha256, check, Buffer.from(first)), { ok: false, index: 3 })
      })
    )
  }

  it.effect("seals a run whose seal was removed", () =>
    Effect.gen(function* () {
      const runId = yield* longRun(1_200)
      yield* forgetChain(runId)
      const check = yield* publishedKeys
      const { text } = yield* exportOf(runId, "format=jsonl")
      assert.deepInclude(verifyExport(sha256, check, Buffer.from(text)), {
        ok: true,
        events: 1_200,
        signature: "valid"
      })
    })
  )

  it.effect("folds to the projection beside its events while the run goes on", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const writing = appendMessages(runId, 600, 2)
      const reading = Effect.forEach(Array.from({ length: 8 }), () =>
        Effect.flatMap(exportOf(runId), ({ body }) => decodeBundle(body))
      )
      const [, bundles] = yield* Effect.all([writing, reading], { concurrency: "unbounded" })
      for (const { canonicalEvents, projection } of bundles) {
        assert.deepStrictEqual(canonicalEvents.reduce(project, emptyRunState(runId)), projection ?? undefined)
      }
    })
  )

  it.effect("holds one page of a run of 20,000 events, and sends them all", () =>
    Effect.gen(function* () {
      const total = 20_000
      const runId = yield* longRun(total)
      const rows = new CountedRows()
      const events = yield* EventRepository
      let taken = 0
      let most = 0
      let last = 0
      yield* Effect.gen(function* () {
        const options = { includeCanonical: true, includeRaw: false, includeMarks: true, eventLimit: total }
        const text = yield* RunExports.use((exports) => exports.one(runId, "jsonl", options, caller))
        yield* Stream.runForEach(text, (page) =>
          Effect.sync(() => {
            most = Math.max(most, rows.read - taken)
            for (const line of parseLines(page.startsWith('{"type":"canonical_event"') ? page : "")) {
              assert.strictEqual(line.index, last + 1)
              last = line.index
              taken += 1
            }
          })
        )
      }).pipe(Effect.provide(layerCountedExports(rows, events)))
      assert.strictEqual(taken, total)
      assert.strictEqual(most, EVENTS_PER_EXPORT_READ)

      const { body } = yield* exportOf(runId, "eventLimit=50000")
      assert.lengthOf(body.canonicalEvents, total)
    })
  )

  it.effect("is visibly broken when the run is deleted on the way", () =>
    Effect.gen(function* () {
      const runId = yield* longRun(40_000)
      const url = yield* baseUrl
      const response = yield* Effect.promise(() => fetch(`${url}/runs/${runId}/export?eventLimit=50000`))
      const reader = response.body?.getReader()
      yield* Effect.promise(async () => reader?.read())
      assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
      const rest = yield* Effect.exit(
        Effect.tryPromise(async () => {
          while (!(await reader?.read())?.done);
        })
      )
      assert.strictEqual(rest._tag, "Failure")
    })
  )
})

describe("the answer of an export", () => {
  const serve = (text: Parameters<typeof exportAnswer>[0]) =>
    Effect.gen(function* () {
      yield* HttpServer.serveEffect(Effect.succeed(exportAnswer(text, "application/x-ndjson")))
      return HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
    })

  it.effect("is made no faster than the client takes it", () =>
    Effect.gen(function* () {
      const rows = new CountedRows()
      const source = rows.madeUp(100_000, "x".repeat(1_000))
      const text = Stream.paginate(0, (afterSeq) =>
        Effect.map(source.canonicalEvents(RunId.make(""), afterSeq, EVENTS_PER_EXPORT_READ), (page) => [
          [page.map((row) => `${row.json}\n`).join("")],
          page.length < EVENTS_PER_EXPORT_READ ? Option.none() : Option.some(afterSeq + page.length)
        ])
      )
      const url = yield* serve(text)
      const response = yield* Effect.promise(() => fetch(url))
      const reader = response.body?.getReader()
      let taken = 0
      let ahead = 0
      yield* Effect.promise(async () => {
        while (true) {
          const chunk = await reader?.read()
          if (chunk === undefined || chunk.done) return
          taken += chunk.value.reduce((lines: number, byte: number) => lines + Number(byte === 10), 0)
          ahead = Math.max(ahead, rows.read - taken)
        }
      })
      assert.strictEqual(taken, 100_000)
      // What the sockets and their buffers hold; without back-pressure the whole run would be ahead.
      assert.isBelow(ahead, 20_000)
    }).pipe(Effect.provide(Layer.fresh(NodeHttpServer.layerTest)))
  )

  it.effect("cuts the connection when it fails on the way", () =>
    Effect.gen(function* () {
      const failing = Stream.concat(Stream.make("first\n"), Stream.fail(new RunGone({ runId: "x" })))
      const url = yield* serve(failing)
      const whole = yield* Effect.exit(Effect.tryPromise(async () => (await fetch(url)).text()))
      assert.strictEqual(whole._tag, "Failure")
    }).pipe(Effect.provide(Layer.fresh(NodeHttpServer.layerTest)))
  )
})
