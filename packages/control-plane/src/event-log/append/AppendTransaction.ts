import type { PipelinedTransaction } from "@runplane/database"
import { enrichMetadata, isoTime, isTerminal, type KnownEvent } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { Ids } from "../../platform/Ids.ts"
import { SealKeys } from "../../platform/ledger/SealKeys.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"
import { isCheckpointDue, NO_CHECKPOINT } from "../projection/Checkpoint.ts"
import { type CacheKey, ProjectionCache, participantsOf } from "../projection/ProjectionCache.ts"
import { ProjectionSettings } from "../projection/ProjectionSettings.ts"
import { doubtfulHead } from "../seal/HeadProof.ts"
import { makeLiveBatch } from "../subscribe/LiveBatch.ts"
import { LiveEvents } from "../subscribe/LiveEvents.ts"
import {
  type AppendRefusal,
  type Changed,
  type RebuildRequest,
  RunAlreadyExists,
  RunNotFound
} from "./AppendRequest.ts"
import { derivedRows } from "./DerivedRows.ts"
import {
  type Decision,
  decide,
  fold,
  isWorthSending,
  laterOf,
  messageRows,
  partsOf,
  type RunInProgress,
  startRun
} from "./EventFold.ts"
import { addCheckpoint, addHead, hasGrown } from "./HeadRows.ts"
import { InsertEvents, noEventRows, noRunRows } from "./InsertEvents.ts"
import type { LockedHead } from "./LockHeads.ts"
import { seedsOf } from "./Positions.ts"
import type { QueuedAppend, Settled } from "./QueuedAppend.ts"
import { makeReactions, type WrittenAppend } from "./Reactors.ts"

/**
 * The transaction of a group of appends, and the notifications that follow its commit.
 */
