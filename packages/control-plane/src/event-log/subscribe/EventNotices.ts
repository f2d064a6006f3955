import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { Ids } from "../../platform/Ids.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { describeSqlError } from "../../platform/postgres/SqlFailures.ts"
import { ProcessChannel } from "../ProcessChannel.ts"
import { endsRun } from "./LiveBatch.ts"
import { LiveEvents } from "./LiveEvents.ts"

/** PostgreSQL channel of the notices between processes: the runs with new events. */
export const NOTICE_CHANNEL = "runplane_run_events"
/** Commits within this time share one notice. Milliseconds. */
export const NOTICE_INTERVAL_MS = 5
/**
 * The pause after a notice, in which more commits join the next one: each notice costs the server, and every listening
 * process, a few exchanges, however short it is. Milliseconds.
 */
const NOTICE_PAUSE_MS = 10
/** Run ids in one notice; its text has to stay below 8,000 bytes. */
export const RUNS_PER_NOTICE = 100
/** Prefix of the id of a run that has ended. */
const ENDED = "!"
/** Prefix of the subject of a message, instead of a first run. */
const MESSAGE = "@"
const RECONNECT_MS = 1_000

/**
 * Wakes the subscribers on other instances (docs/reference/events.md#commit-first): one coalesced NOTIFY every few
 * milliseconds, outside of the append transactions, with the ids of the written runs. It is only a wake-up: a woken
 * subscriber reads the rows, so a lost notice costs time and no event. The same channel carries the `ProcessChannel`.
 */
export const layer = Layer.effect(
  ProcessChannel,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const live = yield* LiveEvents
    const { sideEffectFailed } = yield* Metrics
    const instance = yield* (yield* Ids).uuid
    /** Runs with new events, and whether these end them. */
    const written = new Map<string, boolean>()
    const wake = yield* Queue.sliding<void>(1)
    const listeners = new Map<string, Set<(text: string) => void>>()

    yield* live.listen((batch) => {
      written.set(batch.runId, endsRun(batch) || written.get(batch.runId) === true)
      Queue.offerUnsafe(wake, undefined)
    })

    const sendNotice = Effect.gen(function* () {
      yield* Queue.take(wake)
      yield* Effect.sleep(NOTICE_INTERVAL_MS)
      while (written.size > 0) {
        const runs = [...written].slice(0, RUNS_PER_NOTICE)
        for (const [runId] of runs) written.delete(runId)
        const words = runs.flatMap(([runId, ended]) => (ended ? [runId, `${ENDED}${runId}`] : [runId]))
        yield* sql.notify(NOTICE_CHANNEL, [instance, ...words].join(" ")).pipe(
          Effect.tapError(() =>
            Effect.sync(() => {
              for (const [runId, ended] of runs) written.set(runId, ended || written.get(runId) === true)
            })
          )
        )
      }
      yield* Effect.sleep(NOTICE_PAUSE_MS)
    }).pipe(
      Effect.catchTag("SqlError", (error) => {
        sideEffectFailed("notify")
        // No other process sends these notices, so they are sent again later.
        return Effect.logDebug("could not notify the other processes", error).pipe(
          Effect.andThen(Effect.sleep(RECONNECT_MS)),
          Effect.andThen(Queue.offer(wake, undefined))
        )
      }),
      Effect.withTracerEnabled(false)
    )
    yield* Effect.forkScoped(Effect.forever(sendNotice))

    const receive = (notice: string) => {
      const [sender, ...words] = notice.split(" ")
      if (sender === instance) return
      const [subject = ""] = words
      if (subject.startsWith(MESSAGE)) {
        const text = notice.slice(notice.indexOf(subject) + subject.length + 1)
        for (const listener of listeners.get(subject.slice(MESSAGE.length)) ?? []) listener(text)
        return
      }
      for (const word of words) {
        if (word.startsWith(ENDED)) live.poke(word.slice(ENDED.length), true)
        else live.poke(word)
      }
    }
    const receiveAll = Effect.gen(function* () {
      const notices = yield* sql.listen(NOTICE_CHANNEL)
      // Notices before this LISTEN are lost, so every subscriber reads the database.
      live.pokeAll()
      while (true) receive((yield* Queue.take(notices)).payload ?? "")
    })
    yield* Effect.scoped(receiveAll).pipe(
      Effect.catchTag("SqlError", (error) =>
        Effect.logWarning(`not listening for the notices of other instances: ${describeSqlError(error)}`)
      ),
      Effect.repeat(Schedule.spaced(RECONNECT_MS)),
      Effect.forkScoped
    )

    const send = (subject: string, text: string) =>
      Effect.catchTag(sql.notify(NOTICE_CHANNEL, `${instance} ${MESSAGE}${subject} ${text}`), "SqlError", (error) => {
        sideEffectFailed("notify")
        return Effect.logDebug("could not notify the other processes", error)
      })
    const listen = (subject: string, listener: (text: string) => void) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => listeners.set(subject, (listeners.get(subject) ?? new Set()).add(listener))),
          () => Effect.sync(() => listeners.get(subject)?.delete(listener))
        )
      )
    return { send, listen }
  })
)
