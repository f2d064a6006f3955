import {
  type Actor,
  ControlPlaneApi,
  CurrentActor,
  controlPlaneError,
  endpointRemoved,
  type Run,
  type RunEventsQuery,
  type RunListQuery,
  type RunStreamQuery,
  runNotFound
} from "@runplane/api"
import { emptyRunMetrics, emptyRunState, type RunDescriptor, RunId } from "@runplane/domain"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { ControlPlaneEdge, edgeServices } from "../../src/index.ts"
import { Admin, Runtime } from "./FakeAdministration.ts"
import { AgUi, Dashboard, Replay } from "./FakeDashboard.ts"
import { Erasures } from "./FakeErasures.ts"
import { Evidence } from "./FakeEvidence.ts"
import { Alerts, Committees, MarkReports, Marks, Prices, Query, Views } from "./FakeSearch.ts"

export const RUN_ID = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

export const run: Run = {
  id: RUN_ID,
  runId: RUN_ID,
  status: "running",
  mode: "live",
  runtimeKind: "rust",
  runtimeSessionId: RUN_ID,
  traceId: "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e",
  lastEventSeq: 12,
  lastEventIndex: 7,
  tags: [],
  metadata: { executionRequest: {} },
  createdAt: "2026-07-01T10:00:00.000Z",
  updatedAt: "2026-07-01T10:00:02.140Z",
  archivedAt: null
}

export const descriptor: RunDescriptor = {
  mode: "live",
  runtime: { kind: "rust" },
  session: {
    modeName: "macp.mode.decision.v1",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 60_000,
    participants: [{ id: "a" }]
  }
}

/** What the fake handlers were given, in order. */
export class Seen extends Context.Service<
  Seen,
  {
    readonly descriptors: Array<RunDescriptor>
    readonly actors: Array<Actor>
    readonly listQueries: Array<RunListQuery>
    readonly eventQueries: Array<RunEventsQuery>
    readonly streamQueries: Array<{ readonly query: RunStreamQuery; readonly lastEventId: string | undefined }>
    readonly reasons: Array<string | undefined>
    readonly ids: Array<string>
    /** The query of each connection to the stream of the log. */
    readonly logQueries: Array<readonly [afterSeq: number | undefined, q: string | undefined, last: string | undefined]>
    /** The bytes of the next stream connections, one text a connection. */
    readonly streams: Array<string>
  }
>()("runplane/server/test/Seen") {
  static readonly layer = Layer.sync(Seen, () => ({
    descriptors: [],
    actors: [],
    listQueries: [],
    eventQueries: [],
    streamQueries: [],
    reasons: [],
    ids: [],
    logQueries: [],
    streams: []
  }))
}

const known = (id: string) => (id === RUN_ID ? Effect.succeed(run) : Effect.fail(runNotFound(id)))

const Runs = HttpApiBuilder.group(
  ControlPlaneApi,
  "runs",
  Effect.fn(function* (handlers) {
    const seen = yield* Seen
    const lifecycle = ({ params, payload }: { params: { id: string }; payload: { reason?: string } }) =>
      Effect.andThen(
        Effect.sync(() => seen.reasons.push(payload.reason)),
        known(params.id)
      )
    return handlers.handleAll({
      create: ({ payload }) =>
        Effect.gen(function* () {
          seen.actors.push(yield* CurrentActor)
          seen.descriptors.push(payload)
          return { runId: RUN_ID, sessionId: RUN_ID, status: "queued" as const, traceId: run.traceId }
        }),
      validate: () =>
        Effect.succeed({ valid: true, errors: [], warnings: [], runtime: { reachable: true, supportedModes: [] } }),
      list: ({ query }) =>
        Effect.sync(() => {
          seen.listQueries.push(query)
          return { data: [run], total: 1, limit: query.limit, offset: query.offset }
        }),
      get: ({ params }) => {
        seen.ids.push(params.id)
        return known(params.id)
      },
      state: () =>
        Effect.succeed(
          HttpServerResponse.text(JSON.stringify(emptyRunState(RUN_ID)), { contentType: "application/json" })
        ),
      metrics: ({ params }) => Effect.as(known(params.id), emptyRunMetrics(RUN_ID)),
      artifacts: () => Effect.die(new Error("a handler that is broken")),
      messages: () => Effect.succeed([]),
      message: ({ params }) => Effect.fail(runNotFound(params.id)),
      abandon: ({ params }) => known(params.id),
      cancel: lifecycle,
      suspend: lifecycle,
      resume: lifecycle
    })
  })
)

const Events = HttpApiBuilder.group(
  ControlPlaneApi,
  "events",
  Effect.fn(function* (handlers) {
    const seen = yield* Seen
    return handlers.handle("list", ({ query }) =>
      Effect.sync(() => {
        seen.eventQueries.push(query)
        return query.type === undefined ? [] : { data: [], total: 0, limit: query.limit }
      })
    )
  })
)