export const makeAppendTransaction = Effect.gen(function* () {
  const rows = yield* InsertEvents
  const cache = yield* ProjectionCache
  const clock = yield* DatabaseClock
  const ids = yield* Ids
  const live = yield* LiveEvents
  const reactions = yield* makeReactions
  const lag = yield* ProjectionSettings
  const { current: sealKey } = yield* SealKeys
  const { sealDoubted } = yield* Metrics
  const log = Effect.runForkWith(yield* Effect.context())

  /**
   * Locks the runs of the group, stores their messages, allocates numbers for their events, and loads their
   * projections. `elsewhere` are the runs that another transaction has locked; unknown runs are missing.
   */
  const openRuns = Effect.fnUntraced(function* (group: ReadonlyArray<QueuedAppend>, { begun }: PipelinedTransaction) {
    const runIds = [...new Set<string>(group.map(({ request }) => request.runId))]
    const count = group.reduce((sum, append) => sum + numbersFor(append), 0)
    const before = yield* Clock.currentTimeMillis
    const { databaseTime, fresh, heads, seqs } = yield* rows.open({
      runIds,
      messages: messageRows(group, clock.shift),
      count
    })
    const after = yield* Clock.currentTimeMillis
    if (databaseTime !== undefined) yield* clock.correct({ before, database: databaseTime, after })
    yield* begun
    const missing = runIds.filter((id) => !heads.has(id))
    const elsewhere = missing.length === 0 ? new Set<string>() : yield* rows.existing(missing)
    const refolded = Effect.fnUntraced(function* ({ lastSeq }: LockedHead, refold: RebuildRequest["refold"]) {
      const projected = yield* refold(lastSeq)
      return { projected, checkpoint: NO_CHECKPOINT, stateBytes: 0, participants: participantsOf(projected.state) }
    })
    const refolds = new Map(
      group.flatMap(({ request }) => (request._tag === "Rebuild" ? [[request.runId, request.refold]] : []))
    )
    const cold = [...heads.values()].filter(
      (head) => head.lastSeq > 0 && !refolds.has(head.run.id) && cache.get(keyOf(head)) === undefined
    )
    const loaded = cold.length === 0 ? undefined : yield* cache.load(cold)
    const created = new Set<string>(group.flatMap(({ request }) => (request._tag === "Create" ? [request.runId] : [])))
    const runs = new Map<string, RunInProgress>()
    for (const [id, head] of heads) {
      const refold = refolds.get(head.run.id)
      const known = refold === undefined ? (cache.get(keyOf(head)) ?? loaded?.get(id)) : yield* refolded(head, refold)
      runs.set(id, startRun(head, known, sealKey, created.has(id)))
    }
    return { runs, elsewhere, fresh, seqs }
  })

  /**
   * Rows that follow from the decisions: first those of the callers, which can insert a session, then the status and
   * metadata of the runs and the state of their sessions.
   */
  const writeConsequences = Effect.fnUntraced(function* (
    decisions: ReadonlyArray<Decision>,
    at: string,
    { send }: PipelinedTransaction
  ) {
    const brought = decisions.flatMap(({ append: { request }, at, change }) =>
      request._tag === "Observe" || request.also === undefined || change !== "applied" ? [] : [request.also(at)]
    )
    yield* Effect.forEach(brought, (also) => also, { concurrency: "unbounded", discard: true })
    const { ends, gaps, sessions, statuses } = derivedRows(decisions)
    if (sessions.length > 0) yield* send(rows.updateSessions(sessions))
    if (gaps.length > 0) yield* send(rows.markGaps(gaps))
    if (statuses.length > 0) yield* send(rows.updateStatuses(statuses, at))
    if (ends.length > 0) {
      const stored = yield* rows.readMetadata(ends.map(({ row }) => row.run_id))
      const enriched = ends.map(({ error, isCorrected, row, run }) => ({
        ...row,
        metadata: enrichedMetadata(stored.get(row.run_id), run, error, isCorrected)
      }))
      yield* send(rows.updateEnds(enriched, at))
    }
  })

  /**
   * Writes everything; its statements share the exchanges of the transaction, whose commit makes them true. Rows of new
   * runs and locks do nothing outside of it, so they do not wait for its BEGIN; the last statements go with its COMMIT.
   */
  const write = Effect.fnUntraced(function* (group: ReadonlyArray<QueuedAppend>, transaction: PipelinedTransaction) {
    const settled: Array<Settled> = []
    const refuse = (append: QueuedAppend, refusal: AppendRefusal) => {
      settled.push({ append, outcome: Exit.fail(refusal) })
    }
    const existing = new Set<QueuedAppend>()
    yield* Effect.forEach(
      group.flatMap((append) => (append.request._tag === "Create" ? [{ append, insert: append.request.insert }] : [])),
      ({ append, insert }) => Effect.map(insert, (inserted) => (inserted ? undefined : existing.add(append))),
      { concurrency: "unbounded", discard: true }
    )
    for (const append of existing) refuse(append, new RunAlreadyExists({ runId: append.request.runId }))
    const remaining = group.filter((append) => !existing.has(append))
    const { elsewhere, fresh, runs, seqs } = yield* openRuns(group, transaction)
    const unlocked = remaining.filter(({ request }) => !elsewhere.has(request.runId))
    const locked = remaining.filter(({ request }) => elsewhere.has(request.runId))
    const now = yield* Clock.currentTimeMillis
    const at = isoTime(yield* clock.now)
    const time = { at, shift: clock.shift }

    const decisions: Array<Decision> = []
    for (const append of unlocked) {
      const { runId } = append.request
      const run = runs.get(runId)
      const decided = run === undefined ? new RunNotFound({ runId }) : decide(append, run, fresh, time)
      if ("_tag" in decided) refuse(append, decided)
      else decisions.push(decided)
    }
    // Unused messages belong to refused appends: with a stored one, the later append would count as a repetition.
    if (fresh.size > 0) yield* rows.forgetMessages(fresh)
    const count = decisions.reduce((sum, decision) => sum + decision.drafts.length, 0)
    const further = count > seqs.length ? yield* rows.allocate(count - seqs.length) : []
    const rowCount = decisions.reduce((sum, { drafts, frames }) => sum + drafts.length + frames.length, 0)
    const seeds = seedsOf(yield* ids.seeds(rowCount))
    const positions = { seqs: [...seqs, ...further], ids: yield* ids.uuids(count), next: 0, seeds }

    const committed: Array<Changed> = []
    const appends: Array<WrittenAppend> = []
    let batch = noEventRows()
    let sent: Fiber.Fiber<unknown, SqlError> | undefined
    for (const decision of decisions) {
      const { append, change, run } = decision
      const { request } = append
      const events: Array<KnownEvent> = []
      const texts: Array<CommittedEvent> = []
      for (const part of partsOf(decision)) {
        const folded = fold(part, positions, batch)
        events.push(...folded.events)
        texts.push(...folded.committed)
        if (isWorthSending(batch)) {
          // One at a time is on its way while the next ones are folded.
          if (sent !== undefined) yield* Fiber.join(sent)
          sent = yield* transaction.send(rows.writeEvents(batch))
          batch = noEventRows()
        }
      }
      appends.push({
        runId: request.runId,
        requestedAt: append.requestedAt,
        frames: request._tag === "Observe" ? request.frames : [],
        events,
        change: appliedChange(decision),
        state: run.projected.state
      })
      const done: Changed = {
        runId: request.runId,
        status: run.status,
        change,
        events: texts,
        cursor: run.cursor,
        lastSeq: run.lastSeq,
        lastIndex: run.lastIndex,
        state: run.projected.state
      }
      committed.push(done)
      settled.push({ append, outcome: Exit.succeed(done) })
    }
    const dirty = [...runs.values()].filter((run) => run.dirty)
    const ends = noRunRows()
    for (const run of dirty) {
      addHead(ends, run, laterOf(at, run.lastTs), sealKey)
      if (run.mustCheckpoint || isCheckpointDue(run.checkpoint, run.lastIndex, now, lag)) addCheckpoint(ends, run, now)
    }
    const reacted = reactions.inTransaction(appends)
    if (dirty.length > 0) yield* transaction.send(rows.write(batch, ends, reacted))
    yield* writeConsequences(decisions, at, transaction)
    const [witness] = committed.flatMap(({ events }) => events)
    return {
      appends,
      committed,
      dirty,
      settled,
      locked,
      witness,
      transactionId: transactionOf(runs)
    } satisfies Written
  })

  /** Notifies the subscribers, and caches the projections. To be called once, after the commit. */
  const publish = (result: Written) => {
    for (const run of result.dirty) {
      if (run.vouched.isDoubted && hasGrown(run)) {
        sealDoubted("head")
        log(Effect.logError(doubtfulHead(run.head)))
      }
      if (isTerminal(run.status)) {
        cache.forget(run.head.run.id)
      } else cache.put({ ...keyOf(run.head), lastSeq: run.lastSeq }, run)
    }
    const byRun = Map.groupBy(
      result.committed.filter((appended) => appended.events.length > 0),
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
          state: () => JSON.stringify(last.state),
          lastSeq: last.lastSeq,
          lastIndex: last.lastIndex
        })
      ]
    })
    reactions.afterCommit(result.appends)
    live.publish(batches)
  }

  return { write, publish } as const
})

