import {
  describeSqlError,
  isContention,
  isOutage,
  isTimeout,
  type PipelinedTransaction,
  PipelinedTransactions
} from "@runplane/database"
import { backoffMs, spreadBy } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import { SqlError } from "effect/sql/SqlError"
import { FrameNormaliser } from "../../platform/deployment/FrameNormaliser.ts"
import { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import { type AppendError, AppendRequest, type Changed, type ObserveRequest } from "./AppendRequest.ts"
import { makeAppendTransaction, type Written } from "./AppendTransaction.ts"
import { totalBytes } from "./FrameBytes.ts"
import { InsertEvents } from "./InsertEvents.ts"
import { placeholderFor } from "./PlaceholderEvent.ts"
import type { QueuedAppend, Settled } from "./QueuedAppend.ts"

/**
 * Stores the parts of one append one after the other, each on the cursor of the previous one, and returns their sum.
 * Stored parts stay when a later part fails.
 */
export const inTurn = Effect.fnUntraced(function* <Part, E>(
  cursor: number | undefined,
  [first, ...others]: readonly [Part, ...ReadonlyArray<Part>],
  store: (part: Part, cursor: number | undefined) => Effect.Effect<Changed, E>
): Effect.fn.Return<Changed, E> {
  let whole = yield* store(first, cursor)
  for (const part of others) {
    const next = yield* store(part, cursor === undefined ? undefined : whole.cursor)
    const refusals = [...(whole.refusals ?? []), ...(next.refusals ?? [])]
    whole = { ...next, events: [...whole.events, ...next.events], refusals }
  }
  return whole
})

/** How often a transaction that lost against others, or its connection, is repeated. */
const GROUP_RETRIES = 4
/** The pause before the first of them, doubling, with jitter. Milliseconds. */
const RETRY_PAUSES = { firstMs: 10, longestMs: Number.POSITIVE_INFINITY }
/** How long the outcome of a COMMIT whose answer was lost is queried. Milliseconds. */
export const OUTCOME_TIMEOUT_MS = 30_000
const OUTCOME_POLL_MS = 100
/** Concurrent transactions of parts of split groups, beside those of the writers. */
const SPLIT_TRANSACTIONS = 2
/** The pause before a part whose run is locked is tried again. Milliseconds. */
const LOCKED_PAUSE_MS = 100
/** Of an error's text, in the log and in the answer. */
const REASON_CHARACTERS = 500

/** A transaction that failed; with `written` in its COMMIT, before that otherwise. */
interface Failed {
  readonly cause: Cause.Cause<SqlError>
  readonly written: Written | undefined
}

/** A group on its way to the database. */
interface Attempt {
  readonly group: ReadonlyArray<QueuedAppend>
  /** How often it has been tried already. */
  readonly tries: number
  /** A part of a group that failed; it occupies no writer. */
  readonly isSplit: boolean
}

/**
 * Commits groups of appends and returns the one outcome to each caller:
 *
 * - the transaction lost against another (deadlock, serialization) or its connection broke before the COMMIT: nothing
 *   is stored, and the same group is tried again, a few times;
 * - the connection broke during the COMMIT: the outcome is queried as soon as the database is available. A blind
 *   repetition would store events twice, a failure would not notify the subscribers of stored events;
 * - the database is not available: all requests fail at once with `AppendFailed`;
 * - anything else is the fault of one request, so the group is halved until that one is alone, beside the writers. Then
 *   its frames are halved likewise, and a placeholder is stored for a frame that fails alone
 *   (docs/reference/events.md#refused-frames).
 */
export const makeGroupCommit = Effect.gen(function* () {
  const transactions = yield* PipelinedTransactions
  const rows = yield* InsertEvents
  const normaliser = yield* FrameNormaliser
  const transaction = yield* makeAppendTransaction
  const scope = yield* Effect.scope
  const splitTransactions = yield* Semaphore.make(SPLIT_TRANSACTIONS)

  const attempt = (group: ReadonlyArray<QueuedAppend>): Effect.Effect<Written, Failed> =>
    Effect.suspend(() => {
      let written: Written | undefined
      const write = (line: PipelinedTransaction) =>
        Effect.tap(transaction.write(group, line), (done) => {
          written = done
          return Effect.void
        })
      return transactions.within(write).pipe(
        Effect.catchCause((cause) => Effect.fail<Failed>({ cause, written })),
        Effect.tap(publish),
        // An interruption between commit and publication would leave the cache and the subscribers behind.
        Effect.uninterruptible
      )
    })

  /** A failed publication does not fail a stored append. */
  const publish = (written: Written) =>
    Effect.catchDefect(
      Effect.sync(() => transaction.publish(written)),
      (defect) => Effect.logError("could not publish committed events", defect)
    )

  /** The outcome of a COMMIT: waits for the end of the transaction, and then searches its events. */
  const outcomeOf = ({ transactionId, witness }: Written) =>
    Effect.gen(function* () {
      if (transactionId === undefined || witness === undefined) return "unknown" as const
      yield* rows
        .transactionStatus(transactionId)
        .pipe(
          Effect.repeat({ schedule: Schedule.spaced(OUTCOME_POLL_MS), while: (status) => status === "in progress" })
        )
      // A server that has crashed may use the ids of lost transactions again, so their status proves nothing.
      return (yield* rows.holds(witness)) ? ("committed" as const) : ("aborted" as const)
    }).pipe(
      Effect.tapError((error) => Effect.logDebug(`cannot query the outcome of a COMMIT: ${describeSqlError(error)}`)),
      Effect.retry(Schedule.jittered(Schedule.spaced(OUTCOME_POLL_MS))),
      Effect.timeoutOption(OUTCOME_TIMEOUT_MS),
      Effect.map(Option.getOrElse(() => "unknown" as const))
    )

  const settle = (tried: Attempt): Effect.Effect<void> => {
    const { isSplit, group } = tried
    return Effect.matchEffect(isSplit ? splitTransactions.withPermits(1)(attempt(group)) : attempt(group), {
      onSuccess: complete,
      onFailure: ({ cause, written }) =>
        // After an error of the server itself, nothing is stored.
        written === undefined || !isUnanswered(cause)
          ? notStored(tried, cause)
          : // In a fiber of its own: it may take as long as the outage, and the writers have other groups.
            Effect.asVoid(Effect.forkIn(resolveOutcome(tried, cause, written), scope))
    })
  }

  const failed = (group: ReadonlyArray<QueuedAppend>, cause: Cause.Cause<SqlError>) =>
    Effect.forEach(group, (append) => append.complete(Exit.fail(failure(append, cause))), { discard: true })

  const notStored = (tried: Attempt, cause: Cause.Cause<SqlError>): Effect.Effect<void> => {
    const { group, tries } = tried
    if (tries < GROUP_RETRIES && isWorthRepeating(cause, group.length)) {
      return Effect.andThen(pause(tries), settle({ ...tried, tries: tries + 1 }))
    }
    // A request may be what breaks the connections, so others are tried without it.
    if (isOutageCause(cause) && (group.length === 1 || !isBroken(cause))) return failed(group, cause)
    return Effect.asVoid(Effect.forkIn(split(group, cause), scope))
  }

  const resolveOutcome = (tried: Attempt, cause: Cause.Cause<SqlError>, written: Written) =>
    Effect.gen(function* () {
      const outcome = yield* outcomeOf(written)
      yield* Effect.logWarning(`the answer to a COMMIT was lost; the transaction: ${outcome}`)
      if (outcome === "unknown") return yield* failed(tried.group, cause)
      if (outcome === "aborted") return yield* notStored(tried, cause)
      yield* publish(written)
      yield* complete(written)
    }).pipe(Effect.onInterrupt(() => failed(tried.group, cause)))

  /** Finds the request at fault, and within it the frame. */
  const split = (group: ReadonlyArray<QueuedAppend>, cause: Cause.Cause<SqlError>): Effect.Effect<void> => {
    const [append, ...others] = group
    if (append === undefined) return Effect.void
    if (others.length > 0) {
      return Effect.forEach(halvesOf(group), (half) => settle({ group: half, tries: 0, isSplit: true }), {
        discard: true
      })
    }
    const { request } = append
    if (request._tag !== "Observe" || isTransient(cause)) return failed(group, cause)
    return request.frames.length > 1 ? storeInHalves(append, request) : storePlaceholder(append, request, cause)
  }

  const storeInHalves = Effect.fnUntraced(function* (append: QueuedAppend, request: ObserveRequest) {
    const [frames, moreFrames] = halvesOf(request.frames)
    const [prepared, morePrepared] = halvesOf(append.frames)
    const halves = [
      { frames, prepared },
      { frames: moreFrames, prepared: morePrepared }
    ] as const
    const stored = inTurn(request.cursor, halves, (half, cursor) =>
      store(append, { ...request, frames: half.frames, ...(cursor !== undefined && { cursor }) }, half.prepared)
    )
    yield* append.complete(yield* Effect.exit(stored))
  })

  const storePlaceholder = Effect.fnUntraced(function* (
    append: QueuedAppend,
    request: ObserveRequest,
    cause: Cause.Cause<SqlError>
  ) {
    const reason = reasonOf(cause)
    const [frame] = request.frames
    const [prepared] = append.frames
    const placeholder = frame && prepared && placeholderFor(normaliser, prepared, frame, reason)
    if (placeholder === undefined) return yield* failed([append], cause)
    // As an append without frames, so that it is not halved again when the placeholder fails too.
    const stored = store(append, { ...request, frames: [] }, [placeholder])
    yield* append.complete(yield* Effect.exit(Effect.map(stored, (done) => ({ ...done, refusals: [reason] }))))
  })

  /** Stores a part of an append's frames in a separate transaction, and waits for the outcome. */
  const store = (append: QueuedAppend, request: ObserveRequest, frames: QueuedAppend["frames"]) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<Changed, AppendError>()
      const part: QueuedAppend = {
        ...append,
        request: AppendRequest.Observe(request),
        frames,
        bytes: totalBytes(request.frames),
        complete: (outcome) => Deferred.done(done, outcome),
        postpone: Effect.suspend(() => Effect.delay(again, LOCKED_PAUSE_MS))
      }
      const again: Effect.Effect<void> = Effect.suspend(() => settle({ group: [part], tries: 0, isSplit: true }))
      yield* again
      return yield* Deferred.await(done)
    })

  return (group: ReadonlyArray<QueuedAppend>) => settle({ group, tries: 0, isSplit: false })
})

