import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { Ids } from "../../platform/Ids.ts"
import { forever, roundWaits } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { ProcessChannel } from "../ProcessChannel.ts"
import { endsRun } from "./LiveBatch.ts"
import { LiveEvents } from "./LiveEvents.ts"

/** The PostgreSQL channel of notifications between the processes: runs with new events, and messages. */
const NOTICE_CHANNEL = "runplane_run_events"
/** Commits within this time share one notification. Milliseconds. */
const NOTICE_INTERVAL_MS = 5
/** The pause after a notification, because each one costs every process a few round trips. Milliseconds. */
const NOTICE_PAUSE_MS = 10
/** Run ids in one notification, whose text is limited to 8,000 bytes. */
const RUNS_PER_NOTICE = 100
/** The prefix of a second id of a run that has ended. */
const ENDED = "!"
/** The prefix of the subject of a message, which comes instead of run ids. */
const MESSAGE = "@"
const RECONNECT_MS = 1_000

/**
 * Wakes the subscribers of other processes (docs/reference/events.md#commit-first): one coalesced NOTIFY every few
 * milliseconds, outside of the append transactions, with the ids of the changed runs. It is only a wake-up: the
 * subscribers read the rows, so a lost notification costs time and no event. The `ProcessChannel` uses the same
 * channel.
 */
export const layer = Layer.effect(
  ProcessChannel,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const live = yield* LiveEvents
    const { sideEffectFailed } = yield* Metrics
    const instance = yield* (yield* Ids).uuid
    /** Runs with new events, and whether they have ended. */
    const changed = new Map<string, boolean>()
    const wake = yield* Queue.sliding<void>(1)
    const listeners = new Map<string, Set<(text: string) => void>>()

    yield* live.listen((batch) => {
      changed.set(batch.runId, endsRun(batch) || changed.get(batch.runId) === true)
      Queue.offerUnsafe(wake, undefined)
    })

    const notify = Effect.gen(function* () {
      yield* Effect.sleep(NOTICE_INTERVAL_MS)
      while (changed.size > 0) {
        const runs = [...changed].slice(0, RUNS_PER_NOTICE)
        for (const [runId] of runs) changed.delete(runId)
        const ids = runs.flatMap(([runId, ended]) => (ended ? [runId, `${ENDED}${runId}`] : [runId]))
        yield* sql.notify(NOTICE_CHANNEL, [instance, ...ids].join(" ")).pipe(
          // The notification is repeated, because it is the only one of these commits.
          Effect.onError(() =>
            Effect.sync(() => {
              for (const [runId, ended] of runs) changed.set(runId, ended || changed.get(runId) === true)
            })
          )
        )
      }
      yield* Effect.sleep(NOTICE_PAUSE_MS)
    }).pipe(
      Effect.tapCause(() => Effect.sync(() => sideEffectFailed("notify"))),
      Effect.withTracerEnabled(false)
    )
    const backoff = { firstMs: RECONNECT_MS, longestMs: RECONNECT_MS }
    yield* Effect.forkScoped(
      forever("notices-sent", notify, { wake: Queue.take(wake), first: Number.POSITIVE_INFINITY, backoff })
    )

    const receive = (notice: string) => {
      const [sender, ...parts] = notice.split(" ")
      if (sender === instance) return
      const [subject = ""] = parts
      if (subject.startsWith(MESSAGE)) {
        const text = notice.slice(notice.indexOf(subject) + subject.length + 1)
        for (const listener of listeners.get(subject.slice(MESSAGE.length)) ?? []) listener(text)
        return
      }
      for (const part of parts) {
        if (part.startsWith(ENDED)) live.poke(part.slice(ENDED.length), true)
        else live.poke(part)
      }
    }
    const notifications = Effect.gen(function* () {
      const payloads = yield* sql.listen(NOTICE_CHANNEL)
      // Notifications before this LISTEN are lost, so every subscriber reads the database.
      live.pokeAll()
      yield* roundWaits
      while (true) receive((yield* Queue.take(payloads)).payload ?? "")
    })
    yield* Effect.forkScoped(
      forever("notices-received", Effect.scoped(notifications), { every: RECONNECT_MS, backoff })
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
