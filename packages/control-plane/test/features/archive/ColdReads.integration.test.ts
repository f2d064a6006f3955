import { randomUUID } from "node:crypto"
import { mkdtempSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, layer } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import { draftEvent, type RunId, verifyExport } from "@runplane/domain"
import type { SseFrame } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { EventRepository } from "../../../src/event-log/EventRepository.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { AT, commits, LEAD, opened, RISK, recorded, votes } from "../../support/Committee.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, descriptor, layerTestService, openStream } from "../../support/HttpService.ts"
import { removeRuns } from "../../support/Runs.ts"
import { publishedKeys } from "../../support/SealTests.ts"
import { passInto, rowsOf, writing } from "./Archives.ts"

const folder = mkdtempSync(join(tmpdir(), "runplane-archived-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const target = fileTarget(folder)

/** Small files, so that each run is in several. */
const pass = passInto(target, writing({ bounds: { rows: 3, bytes: 1_000_000 } }))
const service = layerTestService({
  settings: { ARCHIVE_URL: pathToFileURL(folder).href, ARCHIVE_INTERVAL_MS: "3600000" }
})

const spent = (tokens: number) =>
  draftEvent(
    "llm.call.completed",
    { ts: AT, subject: { kind: "participant", id: RISK }, source: { kind: "runtime", name: "rust-runtime" } },
    {
      model: "gpt-4o",
      provider: "openai",
      calls: 1,
      promptTokens: tokens,
      completionTokens: 1,
      totalTokens: tokens + 1
    }
  )

/** A run with a decision, a call, artifacts and marks that has ended. */
const endedRun = Effect.gen(function* () {
  const runId = yield* recorded(...opened, votes(RISK, "APPROVE"), spent(10), votes(LEAD, "APPROVE"), commits)
  for (const content of [{ uri: "https://a.test/1" }, { inline: { page: "1" } }]) {
    const body = { kind: "report", label: "plan", ...content }
    assert.strictEqual((yield* call("POST", `/runs/${runId}/artifacts`, { body })).status, 201)
  }
  yield* endRun(runId)
  for (const value of [0.2, 0.7]) {
    const body = { target: { kind: "run" }, name: "quality", value, source: "human", comment: `as ${value}` }
    assert.strictEqual((yield* call("POST", `/runs/${runId}/marks`, { body })).status, 201)
  }
  return runId
})

/** As retention deletes it. */
const expire = Effect.fnUntraced(function* (runId: RunId) {
  yield* removeRuns([runId], { reason: "expired", by: "retention", at: "2026-08-01T00:00:00.000Z" })
})

const readsOf = (runId: RunId) =>
  [
    ...["", "/state", "/metrics", "/events", "/events?limit=2", "/events?afterSeq=4", "/traces", "/seal", "/salts"],
    ...["/events?type=proposal.updated&limit=1", "/events?afterTs=2026-07-01T00:00:00.000Z&limit=3"],
    ...[
      "/events?beforeTs=2020-01-01T00:00:00.000Z",
      "/replay/state",
      "/replay/state?seq=4",
      "/replay/stream?mode=instant"
    ],
    ...["/decision/why", "/decision/card", "/forecast", "/artifacts", "/marks", "/marks?history=true&limit=1"]
  ].map((path) => `/runs/${runId}${path}`)

/** What a reader receives, without what the time of the request decides. */
const answersOf = (runId: RunId) =>
  Effect.forEach(readsOf(runId), (path) =>
    Effect.map(call("GET", path), ({ body, status, text }) => ({
      path,
      status,
      answer: body ?? text.replace(/^retry: \d+\n\n/gm, "")
    }))
  )

/** The frames of a stream of all events. */
const streamed = Effect.fnUntraced(function* (runId: RunId, path: string, isLast: (frame: SseFrame) => boolean) {
  const stream = yield* openStream(`/runs/${runId}/${path}`)
  const frames: Array<SseFrame> = []
  while (true) {
    const frame = yield* stream.next
    if (frame !== undefined) frames.push(frame)
    if (frame === undefined || isLast(frame)) return frames
  }
}, Effect.scoped)

layer(service, { excludeTestServices: true })("a run that the archive alone has", (it) => {
  it.effect("answers every read as it did in the database, and says where it is", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* endedRun
      yield* pass
      const before = yield* answersOf(runId)
      assert.deepStrictEqual(
        before.filter(({ status }) => status !== 200),
        []
      )
      const streams = Effect.all([
        streamed(runId, "stream?afterSeq=0&includeSnapshot=true", ({ data, event }) =>
          event === "canonical_event" ? data.type === "run.cancelled" : false
        ),
        streamed(runId, "ag-ui", ({ data }) => data.type === "RUN_ERROR" || data.type === "RUN_FINISHED")
      ])
      const frames = yield* streams
      assert.isAbove(frames[0].length, 8)
      assert.isAbove(frames[1].length, 3)
      yield* expire(runId)
      assert.lengthOf(yield* sql`SELECT FROM canonical_events WHERE run_id = ${runId}::uuid`, 0)
      for (const [index, { answer, path, status }] of (yield* answersOf(runId)).entries()) {
        assert.strictEqual(status, 200, path)
        const expected = before[index]?.answer
        if (path === `/runs/${runId}`) assert.deepStrictEqual(answer, { ...expected, storage: "archive" })
        else if (path.endsWith("/artifacts")) {
          // The time is that of the event, which may differ by milliseconds.
          const [first, second] = answer
          const [linked, { inline, ...withContent }] = expected
          assert.deepStrictEqual({ ...first, createdAt: linked.createdAt }, linked)
          assert.deepStrictEqual(
            { ...second, createdAt: withContent.createdAt },
            { ...withContent, inlineOmitted: true }
          )
          assert.isDefined(inline)
        } else assert.deepStrictEqual(answer, expected, path)
      }
      assert.deepStrictEqual(yield* streams, frames)
    })
  )

  it.effect("is compared, evaluated with other votes, and exported", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      const other = yield* endedRun
      yield* pass
      const posts = [
        ["/runs/compare", { leftRunId: runId, rightRunId: other }],
        [`/runs/${runId}/what-if`, { without: [RISK] }]
      ] as const
      const post = Effect.forEach(posts, ([path, body]) =>
        Effect.map(call("POST", path, { body }), ({ body, status }) => ({ status, body }))
      )
      const before = yield* post
      assert.deepStrictEqual(
        before.map(({ status }) => status),
        [201, 201]
      )
      yield* expire(runId)
      assert.deepStrictEqual(yield* post, before)
      const exported = yield* call("GET", `/runs/${runId}/export?includeRaw=true`)
      assert.deepInclude(exported.body, { session: null, rawEvents: [] })
      assert.strictEqual(exported.body.run.storage, "archive")
      assert.strictEqual(exported.body.canonicalEvents.length, exported.body.seal.events)
      const verified = verifyExport(sha256, yield* publishedKeys, Buffer.from(exported.text))
      assert.isTrue(verified.ok, JSON.stringify(verified))
      const batch = yield* call("POST", "/runs/batch/export", { body: { runIds: [other, runId] } })
      assert.deepStrictEqual(
        batch.body.map(({ run }: { readonly run: { readonly id: string } }) => run.id),
        [other, runId]
      )
      const missing = yield* call("POST", "/runs/batch/export", { body: { runIds: [runId, randomUUID()] } })
      assert.strictEqual(missing.status, 404)
    })
  )

  it.effect("is found by its session, and is cloned", () =>
    Effect.gen(function* () {
      const sessionId = randomUUID().replaceAll("-", "")
      const { body: created } = yield* call("POST", "/runs", { body: descriptor({ session: { sessionId } }) })
      yield* endRun(created.runId)
      const cancelled = yield* call("POST", `/runs/${created.runId}/cancel`, { body: {} })
      yield* pass
      yield* expire(created.runId)
      assert.strictEqual((yield* call("GET", `/runs/${sessionId}`)).body.storage, "archive")
      const clone = yield* call("POST", `/runs/${created.runId}/clone`, { body: {} })
      assert.strictEqual(clone.status, 201)
      assert.notStrictEqual(clone.body.runId, created.runId)
      const again = yield* call("POST", `/runs/${created.runId}/cancel`, { body: {} })
      assert.deepStrictEqual(again.body, cancelled.body)
    })
  )

  it.effect("refuses every change and says why, and what the archive does not have", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      const markId: string = (yield* call("GET", `/runs/${runId}/marks`)).body.data[0].id
      yield* pass
      yield* expire(runId)
      const changes = [
        ["POST", "archive", undefined],
        ["POST", "unarchive", undefined],
        ["POST", "projection/rebuild", undefined],
        ["POST", "artifacts", { kind: "report", label: "late" }],
        ["POST", "marks", { target: { kind: "run" }, name: "quality", value: 1, source: "human" }],
        ["DELETE", `marks/${markId}`, undefined]
      ] as const
      for (const [method, path, body] of changes) {
        const answer = yield* call(method, `/runs/${runId}/${path}`, { body })
        assert.deepInclude(answer.body, { statusCode: 409, errorCode: "CONFLICT" }, path)
        assert.include(answer.body.message, "is read-only: it has left the database")
      }
      for (const what of ["messages", "spans"]) {
        const answer = yield* call("GET", `/runs/${runId}/${what}`)
        assert.deepInclude(answer.body, { statusCode: 404, errorCode: "NOT_FOUND" })
        assert.include(answer.body.message, `does not have its ${what}`)
      }
      const batch = yield* call("POST", "/runs/batch/archive", { body: { runIds: [runId] } })
      assert.strictEqual(batch.body[0].status, "failed")
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 200)
    })
  )

  it.effect("is deleted by a caller once, also when the archive has only a part of it", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const whole = yield* endedRun
      const part = yield* endedRun
      const begun = yield* recorded(...opened)
      yield* pass
      yield* endRun(begun)
      yield* expire(begun)
      const log = yield* EventLog
      yield* log.record({ runId: part, events: [spent(5)] })
      yield* expire(whole)
      yield* expire(part)
      assert.strictEqual((yield* call("GET", `/runs/${part}`)).status, 404)
      for (const runId of [whole, part, begun]) {
        const deletions = yield* Effect.all([call("DELETE", `/runs/${runId}`), call("DELETE", `/runs/${runId}`)], {
          concurrency: 2
        })
        assert.deepStrictEqual(deletions.map(({ status }) => status).toSorted(), [204, 404])
      }
      for (const { path, status } of yield* answersOf(whole)) assert.strictEqual(status, 404, path)
      const audited = yield* sql`SELECT FROM audit_log WHERE action = 'run.delete' AND resource_id = ${whole}`
      assert.lengthOf(audited, 1)
      yield* pass
      const tombstones = yield* rowsOf(target, "tombstones")
      assert.sameMembers(
        tombstones.map(({ run_id }) => run_id),
        [whole, part, begun]
      )
      assert.lengthOf(yield* sql`SELECT FROM archive_runs WHERE run_id = ${whole}::uuid`, 0)
      assert.strictEqual((yield* call("GET", `/runs/${whole}`)).status, 404)
    })
  )

  it.effect("is an error that names the file when it is damaged", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* endedRun
      const { firstSeq } = yield* EventRepository
      const first = yield* firstSeq(runId)
      yield* pass
      yield* expire(runId)
      const [file] = yield* sql<{ readonly path: string }>`
        SELECT path FROM archive_files WHERE table_name = 'events' AND range_to >= ${BigInt(first ?? 0)}
        ORDER BY range_from LIMIT 1`
      yield* target.put(file?.path ?? "", new TextEncoder().encode("PAR1 this is not a file of a table PAR1"))
      for (const path of ["events", "state", "stream", "ag-ui", "decision/why"]) {
        const answer = yield* call("GET", `/runs/${runId}/${path}`)
        assert.deepInclude(answer.body, { statusCode: 500, errorCode: "INTERNAL_ERROR" }, path)
      }
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 200)
    })
  )

  it.effect("opens no stream while the store is away, also when its row is in memory", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      yield* pass
      yield* expire(runId)
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 200)
      renameSync(folder, `${folder}-away`)
      for (const path of ["stream", "ag-ui", "state"]) {
        const answer = yield* call("GET", `/runs/${runId}/${path}`)
        assert.deepInclude(answer.body, { statusCode: 503, errorCode: "SERVICE_UNAVAILABLE" }, path)
      }
      renameSync(`${folder}-away`, folder)
      assert.strictEqual((yield* call("GET", `/runs/${runId}/state`)).status, 200)
    })
  )

  it.effect("is unavailable while the store is away", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      yield* pass
      yield* expire(runId)
      renameSync(folder, `${folder}-away`)
      for (const path of [...readsOf(runId), `/runs/${runId}/stream`, `/runs/${runId}/ag-ui`]) {
        const answer = yield* call("GET", path)
        assert.deepInclude(answer.body, { statusCode: 503, errorCode: "SERVICE_UNAVAILABLE" }, path)
        assert.include(answer.body.message, "archive")
      }
      renameSync(`${folder}-away`, folder)
      assert.strictEqual((yield* call("GET", `/runs/${runId}`)).status, 200)
    })
  )
})