const Streams = HttpApiBuilder.group(
  ControlPlaneApi,
  "stream",
  Effect.fn(function* (handlers) {
    const seen = yield* Seen
    const ticket = {
      ticket: "t",
      runId: RUN_ID,
      expiresAt: run.createdAt,
      streamUrl: `/runs/${RUN_ID}/stream?ticket=t`
    }
    return handlers
      .handle("ticket", () => Effect.succeed(ticket))
      .handle("run", ({ query, headers, params }) =>
        Effect.gen(function* () {
          yield* known(params.id)
          seen.streamQueries.push({ query, lastEventId: headers["last-event-id"] })
          return HttpServerResponse.stream(Stream.encodeText(Stream.make(seen.streams.shift() ?? "")), {
            contentType: "text/event-stream"
          })
        })
      )
  })
)

const NOTHING_MORE = {
  statusCode: 400,
  errorCode: "VALIDATION_ERROR",
  message: "the log has no further events",
  error: "Bad Request"
}

const CrossRunEvents = HttpApiBuilder.group(
  ControlPlaneApi,
  "crossRunEvents",
  Effect.fn(function* (handlers) {
    const seen = yield* Seen
    return handlers.handleAll({
      list: ({ query }) => Effect.succeed({ data: [], total: 0, limit: query.limit }),
      stream: ({ headers, query }) =>
        Effect.sync(() => {
          seen.logQueries.push([query.afterSeq, query.q, headers["last-event-id"]])
          const bytes = seen.streams.shift()
          return bytes === undefined
            ? HttpServerResponse.jsonUnsafe(NOTHING_MORE, { status: 400 })
            : HttpServerResponse.text(bytes, { contentType: "text/event-stream" })
        })
    })
  })
)

const Policies = HttpApiBuilder.group(ControlPlaneApi, "policies", (handlers) =>
  handlers.handleAll({
    register: () => Effect.succeed({ ok: true }),
    list: () => Effect.succeed([]),
    get: ({ params }) =>
      Effect.succeed({ policyId: params.policyId, mode: "*", description: "", rules: {}, schemaVersion: 3 }),
    unregister: () => Effect.succeed({ ok: true as const })
  })
)

const Management = HttpApiBuilder.group(ControlPlaneApi, "management", (handlers) =>
  handlers.handleAll({
    clone: () => Effect.succeed({ runId: RUN_ID, sessionId: RUN_ID, status: "queued" as const, traceId: run.traceId }),
    archive: ({ params }) => known(params.id),
    unarchive: ({ params }) => known(params.id),
    remove: ({ params }) => Effect.asVoid(known(params.id)),
    addArtifact: ({ payload }) => Effect.succeed({ id: RUN_ID, runId: RUN_ID, createdAt: run.createdAt, ...payload })
  })
)

const Batch = HttpApiBuilder.group(ControlPlaneApi, "batch", (handlers) =>
  handlers.handleAll({
    cancel: ({ payload }) => Effect.succeed(payload.runIds.map((runId) => ({ runId, status: "cancelled" as const }))),
    archive: ({ payload }) => Effect.succeed(payload.runIds.map((runId) => ({ runId, status: "archived" as const }))),
    unarchive: ({ payload }) =>
      Effect.succeed(payload.runIds.map((runId) => ({ runId, status: "unarchived" as const }))),
    remove: ({ payload }) => Effect.succeed(payload.runIds.map((runId) => ({ runId, status: "deleted" as const }))),
    export: () => Effect.succeed([])
  })
)

const Traces = HttpApiBuilder.group(ControlPlaneApi, "traces", (handlers) =>
  handlers.handleAll({
    spans: () => Effect.succeed({ data: [], nextCursor: 0, hasMore: false }),
    traces: () => Effect.succeed({ spanCount: 0, linkedArtifacts: [], runStatus: run.status })
  })
)

const Compare = HttpApiBuilder.group(ControlPlaneApi, "compare", (handlers) =>
  handlers.handleAll({
    compare: ({ payload }) =>
      Effect.succeed({
        left: { runId: RunId.make(payload.leftRunId), status: run.status },
        right: { runId: RunId.make(payload.rightRunId), status: run.status },
        statusMatch: true,
        participantsDiff: { added: [], removed: [], common: [] },
        signalsDiff: { added: [], removed: [] },
        divergence: null
      })
  })
)

const Projection = HttpApiBuilder.group(ControlPlaneApi, "projection", (handlers) =>
  handlers.handleAll({
    rebuild: () => Effect.succeed({ rebuilt: true as const, latestSeq: 0, ...emptyRunState(RUN_ID) })
  })
)

const Exports = HttpApiBuilder.group(ControlPlaneApi, "exports", (handlers) =>
  handlers.handleAll({
    export: ({ query }) =>
      Effect.succeed(HttpServerResponse.text(`${query.format}\n`, { contentType: "application/x-ndjson" }))
  })
)

