import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { RuntimeFake } from "@runplane/runtime/testing"
import type { SseFrame } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { LedgerWriter } from "../../src/platform/ledger/LedgerWriter.ts"
import { call, descriptor, layerTestService, openStream } from "../support/HttpService.ts"
import { awaitStatus } from "../support/Observation.ts"
import { committedDocument, departures, frameDepartures, livingOperations } from "./Description.ts"
import { givens, METADATA } from "./World.ts"

interface Request {
  readonly method: string
  /** As the document has it. */
  readonly path: string
  readonly ids?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** 2xx unless said. */
  readonly status?: number
}

const asked = new Set<string>()

/** Makes a request and compares the answer with what the document says of it. */
const ask = Effect.fnUntraced(function* ({ body, headers, ids = {}, method, path, query, status }: Request) {
  const filled = Object.entries(ids).reduce((text, [name, id]) => text.replace(`{${name}}`, id), path)
  const url = query === undefined ? filled : `${filled}?${query}`
  const answer = yield* call(method, url, { ...(body === undefined ? {} : { body }), ...(headers && { headers }) })
  assert.deepStrictEqual(departures(method, path, answer), [], `${method} ${url}`)
  if (status === undefined) assert.isBelow(answer.status, 300, answer.text)
  else assert.strictEqual(answer.status, status, answer.text)
  asked.add(`${method} ${path}`)
  return answer.body
})

/** Artifacts with a key, and accepted messages by their ids. */
const artifactsAndMessages = Effect.fnUntraced(function* (id: string) {
  const artifacts = { method: "POST", path: "/runs/{id}/artifacts", ids: { id } }
  const report = { kind: "report", label: "Post-mortem", inline: { pages: 3 }, idempotencyKey: "report-17" }
  yield* ask({ ...artifacts, body: report })
  yield* ask({ ...artifacts, body: report })
  yield* ask({ ...artifacts, body: { ...report, label: "Another" }, status: 409 })
  yield* ask({ ...artifacts, body: { kind: "people.item", label: "Question", inline: {} }, status: 400 })
  yield* ask({ ...artifacts, body: { kind: "shadow.acts", label: "b~new", inline: {} }, status: 400 })
  const { body: messages } = yield* call("GET", `/runs/${id}/messages`)
  const message = { method: "GET", path: "/runs/{id}/messages/{messageId}" }
  yield* ask({ ...message, ids: { id, messageId: messages[0]?.messageId } })
  yield* ask({ ...message, ids: { id, messageId: "none" }, status: 404 })
})

/** Marks of all runs, records of agents, and committees. */
const reportsOverRuns = Effect.gen(function* () {
  const get = (path: string, query?: string) => ask({ method: "GET", path, ...(query && { query }) })
  yield* get("/marks", "q=name:correct")
  yield* get("/marks/agreement", "sources=human,judge")
  yield* get("/agents/records")
  yield* ask({ method: "GET", path: "/agents/{participantId}/record", ids: { participantId: "lead" } })
  for (const part of ["independence", "seats"]) yield* get(`/committees/${part}`, "q=status:completed")
  yield* ask({ method: "POST", path: "/committees/search", body: { q: "status:completed" }, status: 409 })
})

const framesUntil = Effect.fnUntraced(function* (url: string, last: string) {
  const stream = yield* openStream(url)
  const frames: Array<SseFrame> = []
  while (frames.at(-1)?.event !== last) {
    const frame = yield* stream.next
    if (frame === undefined) return frames
    frames.push(frame)
  }
  return frames
})

