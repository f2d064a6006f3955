import * as PgClient from "@effect/sql-pg/PgClient"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { SqlError } from "effect/sql/SqlError"
import { describeSqlError, isContention, isOutage } from "../database/SqlFailures.ts"
import { AppendFailed } from "./AppendRequest.ts"
import { makeAppendTransaction, type Written } from "./AppendTransaction.ts"
import { LogRows } from "./LogRows.ts"
import type { QueuedAppend, Settled } from "./QueuedAppend.ts"

/** How often a transaction that was the victim of others, or of a broken connection, is made again as it was. */
export const GROUP_RETRIES = 4
/** The pause before the first of them, doubling, with jitter. Milliseconds. */
const RETRY_PAUSE_MS = 10
/** How long the database is asked what has become of a COMMIT whose answer was lost. Milliseconds. */
export const FATE_PATIENCE_MS = 30_000
const FATE_POLL_MS = 100

/** A transaction that failed; with `written` in its COMMIT, before that otherwise. */
interface Failed {
  readonly cause: Cause.Cause<SqlError>
  readonly written: Written | undefined
}

/**
 * Commits groups of appends and tells each caller the one outcome, whatever becomes of the transaction:
 *
 * - it lost against another (deadlock, serialization) or its connection broke before the COMMIT: nothing is stored, the
 *   same group is tried again, a few times;
 * - the connection broke in mid-COMMIT: the database is asked what became of it, once it can be. Repeating blindly
 *   would store events twice, giving up would lose the word of events that are stored;
 * - the database cannot be used: all requests fail at once with `AppendFailed`;
 * - anything else is the fault of one request: each is tried by itself, so that it hurts nobody but its sender.
 */
export const makeGroupCommit = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* LogRows
  const transaction = yield* makeAppendTransaction
  const scope = yield* Effect.scope

  const attempt = (group: ReadonlyArray<QueuedAppend>): Effect.Effect<Written, Failed> =>
    Effect.suspend(() => {
      let written: Written | undefined
      const write = Effect.tap(transaction.write(group), (done) => {
        written = done
        return Effect.void
      })
      return sql.withTransaction(write).pipe(
        Effect.catchCause((cause) => Effect.fail<Failed>({ cause, written })),
        Effect.tap(tell),
        // Commit and telling belong together: an interruption between them would leave the cache and the subscribers
        // behind.
        Effect.uninterruptible
      )
    })

  /** What is stored stays stored, whatever the telling comes to. */
  const tell = (written: Written) =>
    Effect.catchDefect(
      Effect.sync(() => transaction.publish(written)),
      (defect) => Effect.logError("could not tell of committed events", defect)
    )

  /** What has become of a COMMIT: the transaction's end is waited for, and then its events are looked for. */
  const fateOf = ({ transactionId, witness }: Written) =>
    Effect.gen(function* () {
      if (transactionId === undefined || witness === undefined) return "unknown" as const
      yield* rows
        .transactionStatus(transactionId)
        .pipe(Effect.repeat({ schedule: Schedule.spaced(FATE_POLL_MS), while: (status) => status === "in progress" }))
      // A server that has crashed may give the ids of lost transactions away again, so their status proves nothing.
      return (yield* rows.holds(witness)) ? ("committed" as const) : ("aborted" as const)
    }).pipe(
      Effect.tapError((error) => Effect.logDebug(`cannot ask for the fate of a COMMIT: ${describeSqlError(error)}`)),
      Effect.retry(Schedule.jittered(Schedule.spaced(FATE_POLL_MS))),
      Effect.timeoutOption(FATE_PATIENCE_MS),
      Effect.map(Option.getOrElse(() => "unknown" as const))
    )

  const settle = (group: ReadonlyArray<QueuedAppend>, tries: number): Effect.Effect<void> => {
    const failed = (cause: Cause.Cause<SqlError>) => answer(group.map((append) => failure(append, cause)))

    const notStored = (cause: Cause.Cause<SqlError>) => {
      if (tries < GROUP_RETRIES && isWorthRepeating(cause)) {
        return Effect.andThen(pause(tries), settle(group, tries + 1))
      }
      if (group.length === 1 || isOutageCause(cause)) return failed(cause)
      return Effect.forEach(group, (append) => settle([append], 0), { discard: true })
    }

    const learnFate = (cause: Cause.Cause<SqlError>, written: Written) =>
      Effect.gen(function* () {
        const fate = yield* fateOf(written)
        yield* Effect.logWarning(`the answer to a COMMIT was lost; the transaction: ${fate}`)
        if (fate === "unknown") return yield* failed(cause)
        if (fate === "aborted") return yield* notStored(cause)
        yield* tell(written)
        yield* answer(written.settled)
      }).pipe(Effect.onInterrupt(() => failed(cause)))

    return Effect.matchEffect(attempt(group), {
      onSuccess: ({ settled }) => answer(settled),
      onFailure: ({ cause, written }) =>
        // An error that the server has answered is an answer: nothing is stored.
        written === undefined || !isOutageCause(cause)
          ? notStored(cause)
          : // In a fiber of its own: it may take as long as the database is away, and the writers have others to serve.
            Effect.asVoid(Effect.forkIn(learnFate(cause, written), scope))
    })
  }
  return (group: ReadonlyArray<QueuedAppend>) => settle(group, 0)
})

/** The one place where callers learn what became of their appends. */
const answer = (settled: ReadonlyArray<Settled>) =>
  Effect.forEach(settled, ({ append, outcome }) => Deferred.done(append.done, outcome), { discard: true })

const sqlErrorOf = (cause: Cause.Cause<SqlError>): SqlError | undefined => {
  const error = Cause.squash(cause)
  return error instanceof SqlError ? error : undefined
}

const isOutageCause = (cause: Cause.Cause<SqlError>): boolean => {
  const error = sqlErrorOf(cause)
  return error !== undefined && isOutage(error)
}

/**
 * The victim of another transaction, or of a connection that broke in use; who got no connection at all has waited
 * already.
 */
const isWorthRepeating = (cause: Cause.Cause<SqlError>): boolean => {
  const error = sqlErrorOf(cause)
  if (error === undefined) return false
  const { operation } = error.reason
  return isContention(error) || (isOutage(error) && operation !== "acquire" && operation !== "connect")
}

const pause = (tries: number) =>
  Effect.flatMap(Random.next, (random) => Effect.sleep(RETRY_PAUSE_MS * 2 ** tries * (0.5 + random)))

const failure = (append: QueuedAppend, cause: Cause.Cause<SqlError>): Settled => {
  const error = sqlErrorOf(cause)
  const reason = error === undefined ? Cause.pretty(cause) : describeSqlError(error)
  const { runId } = append.request
  return { append, outcome: Exit.fail(new AppendFailed({ runId, reason, outage: isOutageCause(cause) })) }
}
