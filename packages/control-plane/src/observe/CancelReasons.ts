import type { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ProcessChannel } from "../event-log/ProcessChannel.ts"

/** The changes that callers request. */
export type RequestedStatus = "suspended" | "running" | "cancelled"

/** Between processes: the requested change and its reason, or no reason when the request is over. */
const SUBJECT = "caller-reason"
const Notice = Schema.fromJsonString(
  Schema.Struct({
    runId: Schema.String,
    to: Schema.Literals(["suspended", "running", "cancelled"]),
    reason: Schema.optionalKey(Schema.String)
  })
)
const encodeNotice = Schema.encodeSync(Notice)
const decodeNotice = Schema.decodeOption(Notice)
/** A process that dies during a request does not announce its end. Milliseconds. */
const REMOTE_TTL_MS = 60_000
/** Reasons of other processes that are kept. */
const REMOTE_CAPACITY = 1_000
/** A longer reason may not fit into a message with every character escaped. Characters. */
const LONGEST_SENT = 1_000

/**
 * The reasons of pending suspend, resume and cancel requests. The runtime reports no reasons, and the observer often
 * receives the change before the caller's request is complete: the writer of the event finds the reason here. The
 * observer may be in another process, which is notified before the call of the runtime.
 */
export class CancelReasons extends Context.Service<
  CancelReasons,
  {
    /** Publishes the reason while the effect runs. */
    readonly during: (
      runId: RunId,
      to: RequestedStatus,
      reason: string | undefined
    ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    readonly of: (runId: RunId, to: RequestedStatus) => string | undefined
  }
>()("runplane/control-plane/CancelReasons") {
  static readonly layer = Layer.effect(
    CancelReasons,
    Effect.gen(function* () {
      const channel = yield* ProcessChannel
      const clock = yield* Clock.Clock
      const local = new Map<string, { readonly reason: string }>()
      const remote = new Map<string, { readonly reason: string; readonly until: number }>()
      const keyOf = (runId: string, to: RequestedStatus) => `${runId} ${to}`

      yield* channel.listen(SUBJECT, (text) => {
        const notice = Option.getOrUndefined(decodeNotice(text))
        if (notice === undefined) return
        const key = keyOf(notice.runId, notice.to)
        remote.delete(key)
        if (notice.reason === undefined) return
        const [oldest] = remote.keys()
        if (oldest !== undefined && remote.size >= REMOTE_CAPACITY) remote.delete(oldest)
        remote.set(key, { reason: notice.reason, until: clock.currentTimeMillisUnsafe() + REMOTE_TTL_MS })
      })

      const during =
        (runId: RunId, to: RequestedStatus, reason: string | undefined) =>
        <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
          if (reason === undefined) return effect
          const key = keyOf(runId, to)
          const isSent = reason.length <= LONGEST_SENT
          const send = (notice: { readonly reason?: string }) =>
            isSent ? channel.send(SUBJECT, encodeNotice({ runId, to, ...notice })) : Effect.void
          return Effect.suspend(() => {
            const own = { reason }
            local.set(key, own)
            // Another caller may have replaced the reason with its own.
            const forget = Effect.sync(() => local.get(key) === own && local.delete(key))
            return send({ reason }).pipe(Effect.andThen(effect), Effect.ensuring(forget), Effect.ensuring(send({})))
          })
        }

      const remoteReason = (key: string) => {
        const found = remote.get(key)
        return found !== undefined && clock.currentTimeMillisUnsafe() < found.until ? found.reason : undefined
      }
      return CancelReasons.of({
        during,
        of: (runId, to) => local.get(keyOf(runId, to))?.reason ?? remoteReason(keyOf(runId, to))
      })
    })
  )
}