/** The result of a transaction, for its callers and subscribers once it has committed. */
export interface Written {
  readonly appends: ReadonlyArray<WrittenAppend>
  readonly committed: ReadonlyArray<Changed>
  /** The outcome of every append of the group but the `locked`. */
  readonly settled: ReadonlyArray<Settled>
  /** Appends without an outcome: another transaction has locked their runs. */
  readonly locked: ReadonlyArray<QueuedAppend>
  readonly dirty: ReadonlyArray<RunInProgress>
  /**
   * An event of this transaction: where it is found, all of the transaction is. Undefined when no event was written.
   */
  readonly witness: CommittedEvent | undefined
  /** PostgreSQL's id of the transaction; undefined when it has touched no run. */
  readonly transactionId: string | undefined
}

const transactionOf = (runs: ReadonlyMap<string, RunInProgress>): string | undefined => {
  for (const { head } of runs.values()) return head.transactionId
  return undefined
}

const keyOf = ({ lastSeq, revision, run }: LockedHead): CacheKey => ({ runId: run.id, lastSeq, revision })

/** Events of a change of status without `maxEvents`. More numbers are allocated later. */
const EVENTS_OF_A_CHANGE = 3

/**
 * The numbers that an append needs, as far as this is known before its run is locked. Repeated frames leave some
 * unused: the sequence may have gaps, the index in the run has none.
 */
const numbersFor = ({ frames, request }: QueuedAppend): number => {
  switch (request._tag) {
    case "Observe":
      return frames.reduce((sum, { drafts }) => sum + drafts.length, 0)
    case "Record":
    case "Create":
      return request.events.length
    case "Change":
      return request.maxEvents ?? EVENTS_OF_A_CHANGE
    case "Rebuild":
      return 0
  }
}

const appliedChange = ({ append: { request }, at, change, end }: Decision) => {
  const changed = request._tag === "Change" && change === "applied" ? request : end
  return changed === undefined ? undefined : { to: changed.to, at, error: changed.failure?.errorMessage }
}

/** The metadata of a run that is completed or failed, with what its log says of it. */
const enrichedMetadata = (
  stored: string | undefined,
  { endedAt, projected, startedAt }: RunInProgress,
  error: string | undefined,
  isCorrected: boolean
): string => {
  const { error: given, ...others } = decodeMetadata(stored ?? "{}")
  // The error of an end that is corrected is that of no end.
  const kept = isCorrected || given === undefined ? others : { ...others, error: given }
  return JSON.stringify({
    ...kept,
    ...enrichMetadata(projected.state, projected.metrics, { startedAt, endedAt }),
    ...(error !== undefined && { error })
  })
}

const decodeMetadata = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.JsonObject))
