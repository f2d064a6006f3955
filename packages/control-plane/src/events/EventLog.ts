import * as PgClient from "@effect/sql-pg/PgClient"
import { enrichMetadata } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import { SqlError } from "effect/sql/SqlError"
import { describeSqlError } from "../database/Database.ts"
import { makeWebhookOutbox } from "../webhooks/WebhookOutbox.ts"
import {
  type AppendError,
  type Appended,
  AppendFailed,
  type AppendRequest,
  RunAlreadyExists,
  RunNotFound
} from "./AppendRequest.ts"
import {
  type Decided,
  type Decision,
  decide,
  fold,
  messageRows,
  type PreparedRequest,
  prepare,
  type RunInProgress,
  startRun
} from "./EventFold.ts"
import { FrameNormaliser } from "./FrameNormaliser.ts"
import { Ids } from "./Ids.ts"
import { LiveEvents, makeLiveBatch } from "./LiveEvents.ts"
import { emptyBatch, type LockedHead, makeLogRows } from "./LogRows.ts"
import { type CacheKey, ProjectionCache } from "./ProjectionCache.ts"

/** Appends waiting for a writer; a full queue makes the callers wait. */
export const PENDING_APPENDS = 1024
/** Most frames and most requests that share one transaction. */
export const GROUP_FRAMES = 1000
export const GROUP_REQUESTS = 64
/** Transactions in flight: one commits while the next is being normalised. */
export const WRITERS = 2

interface Pending {
  readonly request: AppendRequest
  readonly done: Deferred.Deferred<Appended, AppendError>
}

type Outcome = Exit.Exit<Appended, AppendError>

/**
 * The one way into the log (design, "The way of the data"). An append is atomic: raw and canonical events, projection, metrics,
 * messages, status and stream cursor commit together or not at all, and subscribers hear of it only afterwards.
 *
 * Appends that wait at the same time share a transaction (group commit), whichever runs they belong to: many quiet runs cost
 * about as much as one busy one. A request that is refused (unknown run, lost cursor, forbidden transition) leaves the
 * others untouched; when the transaction itself fails, each request is tried again by itself.
 */
export class EventLog extends Context.Service<
  EventLog,
  {
    readonly append: (request: AppendRequest) => Effect.Effect<Appended, AppendError>
  }
>()("runplane/control-plane/EventLog") {
  static readonly layerNoDeps = Layer.effect(
    EventLog,
    Effect.gen(function* () {
      const commit = yield* makeCommit
      const pending = yield* Queue.bounded<Pending>(PENDING_APPENDS)

      const write = Effect.gen(function* () {
        const group = yield* takeGroup(pending)
        const outcomes = yield* commit(group.map((item) => item.request))
        yield* Effect.forEach(group, (item, index) => {
          const outcome = outcomes[index] ?? Exit.die("an append without an outcome")
          return Deferred.done(item.done, outcome)
        })
      })
      for (let writer = 0; writer < WRITERS; writer++) yield* Effect.forkScoped(Effect.forever(write))

      const append = Effect.fnUntraced(function* (request: AppendRequest) {
        const done = yield* Deferred.make<Appended, AppendError>()
        yield* Queue.offer(pending, { request, done })
        return yield* Deferred.await(done)
      })
      return EventLog.of({ append })
    })
  )
}

/** Waits for one append and takes what waits behind it, up to the bounds of a group. */
const takeGroup = Effect.fnUntraced(function* (pending: Queue.Queue<Pending>) {
  const group = [yield* Queue.take(pending)]
  let frames = group[0]?.request.frames?.length ?? 0
  while (group.length < GROUP_REQUESTS && frames < GROUP_FRAMES && Queue.sizeUnsafe(pending) > 0) {
    const next = yield* Queue.take(pending)
    group.push(next)
    frames += next.request.frames?.length ?? 0
  }
  return group
})

