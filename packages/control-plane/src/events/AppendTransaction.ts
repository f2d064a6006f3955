import { enrichMetadata } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { makeWebhookOutbox } from "../webhooks/WebhookOutbox.ts"
import {
  type AppendError,
  type Appended,
  type AppendRequest,
  type CommittedEvent,
  RunAlreadyExists,
  RunNotFound
} from "./AppendRequest.ts"
import {
  type Decided,
  type Decision,
  decide,
  fold,
  messageRows,
  prepare,
  type RunInProgress,
  startRun
} from "./EventFold.ts"
import { FrameNormaliser } from "./FrameNormaliser.ts"
import { Ids } from "./Ids.ts"
import { LiveEvents, makeLiveBatch } from "./LiveEvents.ts"
import { emptyBatch, type LockedHead, makeLogRows } from "./LogRows.ts"
import { type CacheKey, ProjectionCache } from "./ProjectionCache.ts"

export type AppendOutcome = Exit.Exit<Appended, AppendError>

/** The transaction of a group of appends, and what follows from its commit. Nothing in here is told before it is committed. */
export const makeAppendTransaction = Effect.gen(function* () {
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

  /** Writes everything; to be called inside a transaction, whose commit makes it true. */
  const write = Effect.fnUntraced(function* (asked: ReadonlyArray<AppendRequest>) {
    const requests = asked.map((request) => prepare(normaliser, request, cache.participants(request.runId)))
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
    const [witness] = [...committed.values()].flatMap(({ events }) => events)
    return {
      committed,
      decided,
      dirty,
      snapshots,
      taken,
      witness,
      transactionId: transactionOf(runs)
    } satisfies Written
  })

  /** Tells the subscribers, and remembers the projections. To be called once, after the commit. */
  const publish = (result: Written) => {
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

  const outcomeOf = (request: AppendRequest, written: Written): AppendOutcome => {
    const appended = written.committed.get(request)
    if (appended !== undefined) return Exit.succeed(appended)
    if (written.taken.has(request)) return Exit.fail(new RunAlreadyExists({ runId: request.runId }))
    const decided = written.decided.get(request)
    return Exit.fail(decided?._tag === "Refused" ? decided.refusal : new RunNotFound({ runId: request.runId }))
  }

  return { write, publish, outcomeOf } as const
})

/** What a transaction has written, and what to say of it once it has committed. */
export interface Written {
  readonly committed: ReadonlyMap<AppendRequest, Appended>
  readonly decided: ReadonlyMap<AppendRequest, Decided>
  readonly dirty: ReadonlyArray<RunInProgress>
  /** Projected states as text, by run. */
  readonly snapshots: ReadonlyMap<string, string>
  /** Requests to create a run whose unique keys are taken. */
  readonly taken: ReadonlySet<AppendRequest>
  /** An event of this transaction: where it is found, all of the transaction is. Undefined when no event was written. */
  readonly witness: CommittedEvent | undefined
  /** PostgreSQL's id of the transaction; undefined when it has touched no run. */
  readonly transactionId: string | undefined
}

const transactionOf = (runs: ReadonlyMap<string, RunInProgress>): string | undefined => {
  for (const { head } of runs.values()) return head.transactionId
  return undefined
}

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
