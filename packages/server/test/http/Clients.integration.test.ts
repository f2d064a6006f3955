import { assert, layer } from "@effect/vitest"
import {
  BadRequest,
  CatalogEntryNotFound,
  ControlPlaneClient,
  LauncherClient,
  NotFound,
  runEventsQuery,
  runListQuery,
  Unauthenticated,
  ValidationFailed
} from "@runplane/api"
import { emptyRunMetrics, emptyRunState, type RecordedEvent, type RunState, type RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { layerServer } from "../support/Ask.ts"
import { descriptor, fakeControlPlane, RUN_ID, run, Seen } from "../support/FakeControlPlane.ts"
import { fakeLauncher } from "../support/FakeLauncher.ts"

const baseUrl = Effect.map(HttpServer.HttpServer, ({ address }) =>
  address._tag === "UnixPathAddress" ? "" : `http://127.0.0.1:${address.port}`
)

const clientWith = (apiKey: string) =>
  Layer.unwrap(Effect.map(baseUrl, (url) => ControlPlaneClient.layer({ baseUrl: url, apiKey: Redacted.make(apiKey) })))

const controlPlane = clientWith("key").pipe(
  Layer.provide(FetchHttpClient.layer),
  Layer.provideMerge(fakeControlPlane({ AUTH_API_KEYS: "key", THROTTLE_LIMIT: "1000" })),
  Layer.provideMerge(layerServer)
)

const listDefaults = Schema.decodeUnknownSync(runListQuery)({})
const eventDefaults = Schema.decodeUnknownSync(runEventsQuery)({})
const MISSING = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a11"

const event = (seq: number): RecordedEvent => ({
  id: `event-${seq}`,
  runId: RUN_ID,
  seq,
  index: seq,
  ts: "2026-07-01T10:00:00.000Z",
  type: "message.received",
  schemaVersion: 3,
  source: { kind: "runtime", name: "rust-runtime" },
  data: {}
})

const state = (status: RunStatus, latestSeq: number): RunState => {
  const empty = emptyRunState(RUN_ID)
  return { ...empty, run: { ...empty.run, status }, timeline: { ...empty.timeline, latestSeq } }
}

const eventFrame = (seq: number) => `event: canonical_event\nid: ${seq}\ndata: ${JSON.stringify(event(seq))}\n\n`
const snapshotFrame = (status: RunStatus, latestSeq: number) =>
  `event: snapshot\ndata: ${JSON.stringify(state(status, latestSeq))}\n\n`
const heartbeatFrame = `event: heartbeat\ndata: {"ts":"2026-07-01T10:00:00.000Z","seq":2,"index":2}\n\n`

layer(controlPlane, { excludeTestServices: true })("the typed client of the control plane", (it) => {
  it.effect("creates, lists and reads runs", () =>
    Effect.gen(function* () {
      const { api } = yield* ControlPlaneClient
      const accepted = yield* api.runs.create({ payload: descriptor })
      assert.deepInclude(accepted, { runId: RUN_ID, status: "queued" })
      assert.deepStrictEqual((yield* Seen).descriptors.at(-1), descriptor)
      const query = { ...listDefaults, tags: ["a", "b"], limit: 7 }
      assert.deepStrictEqual((yield* api.runs.list({ query })).data, [run])
      assert.deepStrictEqual((yield* Seen).listQueries.at(-1), query)
      assert.deepStrictEqual(yield* api.runs.get({ params: { id: RUN_ID }, query: {} }), run)
      assert.deepStrictEqual(yield* api.runs.cancel({ params: { id: RUN_ID }, payload: { reason: "r" } }), run)
    })
  )

  it.effect("decodes what a handler passed through as stored text", () =>
    Effect.gen(function* () {
      const { api } = yield* ControlPlaneClient
      assert.deepStrictEqual(yield* api.runs.state({ params: { id: RUN_ID } }), emptyRunState(RUN_ID))
      assert.deepStrictEqual(yield* api.runs.metrics({ params: { id: RUN_ID } }), emptyRunMetrics(RUN_ID))
      assert.strictEqual(yield* api.health.metrics(), "up 1\n")
    })
  )

  it.effect("gets the bare array or the envelope", () =>
    Effect.gen(function* () {
      const { api } = yield* ControlPlaneClient
      const params = { id: RUN_ID }
      assert.deepStrictEqual(yield* api.events.list({ params, query: eventDefaults }), [])
      assert.deepStrictEqual(yield* api.events.list({ params, query: { ...eventDefaults, type: ["x"] } }), {
        data: [],
        total: 0,
        limit: 200
      })
    })
  )

  it.effect("fails with the errors as instances of their classes", () =>
    Effect.gen(function* () {
      const { api } = yield* ControlPlaneClient
      const unknown = yield* Effect.flip(api.runs.get({ params: { id: MISSING }, query: {} }))
      assert.instanceOf(unknown, NotFound)
      assert.deepInclude(unknown, { errorCode: "RUN_NOT_FOUND", message: `run ${MISSING} not found` })
      const tooMany = { ...listDefaults, limit: 500 }
      const refused = yield* Effect.flip(api.runs.list({ query: tooMany }))
      assert.instanceOf(refused, ValidationFailed)
      assert.deepStrictEqual(refused.message, ["limit must not be greater than 200"])
      const stranger = yield* Effect.flip(
        Effect.flatMap(ControlPlaneClient, (client) => client.api.runs.list({ query: listDefaults })).pipe(
          Effect.provide(Layer.fresh(clientWith("wrong"))),
          Effect.provide(FetchHttpClient.layer)
        )
      )
      assert.instanceOf(stranger, Unauthenticated)
    })
  )

  it.effect("follows the log over broken connections until it is refused, nothing twice and nothing lost", () =>
    Effect.gen(function* () {
      const seen = yield* Seen
      const { streamLog } = yield* ControlPlaneClient
      const beat = (seq: number) =>
        `event: heartbeat\nid: ${seq}\ndata: {"ts":"2026-07-01T10:00:00.000Z","seq":${seq}}\n\n`
      seen.streams.push(beat(4) + eventFrame(5) + eventFrame(6).slice(0, 20), "", beat(5) + eventFrame(7) + beat(9))
      const broken: Array<string> = []
      const received: Array<number> = []
      const options = { afterSeq: 4, q: "type:message.received", types: ["message.received"] }
      const onInterruption = ({ _tag }: { readonly _tag: string }) => Effect.sync(() => void broken.push(_tag))
      const ended = yield* streamLog({ ...options, onInterruption }).pipe(
        Stream.runForEach((frame) =>
          Effect.sync(() => frame.event === "canonical_event" && received.push(frame.data.seq))
        ),
        Effect.flip
      )
      assert.instanceOf(ended, BadRequest)
      assert.deepStrictEqual(received, [5, 7])
      assert.deepStrictEqual(seen.logQueries, [
        [4, "type:message.received", undefined],
        [undefined, "type:message.received", "5"],
        [undefined, "type:message.received", "5"],
        [undefined, "type:message.received", "9"]
      ])
      assert.deepStrictEqual(broken, ["RunStreamBroken", "RunStreamBroken", "RunStreamBroken"])
    })
  )

  it.effect("follows a run over broken connections to its end, nothing twice and nothing lost", () =>
    Effect.gen(function* () {
      const seen = yield* Seen
      const { streamRun } = yield* ControlPlaneClient
      seen.streamQueries.length = 0
      seen.streams.push(
        snapshotFrame("running", 1) + eventFrame(1) + heartbeatFrame + eventFrame(2) + eventFrame(3).slice(0, 20),
        "",
        `event: later\ndata: 1\n\n${snapshotFrame("completed", 4)}${eventFrame(3)}${eventFrame(4)}`
      )
      const events = yield* Stream.runCollect(streamRun(RUN_ID, { afterSeq: 0, heartbeatMs: 2000 }))
      assert.deepStrictEqual(
        events.flatMap((frame) => (frame.event === "canonical_event" ? [frame.data.seq] : [])),
        [1, 2, 3, 4]
      )
      assert.deepStrictEqual(
        events.map((frame) => frame.event).filter((name) => name !== "canonical_event"),
        ["snapshot", "heartbeat", "snapshot"]
      )
      assert.deepStrictEqual(
        seen.streamQueries.map(({ query, lastEventId }) => [query.afterSeq, query.heartbeatMs, lastEventId]),
        [
          [0, 2000, undefined],
          [undefined, 2000, "2"],
          [undefined, 2000, "2"]
        ]
      )
    })
  )

  it.effect("ends at once when a run without a backfill has ended, and fails for an unknown run", () =>
    Effect.gen(function* () {
      const { streamRun } = yield* ControlPlaneClient
      ;(yield* Seen).streams.push(snapshotFrame("failed", 9))
      const frames = yield* Stream.runCollect(streamRun(RUN_ID))
      assert.deepStrictEqual(
        frames.map((frame) => frame.event),
        ["snapshot"]
      )
      assert.instanceOf(yield* Effect.flip(Stream.runDrain(streamRun(MISSING))), NotFound)
    })
  )
})

const launcher = Layer.unwrap(
  Effect.map(baseUrl, (url) => LauncherClient.layer({ baseUrl: url, apiKey: Redacted.make("k") }))
).pipe(
  Layer.provide(FetchHttpClient.layer),
  Layer.provideMerge(fakeLauncher({ AUTH_API_KEYS: "k" })),
  Layer.provideMerge(layerServer)
)

layer(launcher, { excludeTestServices: true })("the typed client of the launch service", (it) => {
  it.effect("calls with its key and gets errors as instances", () =>
    Effect.gen(function* () {
      const client = yield* LauncherClient
      assert.deepStrictEqual(yield* client.health.healthz(), { ok: true, service: "launcher" })
      const result = yield* client.launch.runExample({ payload: { scenarioRef: "a/b@1", inputs: {} } })
      assert.deepStrictEqual(result.hostedAgents, [])
      const unknown = yield* Effect.flip(client.catalog.agent({ params: { agentRef: "x" } }))
      assert.instanceOf(unknown, CatalogEntryNotFound)
      assert.strictEqual(unknown.errorCode, "AGENT_NOT_FOUND")
    })
  )
})