const Decisions = HttpApiBuilder.group(ControlPlaneApi, "decisions", (handlers) => {
  const missing = () => Effect.fail(runNotFound(RUN_ID))
  return handlers.handleAll({
    forecast: missing,
    card: missing,
    why: missing,
    whatIf: missing,
    divergence: missing,
    backtest: missing,
    stability: () =>
      Effect.succeed({
        n: 0,
        excluded: { byReason: {} },
        outcomes: [],
        agreement: { rate: 0, low: 0, high: 1, method: "wilson" as const, confidence: 0.95 },
        mindChanges: 0,
        cost: { p50: 0, p95: 0 },
        durationMs: { p50: 0, p95: 0 },
        flips: [],
        isLimited: false
      })
  })
})

const Seals = HttpApiBuilder.group(ControlPlaneApi, "seals", (handlers) =>
  handlers.handleAll({
    tombstones: ({ query }) => Effect.succeed({ data: [], limit: query.limit }),
    seal: () => Effect.fail(runNotFound(RUN_ID)),
    salts: () => Effect.fail(runNotFound(RUN_ID))
  })
)
const Ledger = HttpApiBuilder.group(ControlPlaneApi, "ledger", (handlers) =>
  handlers.handleAll({ list: ({ query }) => Effect.succeed({ data: [], limit: query.limit }) })
)

const SealKeys = HttpApiBuilder.group(ControlPlaneApi, "sealKeys", (handlers) =>
  handlers.handleAll({ keys: () => Effect.succeed({ keys: [] }) })
)

const Removed = HttpApiBuilder.group(ControlPlaneApi, "removed", (handlers) =>
  handlers.handleAll({
    messages: () => Effect.fail(endpointRemoved("POST /runs/:id/messages")),
    signal: () => Effect.fail(endpointRemoved("POST /runs/:id/signal")),
    context: () => Effect.fail(endpointRemoved("POST /runs/:id/context"))
  })
)

const Ingest = HttpApiBuilder.group(ControlPlaneApi, "ingest", (handlers) => {
  const received = () => Effect.succeed(HttpServerResponse.uint8Array(new Uint8Array()))
  return handlers.handleRaw("traces", received).handleRaw("logs", received).handleRaw("metrics", received)
})

const Health = HttpApiBuilder.group(ControlPlaneApi, "health", (handlers) =>
  handlers.handleAll({
    healthz: () => Effect.succeed({ status: "ok" as const }),
    livez: () => Effect.succeed({ status: "ok" as const }),
    readyz: () => {
      const checks = {
        database: "ok" as const,
        log: { ok: true, detail: "" },
        runtime: { ok: true, runtimeKind: "rust" },
        streamConsumer: "ok" as const,
        circuitBreaker: "CLOSED" as const
      }
      return Effect.succeed({ status: "ok" as const, checks, ok: true, ...checks })
    },
    metrics: () => Effect.succeed("up 1\n")
  })
)

const Webhooks = HttpApiBuilder.group(ControlPlaneApi, "webhooks", (handlers) => {
  const missing = () => Effect.fail(controlPlaneError("NOT_FOUND", "no such webhook"))
  return handlers.handleAll({
    create: ({ payload }) =>
      Effect.succeed({ id: RUN_ID, ...payload, active: true, createdAt: run.createdAt, updatedAt: run.createdAt }),
    list: () => Effect.succeed([]),
    update: missing,
    remove: () => Effect.void,
    deliveries: missing,
    test: missing,
    redeliver: missing
  })
})

const Audit = HttpApiBuilder.group(ControlPlaneApi, "audit", (handlers) =>
  handlers.handle("list", ({ query }) =>
    Effect.succeed({ data: [], total: 0, limit: query.limit, offset: query.offset })
  )
)

/** The routes of a control plane of fakes; settings as environment variables. */
export const fakeControlPlane = (env: Readonly<Record<string, string>> = {}) =>
  HttpRouter.serve(
    HttpApiBuilder.layer(ControlPlaneApi).pipe(
      Layer.provide([
        Runs,
        Events,
        CrossRunEvents,
        Streams,
        Replay,
        AgUi,
        Dashboard,
        Query,
        MarkReports,
        Prices,
        Views,
        Erasures,
        Marks,
        Alerts,
        Policies,
        Removed,
        Ingest,
        Health,
        Admin,
        Runtime,
        Webhooks,
        Audit,
        Management,
        Batch,
        Layer.mergeAll(Traces, Compare, Projection, Exports, Evidence),
        ControlPlaneEdge.handlers,
        Committees,
        Decisions,
        Seals,
        Ledger,
        SealKeys
      ]),
      Layer.provide(ControlPlaneEdge.layerMiddleware),
      Layer.merge(ControlPlaneEdge.layer)
    ),
    { disableLogger: true, disableListenLog: true }
  ).pipe(
    Layer.provide(edgeServices),
    Layer.provideMerge(Seen.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )
