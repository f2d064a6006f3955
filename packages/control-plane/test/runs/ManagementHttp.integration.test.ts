import { createHash, randomBytes, randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { ARTIFACTS_PER_READ } from "../../src/event-log/runs/ArtifactRepository.ts"
import { MESSAGES_PER_READ } from "../../src/http/RunsHttp.ts"
import { endedRun, endRun } from "../support/EndedRuns.ts"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import { auditOf, post, remove } from "./AuditedCalls.ts"

layer(layerTestService(), { excludeTestServices: true })("clone, archive and artifacts over HTTP", (it) => {
  it.effect("clones the stored descriptor with ids of its own and without the idempotency key", () =>
    Effect.gen(function* () {
      const given = descriptor({
        mode: "sandbox",
        session: {
          sessionId: randomUUID(),
          metadata: { environment: "staging", cancelCallback: { url: "http://127.0.0.1:1/x", bearer: "secret" } }
        },
        execution: { idempotencyKey: randomUUID(), tags: ["a"], requester: { actorId: "u" } }
      })
      const original = yield* post("/runs", given)
      const clone = yield* post(`/runs/${original.body.runId}/clone`)
      assert.strictEqual(clone.status, 201, clone.text)
      assert.deepStrictEqual(Object.keys(clone.body), ["runId", "sessionId", "status", "traceId"])
      assert.strictEqual(clone.body.status, "queued")
      for (const key of ["runId", "sessionId", "traceId"]) assert.notStrictEqual(clone.body[key], original.body[key])

      const { body } = yield* call("GET", `/runs/${clone.body.runId}`)
      assert.isUndefined(body.idempotencyKey)
      assert.deepStrictEqual(body.tags, ["a", "sandbox"])
      const { executionRequest } = body.metadata
      assert.strictEqual(executionRequest.session.sessionId, clone.body.sessionId)
      assert.deepStrictEqual(executionRequest.session.participants, given.session.participants)
      assert.deepStrictEqual(executionRequest.execution, { tags: ["a"], requester: { actorId: "u" } })
      assert.strictEqual(body.metadata.environment, "staging")
      assert.notProperty(body.metadata, "cancelCallback", "it cancels the session of the original")
      assert.notProperty(executionRequest.session.metadata, "cancelCallback")
      assert.strictEqual((yield* post(`/runs/${clone.body.runId}/cancel`)).status, 400)
      assert.deepStrictEqual((yield* auditOf(clone.body.runId)).slice(0, 1), [
        { action: "run.create", resource: "run", request_id: "req-9" }
      ])
      const { body: clones } = yield* call("GET", `/audit?q=details.clonedFrom:${original.body.runId}`)
      assert.deepStrictEqual(
        clones.data.map(({ resourceId }: { resourceId: string }) => resourceId),
        [clone.body.runId]
      )
      const found = yield* call("GET", `/runs?q=metadata.clonedFrom:${original.body.runId}`)
      assert.deepStrictEqual(
        found.body.data.map(({ id }: { id: string }) => id),
        [clone.body.runId]
      )
    })
  )

  it.effect("replaces the tags when the clone has its own, and takes an empty context", () =>
    Effect.gen(function* () {
      const original = yield* post("/runs", descriptor({ execution: { tags: ["a", "b"] } }))
      const clone = yield* post(`/runs/${original.body.runId}/clone`, { tags: ["c"], context: {} })
      assert.strictEqual(clone.status, 201, clone.text)
      assert.deepStrictEqual((yield* call("GET", `/runs/${clone.body.runId}`)).body.tags, ["c"])
    })
  )

  it.effect("does not let a clone of a discovered run be claimed", () =>
    Effect.gen(function* () {
      const metadata = {
        source: "session-discovery",
        discoveredAt: "2026-07-01T10:00:00.000Z",
        initiator: "agent://lead"
      }
      const original = yield* post("/runs", descriptor({ session: { metadata } }))
      const { body } = yield* post(`/runs/${original.body.runId}/clone`)
      const clone = yield* call("GET", `/runs/${body.runId}`)
      assert.deepStrictEqual(Object.keys(clone.body.metadata), ["initiator", "clonedFrom", "executionRequest"])
      const claim = yield* post("/runs", descriptor({ session: { sessionId: body.sessionId } }))
      assert.strictEqual(claim.status, 409)
    })
  )

  for (const [what, body, message] of [
    ["a context with content", { context: { a: 1 } }, ["context cannot be overridden: it must be absent or empty"]],
    ["a context that is not an object", { context: [] }, ["context must be an object"]],
    ["tags that are no strings", { tags: [1] }, ["each value in tags must be a string"]],
    ["unknown keys", { sessionId: "x" }, ["property sessionId should not exist"]]
  ] as const) {
    it.effect(`refuses to clone with ${what}`, () =>
      Effect.gen(function* () {
        const { body: original } = yield* post("/runs", descriptor())
        const answer = yield* post(`/runs/${original.runId}/clone`, body)
        assert.strictEqual(answer.status, 400)
        assert.deepStrictEqual(answer.body.message, message)
      })
    )
  }

  it.effect("refuses to clone a run that was stored without a descriptor", () =>
    Effect.gen(function* () {
      const answer = yield* post(`/runs/${yield* createRun()}/clone`)
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(answer.body.message, "run does not have an execution request in metadata")
    })
  )

  it.effect("archives in any status: hidden from the listing, found by its tag, the first time kept", () =>
    Effect.gen(function* () {
      const tag = randomUUID()
      const { body: created } = yield* post("/runs", descriptor({ execution: { tags: [tag] } }))
      const first = yield* post(`/runs/${created.runId}/archive`)
      assert.strictEqual(first.status, 201, first.text)
      assert.strictEqual(first.body.id, created.runId)
      assert.deepStrictEqual(first.body.tags, [tag, "archived"])
      assert.match(first.body.archivedAt, /^\d{4}-.*Z$/)

      const second = yield* post(`/runs/${created.runId}/archive`)
      assert.strictEqual(second.body.archivedAt, first.body.archivedAt)
      assert.deepStrictEqual(second.body.tags, [tag, "archived"])

      const found = (query: string) => Effect.map(call("GET", `/runs?tags=${tag}&${query}`), ({ body }) => body.total)
      assert.strictEqual(yield* found(""), 0)
      assert.strictEqual(yield* found("includeArchived=true"), 1)
      assert.strictEqual(yield* found("includeArchived=true&search=archiv"), 1)

      for (const times of ["once", "twice"]) {
        const undone = yield* post(`/runs/${created.runId}/unarchive`)
        assert.strictEqual(undone.status, 201, times)
        assert.isNull(undone.body.archivedAt, times)
        assert.deepStrictEqual(undone.body.tags, [tag], times)
      }
      assert.strictEqual(yield* found(""), 1)
      assert.strictEqual(yield* found("search=archiv"), 0)
      assert.deepStrictEqual(
        (yield* auditOf(created.runId)).map((row) => row.action),
        ["run.create", "run.archive", "run.archive", "run.unarchive", "run.unarchive"]
      )
    })
  )

  it.effect("adds an artifact with its event, to a run that has ended as well", () =>
    Effect.gen(function* () {
      const runId = yield* endedRun
      const body = { kind: "report", label: "Summary", uri: "s3://x", inline: { spans: [1, { a: null }] } }
      const answer = yield* post(`/runs/${runId}/artifacts`, body)
      assert.strictEqual(answer.status, 201, answer.text)
      const { createdAt, id } = answer.body
      assert.deepStrictEqual(answer.body, { id, runId, ...body, createdAt })
      assert.deepStrictEqual((yield* call("GET", `/runs/${runId}/artifacts`)).body, [answer.body])

      const { decoded } = yield* assertLogIsExact(runId)
      const event = decoded.at(-1)
      assert.strictEqual(event?.type, "artifact.created")
      assert.deepStrictEqual(event?.subject, { kind: "artifact", id })
      assert.strictEqual(event?.source.name, "observability-controller")
      assert.deepStrictEqual(event?.recorded.data, {
        kind: "report",
        label: "Summary",
        artifactId: id,
        uri: "s3://x",
        contentSha256: createHash("sha256").update(JSON.stringify(body.inline)).digest("hex")
      })
      assert.deepStrictEqual((yield* call("GET", `/runs/${runId}/traces`)).body.linkedArtifacts, [id])
      assert.deepStrictEqual(
        [...(yield* auditOf(id))],
        [{ action: "artifact.create", resource: "artifact", request_id: "req-9" }]
      )
    })
  )

  for (const [body, message] of [
    [
      {},
      [
        "kind must be one of the following values: trace, json, report, log, bundle, people.item, people.answer, people.question, a2a.turn, shadow.acts",
        "label must be a string",
        "label should not be empty"
      ]
    ],
    [{ kind: "log", label: "" }, ["label should not be empty"]],
    [{ kind: "log", label: "l", inline: [] }, ["inline must be an object"]],
    [{ kind: "log", label: "l", uri: 7, other: 1 }, ["property other should not exist", "uri must be a string"]]
  ] as const) {
    it.effect(`refuses the artifact ${JSON.stringify(body)}`, () =>
      Effect.gen(function* () {
        const answer = yield* post(`/runs/${yield* createRun()}/artifacts`, body)
        assert.strictEqual(answer.status, 400)
        assert.deepStrictEqual(answer.body.message, message)
      })
    )
  }

  it.effect("lists more artifacts than one read holds, by createdAt", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const count = 2 * ARTIFACTS_PER_READ
      for (let number = 0; number < count; number++) {
        yield* post(`/runs/${runId}/artifacts`, { kind: "log", label: String(number) })
      }
      const { body } = yield* call("GET", `/runs/${runId}/artifacts`)
      assert.lengthOf(body, count)
      const times: ReadonlyArray<string> = body.map((artifact: { createdAt: string }) => artifact.createdAt)
      assert.deepStrictEqual(times, [...times].sort())
      assert.strictEqual(new Set(body.map((artifact: { id: string }) => artifact.id)).size, count)
    })
  )

  it.effect("lists artifacts of the same millisecond as they were stored", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const sql = yield* PgClient.PgClient
      const count = ARTIFACTS_PER_READ + 5
      yield* sql`
        INSERT INTO artifacts (id, run_id, kind, label, created_at)
        SELECT gen_random_uuid(), ${runId}::uuid, 'log', n, '2026-07-01T10:00:00Z' FROM generate_series(1, ${count}) AS n`
      const { body } = yield* call("GET", `/runs/${runId}/artifacts`)
      assert.deepStrictEqual(
        body.map((artifact: { label: string }) => artifact.label),
        Array.from({ length: count }, (_, position) => `${position + 1}`)
      )
    })
  )

  it.effect("lists more messages than one read holds, in the order in which they were seen", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const sql = yield* PgClient.PgClient
      const count = MESSAGES_PER_READ + 5
      yield* sql`
        INSERT INTO outbound_messages (run_id, message_id, accepted, message)
        SELECT ${runId}::uuid, 'm' || n, true, json_build_object('messageId', 'm' || n) FROM generate_series(1, ${count}) AS n`
      const { body } = yield* call("GET", `/runs/${runId}/messages`)
      assert.deepStrictEqual(
        body.map((message: { messageId: string }) => message.messageId),
        Array.from({ length: count }, (_, index) => `m${index + 1}`)
      )
    })
  )

  it.effect("finds the run of a session id that is not a UUID", () =>
    Effect.gen(function* () {
      const sessionId = randomBytes(18).toString("base64url")
      const { body } = yield* post("/runs", descriptor({ session: { sessionId } }))
      assert.strictEqual((yield* post(`/runs/${sessionId}/archive`)).body.id, body.runId)
      assert.strictEqual(
        (yield* post(`/runs/${sessionId}/artifacts`, { kind: "log", label: "l" })).body.runId,
        body.runId
      )
      assert.strictEqual((yield* post(`/runs/${sessionId}/clone`)).status, 201)
      yield* endRun(RunId.make(body.runId))
      assert.strictEqual((yield* remove(sessionId)).status, 204)
    })
  )

  for (const [method, path, body] of [
    ["POST", "clone", {}],
    ["POST", "archive", undefined],
    ["POST", "artifacts", { kind: "log", label: "l" }],
    ["POST", "projection/rebuild", undefined],
    ["GET", "traces", undefined],
    ["GET", "export", undefined],
    ["DELETE", "", undefined]
  ] as const) {
    it.effect(`answers 404 and 400 for unknown and malformed ids on ${method} /runs/:id/${path}`, () =>
      Effect.gen(function* () {
        const id = randomUUID()
        const suffix = path === "" ? "" : `/${path}`
        const unknown = yield* call(method, `/runs/${id}${suffix}`, { body })
        assert.strictEqual(unknown.status, 404, unknown.text)
        assert.strictEqual(unknown.body.errorCode, "RUN_NOT_FOUND")
        assert.strictEqual(unknown.body.message, `run ${id} not found`)
        const malformed = yield* call(method, `/runs/nope${suffix}`, { body })
        assert.strictEqual(malformed.status, 400)
        assert.strictEqual(malformed.body.message, "Validation failed (uuid is expected)")
      })
    )
  }
})