/** Completes the appends of a committed transaction. */
const complete = ({ locked, settled }: Written) =>
  Effect.andThen(
    Effect.forEach(settled, ({ append, outcome }: Settled) => append.complete(outcome), { discard: true }),
    Effect.forEach(locked, (append) => append.postpone, { discard: true })
  )

const halvesOf = <A>(whole: ReadonlyArray<A>): readonly [ReadonlyArray<A>, ReadonlyArray<A>] => {
  const middle = Math.ceil(whole.length / 2)
  return [whole.slice(0, middle), whole.slice(middle)]
}

const sqlErrorOf = (cause: Cause.Cause<SqlError>): SqlError | undefined => {
  const error = Cause.squash(cause)
  return error instanceof SqlError ? error : undefined
}

const says = (cause: Cause.Cause<SqlError>, ...predicates: ReadonlyArray<(error: SqlError) => boolean>): boolean => {
  const error = sqlErrorOf(cause)
  return error !== undefined && predicates.some((predicate) => predicate(error))
}

const isOutageCause = (cause: Cause.Cause<SqlError>): boolean => says(cause, isOutage)

/** The outcome of the statement is unknown. */
const isUnanswered = (cause: Cause.Cause<SqlError>): boolean =>
  says(cause, isOutage, ({ reason }) => reason._tag === "ConnectionError")