const development = layerTestService({ settings: { NODE_ENV: "development", WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" } })

layer(development, { excludeTestServices: true })("the OpenAPI document of the control plane", (it) => {
  it.effect("is what the service serves", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* call("GET", "/docs-json")).body, committedDocument)
    })
  )

  it.effect("describes the answers of every operation", () =>
    Effect.gen(function* () {
      const scripted = yield* givens.scripted
      const ids = { id: scripted }
      const get = (path: string, query?: string) => ask({ method: "GET", path, ids, ...(query && { query }) })
      const post = (path: string, body?: unknown, id: string = scripted) =>
        ask({ method: "POST", path, ids: { id }, ...(body !== undefined && { body }) })

      // Runs: read, changed, gone.
      yield* post("/runs/validate", descriptor())
      const created = yield* post("/runs", descriptor({ session: { metadata: METADATA } }))
      yield* awaitStatus(created.runId, "starting")
      for (const id of [scripted, created.runId]) {
        for (const part of ["", "/state", "/metrics", "/artifacts", "/messages", "/traces", "/spans"]) {
          yield* ask({ method: "GET", path: `/runs/{id}${part}`, ids: { id } })
        }
      }
      yield* post("/runs/{id}/abandon", { reason: "the agents are gone" }, created.runId)
      yield* get("/runs", "limit=5&includeArchived=true")
      yield* get("/runs", "limit=5&include=decision")
      yield* artifactsAndMessages(scripted)
      const running = yield* givens.running
      yield* post("/runs/{id}/suspend", { reason: "tea" }, running)
      yield* post("/runs/{id}/resume", {}, running)
      yield* post("/runs/{id}/cancel", {}, yield* givens.delegated)
      const clone = yield* post("/runs/{id}/clone", { tags: ["retry"] })
      yield* post("/runs/{id}/archive")
      yield* post("/runs/{id}/unarchive")
      yield* post("/runs/{id}/projection/rebuild")
      yield* post("/runs/compare", { leftRunId: scripted, rightRunId: running })

      // What is said about decisions.
      yield* get("/runs/{id}/forecast", "atSeq=1")
      yield* get("/runs/{id}/decision/why")
      yield* get("/runs/{id}/decision/card", "atSeq=1")
      yield* post("/runs/{id}/what-if", { policy: { rules: { voting: { algorithm: "unanimous" } } } })
      yield* get("/runs/{id}/divergence", `with=${running}`)

      yield* post("/policies/backtest", { policy: { rules: { voting: { algorithm: "unanimous" } } } })
      yield* get("/stability", "by=model&q=status:completed")

      // Events, in all forms.
      yield* get("/runs/{id}/events", "limit=3")
      yield* get("/runs/{id}/events", "type=proposal.created,decision.finalized&limit=1")
      yield* get("/events", "limit=1000")
      yield* get("/events", "limit=10&q=sender:*")
      yield* get("/query/fields", "resource=runs")
      yield* get("/runs/facets", "fields=status,tags")
      yield* get("/me")
      yield* get("/pricing", "model=gpt-4o")
      yield* get("/pricing/unknown")
      yield* get("/pricing/models")
      yield* get("/pricing/calls", "limit=2")
      yield* post("/runs/{id}/stream-tickets")
      for (const query of ["includeRaw=true", "includeRaw=true&format=jsonl"]) yield* get("/runs/{id}/export", query)
      yield* get("/runs/{id}/evidence", "includeRaw=false")
      yield* get("/evidence", "q=status:completed")
      yield* post("/runs/{id}/replay", { mode: "instant", fromSeq: 1 })
      yield* get("/runs/{id}/replay/state", "seq=3")
      const live = yield* framesUntil(`/runs/${scripted}/stream?afterSeq=0&heartbeatMs=1000`, "heartbeat")
      assert.deepStrictEqual(frameDepartures("/runs/{id}/stream", live), [])
      assert.sameMembers([...new Set(live.map(({ event }) => event))], ["snapshot", "canonical_event", "heartbeat"])
      const replayed = yield* framesUntil(`/runs/${scripted}/replay/stream?mode=instant`, "none")
      assert.deepStrictEqual(frameDepartures("/runs/{id}/replay/stream", replayed), [])
      assert.isNotEmpty(replayed)
      const agUi = yield* framesUntil(`/runs/${scripted}/ag-ui`, "none")
      assert.deepStrictEqual(frameDepartures("/runs/{id}/ag-ui", agUi), [])
      assert.strictEqual(agUi.at(-1)?.data.type, "RUN_FINISHED")

      const log = yield* framesUntil("/events/stream?afterSeq=0&heartbeatMs=1000", "heartbeat")
      const tailed = [...log, ...(yield* framesUntil("/events/stream?afterSeq=0&heartbeatMs=1000", "canonical_event"))]
      assert.deepStrictEqual(frameDepartures("/events/stream", tailed), [])

      // OpenTelemetry.
      for (const signal of ["traces", "logs", "metrics"]) yield* post(`/v1/${signal}`, {})

      yield* reportsOverRuns

      // Views.
      const view = yield* post("/views", { name: "Mine", resource: "runs", q: "status:failed", sort: "cost desc" })
      yield* get("/views")
      yield* ask({ method: "PATCH", path: "/views/{id}", ids: { id: view.id }, body: { columns: ["cost"] } })
      yield* ask({ method: "DELETE", path: "/views/{id}", ids: { id: view.id } })

      // Marks.
      const mark = yield* post("/runs/{id}/marks", { target: { kind: "run" }, name: "tone", value: 1, source: "human" })
      yield* get("/runs/{id}/marks", "history=true&kind=run&source=human&name=tone&limit=2&offset=0")
      yield* ask({ method: "DELETE", path: "/runs/{id}/marks/{markId}", ids: { ...ids, markId: mark.id } })
      const named = { path: "/marks/definitions/{name}", ids: { name: "tone" } }
      yield* ask({ method: "PUT", ...named, body: { kind: "number", min: 0, max: 1, better: "higher" } })
      yield* get("/marks/definitions")
      yield* ask({ method: "GET", ...named })
      yield* ask({ method: "DELETE", ...named })

      // Alerts.
      const zone = { zone: "UTC", enabled: true, match: "" }
      const levels = [{ at: 1, severity: "info", actions: [{ type: "tag", tag: "costly" }] }]
      const rule = { name: "Costs", per: "run", window: "run", measure: "costUsd", levels, ...zone }
      const ruled = { path: "/alerts/rules/{id}", ids: { id: "costs" } }
      yield* post("/alerts/rules", { id: "costs", ...rule })
      yield* get("/alerts/rules")
      yield* post("/alerts/rules/test", rule)
      yield* ask({ method: "GET", ...ruled })
      yield* ask({ method: "PUT", ...ruled, body: { ...rule, levels: [{ ...levels[0], at: 0 }] } })
      yield* ask({ method: "POST", path: "/alerts/rules/{id}/test", ids: ruled.ids })
      yield* get("/alerts", "status=open&severity=info&rule=costs&limit=2&offset=0")
      yield* get("/runs/{id}/alerts")
      const alertId = { ids: { id: randomUUID() }, status: 404 }
      yield* ask({ method: "GET", path: "/alerts/{id}", ...alertId })
      yield* ask({ method: "POST", path: "/alerts/{id}/ack", ...alertId, body: { note: "seen" } })
      const until = new Date(Date.now() + 86_400_000).toISOString()
      const silence = yield* post("/alerts/silences", { match: "", until, reason: "test" })
      yield* get("/alerts/silences")
      yield* get("/alerts/budgets")
      yield* ask({ method: "DELETE", path: "/alerts/silences/{id}", ids: { id: silence.id } })
      yield* ask({ method: "DELETE", ...ruled })

      // Batches.
      const runIds = [clone.runId, randomUUID()]
      yield* post("/runs/batch/export", { runIds: [scripted, running] })
      for (const operation of ["cancel", "archive", "unarchive", "delete"])
        yield* post(`/runs/batch/${operation}`, { runIds })

      // The runtime and its policies.
      const policyId = "policy.described"
      yield* post("/runtime/policies", { policyId, mode: "*", rules: {} })
      yield* get("/runtime/policies")
      yield* ask({ method: "GET", path: "/runtime/policies/{policyId}", ids: { policyId } })
      yield* ask({ method: "DELETE", path: "/runtime/policies/{policyId}", ids: { policyId } })
      for (const part of ["manifest", "modes", "roots", "health"]) yield* get(`/runtime/${part}`)

      // Webhooks: the port has no listener.
      const hook = yield* post("/webhooks", { url: "http://127.0.0.1:9/", events: ["run.cancelled"], secret: "s" })
      yield* post("/runs/{id}/cancel", {}, yield* givens.delegated)
      yield* get("/webhooks")
      const deliveries = yield* ask({ method: "GET", path: "/webhooks/{id}/deliveries", ids: { id: hook.id } })
      yield* ask({
        method: "POST",
        path: "/webhooks/{id}/deliveries/{deliveryId}/redeliver",
        ids: { id: hook.id, deliveryId: deliveries.data[0].id }
      })
      yield* ask({ method: "POST", path: "/webhooks/{id}/test", ids: { id: hook.id } })
      yield* ask({ method: "PATCH", path: "/webhooks/{id}", ids: { id: hook.id }, body: { active: false } })
      yield* ask({ method: "DELETE", path: "/webhooks/{id}", ids: { id: hook.id } })

      // Operation.
      yield* get("/admin/process")
      yield* get("/admin/processes")
      yield* get("/admin/archive")
      yield* get("/admin/ingest")
      yield* post("/ingest/tokens", { sessionId: randomUUID(), ttlMs: 1_000 })
      yield* get("/dashboard/overview", "window=1h")
      yield* get("/dashboard/agents/metrics")
      yield* get("/audit", "limit=200")
      yield* get("/admin/circuit-breaker/history")
      yield* post("/admin/circuit-breaker/reset")
      yield* get("/admin/runtime/sessions")
      yield* ask({ method: "PUT", path: "/admin/log-level", body: { level: "info" } })
      for (const path of ["/livez", "/healthz", "/readyz", "/metrics"]) yield* get(path)

      // What proves a history, and what stays of it.
      const { runId: ended } = yield* post("/runs", descriptor())
      yield* post("/runs/{id}/abandon", { reason: "no agent came" }, ended)
      for (const path of ["/runs/{id}/seal", "/runs/{id}/salts"])
        yield* ask({ method: "GET", path, ids: { id: ended } })
      const erasure = { find: "no agent came", reason: "request 4711", dryRun: true }
      yield* post("/runs/{id}/erasures", erasure, ended)
      yield* ask({ method: "GET", path: "/erasures/{id}", ids: { id: (yield* post("/erasures", erasure)).id } })
      for (const path of ["/erasures", "/.well-known/runplane-keys.json"]) yield* get(path)
      yield* ask({ method: "DELETE", path: "/runs/{id}", ids })
      yield* ask({ method: "DELETE", path: "/runs/{id}", ids: { id: ended } })
      yield* LedgerWriter.use(({ numberPending }) => numberPending)
      yield* get("/ledger")
      const left = yield* get("/runs/tombstones")
      assert.strictEqual(left.data[0].runId, ended)
      const streams = ["GET /events/stream", "GET /runs/{id}/stream", "GET /runs/{id}/replay/stream"]
      const translated = ["GET /runs/{id}/ag-ui", "POST /runs/{id}/ag-ui"]
      assert.sameMembers([...asked, ...streams, ...translated], [...livingOperations])
    })
  )

  it.effect("describes the answers to requests that fail", () =>
    Effect.gen(function* () {
      const run = yield* givens.delegated
      yield* call("POST", `/runs/${run}/cancel`)
      const id = randomUUID()
      const failing: ReadonlyArray<Request & { readonly status: number }> = [
        { method: "POST", path: "/runs", body: {}, status: 400 },
        { method: "POST", path: "/runs", body: "{nope", status: 400 },
        { method: "POST", path: "/runs", body: descriptor({ session: { sessionId: "short" } }), status: 400 },
        { method: "POST", path: "/runs", body: descriptor({ runtime: { kind: "cobol" } }), status: 400 },
        { method: "POST", path: "/runs", body: descriptor({ session: { sessionId: run } }), status: 409 },
        { method: "POST", path: "/runs", body: "a".repeat(1_100_000), status: 413 },
        { method: "POST", path: "/runs", body: "<run/>", headers: { "content-type": "text/xml" }, status: 415 },
        { method: "GET", path: "/runs", query: "limit=1000", status: 400 },
        { method: "GET", path: "/runs/{id}", ids: { id }, status: 404 },
        { method: "GET", path: "/runs/{id}", ids: { id: "nonsense" }, status: 400 },
        { method: "POST", path: "/runs/{id}/suspend", ids: { id: run }, status: 400 },
        { method: "POST", path: "/runs/{id}/resume", ids: { id: run }, status: 400 },
        { method: "POST", path: "/runs/{id}/cancel", ids: { id: run }, status: 409 },
        { method: "POST", path: "/runs/{id}/cancel", ids: { id: yield* givens.running }, status: 400 },
        { method: "DELETE", path: "/runs/{id}", ids: { id: yield* givens.waiting }, status: 400 },
        { method: "POST", path: "/runs/{id}/messages", ids: { id }, status: 410 },
        { method: "POST", path: "/runs/{id}/signal", ids: { id }, status: 410 },
        { method: "POST", path: "/runs/{id}/context", ids: { id }, status: 410 },
        { method: "POST", path: "/runs/compare", body: { leftRunId: run, rightRunId: id }, status: 404 },
        { method: "POST", path: "/runtime/policies", body: { policyId: "policy.default", rules: {} }, status: 400 },
        {
          method: "POST",
          path: "/runtime/policies",
          body: { policyId: "p", mode: "macp.mode.decision.v1", rules: { voting: { treshold: 1 } } },
          status: 400
        },
        { method: "GET", path: "/dashboard/overview", query: "from=2026-07-02&to=2026-07-01", status: 400 },
        { method: "GET", path: "/webhooks/{id}/deliveries", ids: { id }, status: 404 },
        { method: "PATCH", path: "/webhooks/{id}", ids: { id }, body: {}, status: 404 }
      ]
      for (const request of failing) yield* ask(request)

      const fake = yield* RuntimeFake
      const refusals = [
        ["UNAVAILABLE", 503],
        ["DEADLINE_EXCEEDED", 504],
        ["UNAUTHENTICATED", 401],
        ["PERMISSION_DENIED", 403],
        ["RESOURCE_EXHAUSTED", 429],
        ["UNIMPLEMENTED", 501],
        ["INTERNAL", 500]
      ] as const
      for (const [reason, status] of refusals) {
        yield* fake.fail({ method: "GetManifest" }, reason, "the runtime's words")
        yield* ask({ method: "GET", path: "/runtime/manifest", status })
        yield* call("POST", "/admin/circuit-breaker/reset")
      }
      yield* fake.fail({ method: "ListSessions" }, "UNAVAILABLE", "the runtime's words")
      yield* ask({ method: "GET", path: "/admin/runtime/sessions", status: 503 })
    })
  )
})

layer(layerTestService({ settings: { AUTH_API_KEYS: "k", THROTTLE_LIMIT: "1" } }), { excludeTestServices: true })(
  "the OpenAPI document of the control plane, of a service with keys and a budget of one request",
  (it) => {
    it.effect("describes the answers to a request without a key, and to one too many", () =>
      Effect.gen(function* () {
        const headers = { authorization: "Bearer k" }
        yield* ask({ method: "GET", path: "/runs", status: 401 })
        yield* ask({ method: "GET", path: "/runs", headers })
        yield* ask({ method: "GET", path: "/runs", headers, status: 429 })
        assert.isNotNull((yield* call("GET", "/runs", { headers })).headers.get("retry-after"))
      })
    )
  }
)