const makeCommit = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* makeLogRows
  const normaliser = yield* FrameNormaliser
  const cache = yield* ProjectionCache
  const ids = yield* Ids
  const live = yield* LiveEvents
  const tellWebhooks = yield* makeWebhookOutbox

  /** Locks the runs of the group and brings their projections to hand. Unknown runs are simply missing. */
  const openRuns = Effect.fnUntraced(function* (requests: ReadonlyArray<AppendRequest>) {
    const heads = yield* rows.lock([...new Set(requests.map((request) => request.runId))])
    const refolds = new Map(requests.flatMap(({ refold, runId }) => (refold === undefined ? [] : [[runId, refold]])))
    const cold = [...heads.values()].filter(
      (head) => head.lastSeq > 0 && !refolds.has(head.run.id) && cache.get(keyOf(head)) === undefined
    )
    const loaded = cold.length === 0 ? new Map() : yield* cache.load(cold.map((head) => head.run.id))
    const runs = new Map<string, RunInProgress>()
    for (const [id, head] of heads) {
      const refold = refolds.get(head.run.id)
      const known = refold === undefined ? (cache.get(keyOf(head)) ?? loaded.get(id)) : yield* refold(head.lastSeq)
      runs.set(id, startRun(head, known))
    }
    return runs
  })

  /** Rows that follow from what was decided: status and metadata of the run, state of its session. */
  const writeConsequences = Effect.fnUntraced(function* (decision: Decision) {
    const { at, prepared, run } = decision
    const { change } = prepared.request
    for (const draft of decision.drafts) {
      if (draft.type === "session.state.changed" && typeof draft.data["state"] === "string") {
        yield* rows.updateSession(prepared.request.runId, draft.ts, draft.data["state"], null)
      } else if (draft.type === "session.stream.opened") {
        const { status } = draft.data
        if (status === "opened" || status === "recovered")
          yield* rows.updateSession(prepared.request.runId, draft.ts, null, true)
        if (status === "closed" || status === "reconnecting")
          yield* rows.updateSession(prepared.request.runId, draft.ts, null, false)
      }
    }
    if (change === undefined || decision.change !== "applied") return
    const metadata = yield* enrichedMetadata(decision)
    yield* rows.updateStatus({
      runId: prepared.request.runId,
      status: change.to,
      at,
      startedAt: run.startedAt ?? null,
      endedAt: run.endedAt ?? null,
      errorCode: change.failure?.errorCode ?? null,
      errorMessage: change.failure?.errorMessage ?? null,
      metadata
    })
    const error = change.failure?.errorMessage
    yield* tellWebhooks({ runId: prepared.request.runId, status: change.to, drafts: decision.drafts, at, error })
  })

  /** run-control-plane "Run metadata enrichment": on completed and failed. Nothing in it can fail the transition. */
  const enrichedMetadata = Effect.fnUntraced(function* ({ at, prepared, run }: Decision) {
    const { change, runId } = prepared.request
    if (change?.to !== "completed" && change?.to !== "failed") return null
    const metadata = decodeMetadata(yield* rows.readMetadata(runId))
    const enriched = enrichMetadata(run.projected.state, run.projected.metrics, {
      startedAt: run.startedAt,
      endedAt: at
    })
    const error = change.failure === undefined ? {} : { error: change.failure.errorMessage }
    return JSON.stringify({ ...metadata, ...enriched, ...error })
  })

  const transact = Effect.fnUntraced(function* (requests: ReadonlyArray<PreparedRequest>) {
    const taken = new Set<AppendRequest>()
    for (const { request } of requests) {
      if (request.create !== undefined && !(yield* request.create)) taken.add(request)
    }
    const runs = yield* openRuns(requests.map(({ request }) => request))
    const known = requests.filter(({ request }) => runs.has(request.runId) && !taken.has(request))
    const messages = messageRows(known)
    const fresh = messages.runId.length === 0 ? new Set<string>() : yield* rows.insertMessages(messages)
    const at = new Date(yield* Clock.currentTimeMillis).toISOString()

    const decided = new Map<AppendRequest, Decided>()
    for (const prepared of known) {
      const run = runs.get(prepared.request.runId)
      if (run !== undefined) decided.set(prepared.request, decide(prepared, run, fresh, at))
    }
    // What nobody has used belongs to refused requests: kept, it would make the rightful append look like a repetition.
    if (fresh.size > 0) yield* rows.forgetMessages([...fresh])
    const decisions = [...decided.values()].flatMap((item) => (item._tag === "Decided" ? [item.decision] : []))
    const count = decisions.reduce((sum, decision) => sum + decision.drafts.length, 0)
    const places = { seqs: count === 0 ? [] : yield* rows.allocate(count), ids: yield* ids.uuids(count), next: 0 }

    const batch = emptyBatch()
    const committed = new Map<AppendRequest, Appended>()
    for (const decision of decisions) {
      const { request } = decision.prepared
      const events = fold(decision, places, batch)
      const { run } = decision
      committed.set(request, {
        runId: request.runId,
        status: run.status,
        change: decision.change,
        events,
        cursor: run.cursor,
        lastSeq: run.lastSeq,
        lastIndex: run.lastIndex,
        state: run.projected.state
      })
    }
    const dirty = [...runs.values()].filter((run) => run.dirty)
    const snapshots = new Map<string, string>()
    for (const run of dirty) snapshots.set(run.head.run.id, addHead(batch, run))
    if (dirty.length > 0) yield* rows.write(batch)
    for (const decision of decisions) {
      yield* writeConsequences(decision)
      const skipped = decision.change === "no-op" || decision.change === "rejected"
      if (decision.prepared.request.also !== undefined && !skipped) yield* decision.prepared.request.also(at)
    }
    return { committed, decided, dirty, snapshots, taken }
  })

  const publish = (result: Effect.Success<ReturnType<typeof transact>>) => {
    for (const run of result.dirty) cache.put({ ...keyOf(run.head), lastSeq: run.lastSeq }, run.projected)
    const byRun = Map.groupBy(
      [...result.committed.values()].filter((appended) => appended.events.length > 0),
      (appended) => appended.runId
    )
    const batches = [...byRun].flatMap(([runId, appends]) => {
      const last = appends.at(-1)
      if (last === undefined) return []
      return [
        makeLiveBatch({
          runId,
          status: last.status,
          changed: appends.some((appended) => appended.change === "applied"),
          events: appends.flatMap((appended) => appended.events),
          snapshot: result.snapshots.get(runId) ?? "",
          lastSeq: last.lastSeq,
          lastIndex: last.lastIndex
        })
      ]
    })
    live.publish(batches)
  }

  const outcomesOf = (
    requests: ReadonlyArray<AppendRequest>,
    result: Effect.Success<ReturnType<typeof transact>>
  ): ReadonlyArray<Outcome> =>
    requests.map((request) => {
      const appended = result.committed.get(request)
      if (appended !== undefined) return Exit.succeed(appended)
      if (result.taken.has(request)) return Exit.fail(new RunAlreadyExists({ runId: request.runId }))
      const decided = result.decided.get(request)
      return Exit.fail(decided?._tag === "Refused" ? decided.refusal : new RunNotFound({ runId: request.runId }))
    })

  const attempt = (requests: ReadonlyArray<AppendRequest>): Effect.Effect<ReadonlyArray<Outcome>, SqlError> =>
    Effect.suspend(() =>
      sql.withTransaction(
        transact(requests.map((request) => prepare(normaliser, request, cache.participants(request.runId))))
      )
    ).pipe(
      // Commit and telling belong together: an interruption between them would leave the cache and the subscribers behind.
      Effect.tap((result) => Effect.sync(() => publish(result))),
      Effect.uninterruptible,
      Effect.map((result) => outcomesOf(requests, result))
    )

  const failed = (request: AppendRequest, cause: Cause.Cause<SqlError>): Outcome => {
    const error = Cause.squash(cause)
    const reason = error instanceof SqlError ? describeSqlError(error) : Cause.pretty(cause)
    return Exit.fail(new AppendFailed({ runId: request.runId, reason }))
  }

  /** Never fails: every request gets its own outcome. */
  const commit = (requests: ReadonlyArray<AppendRequest>): Effect.Effect<ReadonlyArray<Outcome>> =>
    Effect.catchCause(attempt(requests), (cause) => {
      if (requests.length === 1) return Effect.succeed(requests.map((request) => failed(request, cause)))
      return Effect.map(
        Effect.forEach(requests, (request) => commit([request])),
        (outcomes) => outcomes.flat()
      )
    })
  return commit
})

const keyOf = ({ lastSeq, revision, run }: LockedHead): CacheKey => ({ runId: run.id, lastSeq, revision })

const decodeMetadata = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.JsonObject))

/** Adds the run's head, projection and metrics to the batch and answers the projection's text. */
const addHead = ({ heads }: ReturnType<typeof emptyBatch>, run: RunInProgress): string => {
  const { metrics, state } = run.projected
  const snapshot = JSON.stringify(state)
  heads.runId.push(run.head.run.id)
  heads.lastSeq.push(BigInt(run.lastSeq))
  heads.lastIndex.push(run.lastIndex)
  heads.lastRawSeq.push(run.lastRawSeq)
  heads.cursor.push(BigInt(run.cursor))
  heads.state.push(snapshot)
  heads.metrics.push(JSON.stringify(metrics))
  heads.promptTokens.push(String(metrics.promptTokens))
  heads.completionTokens.push(String(metrics.completionTokens))
  heads.totalTokens.push(String(metrics.totalTokens))
  heads.costUsd.push(String(metrics.estimatedCostUsd))
  heads.signalCount.push(metrics.signalCount)
  heads.decisionCount.push(metrics.decisionCount)
  return snapshot
}