/** The same request may succeed later. */
const isTransient = (cause: Cause.Cause<SqlError>): boolean => says(cause, isOutage, isContention, isTimeout)

/**
 * The transaction lost against another, or its connection broke in use; a caller without a connection has waited
 * already. A time-out for a lock costs all of a group, so the group is halved instead.
 */
const isWorthRepeating = (cause: Cause.Cause<SqlError>, requests: number): boolean =>
  isBroken(cause) || says(cause, (error) => isContention(error) && (requests === 1 || !isTimeout(error)))

/** The connection broke in use. */
const isBroken = (cause: Cause.Cause<SqlError>): boolean =>
  says(cause, (error) => {
    const { operation } = error.reason
    return isOutage(error) && operation !== "acquire" && operation !== "connect"
  })

const pause = (tries: number) =>
  Effect.flatMap(Random.next, (random) => Effect.sleep(spreadBy(0.5, backoffMs(RETRY_PAUSES, tries), random)))

const reasonOf = (cause: Cause.Cause<SqlError>): string => {
  const error = sqlErrorOf(cause)
  return (error === undefined ? Cause.pretty(cause) : describeSqlError(error)).slice(0, REASON_CHARACTERS)
}

const failure = ({ request: { runId } }: QueuedAppend, cause: Cause.Cause<SqlError>) =>
  new AppendFailed({ runId, reason: reasonOf(cause), outage: isTransient(cause) })
