import type { RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ProcessChannel } from "../event-log/ProcessChannel.ts"

/** What callers ask for. */
export type AskedStatus = "suspended" | "running" | "cancelled"

/** Between processes: what is asked for and why, or no reason when the asking is over. */
const SUBJECT = "caller-reason"
const Told = Schema.fromJsonString(
  Schema.Struct({
    runId: Schema.String,
    to: Schema.Literals(["suspended", "running", "cancelled"]),
    reason: Schema.optionalKey(Schema.String)
  })
)
const encodeTold = Schema.encodeSync(Told)
const decodeTold = Schema.decodeOption(Told)
/** A process that asks and dies never says that it is over. Milliseconds. */
const OTHERS_REMEMBERED_MS = 60_000
/** Reasons of other processes that are kept. */
const OTHERS_CAPACITY = 1_000
/** A longer one does not fit into a message, with every character of it escaped. Characters. */
const LONGEST_TOLD = 1_000

/**
 * Why callers suspend, resume or cancel runs just now. The runtime tells no reasons, and the observer often hears of
 * the change before the caller's request is through: whoever writes the event first finds the caller's reason here.
 * The observer may be in another process, which is told before the runtime is asked.
 */
export class CancelReasons extends Context.Service<
  CancelReasons,
  {
    /** Makes the reason known for as long as the effect runs. */
    readonly during: (
      runId: RunId,
      to: AskedStatus,
      reason: string | undefined
    ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    readonly of: (runId: RunId, to: AskedStatus) => string | undefined
  }
>()("runplane/control-plane/CancelReasons") {
  static readonly layer = Layer.effect(
    CancelReasons,
    Effect.gen(function* () {
      const messages = yield* ProcessChannel
      const clock = yield* Clock.Clock
      const reasons = new Map<string, { readonly reason: string }>()
      const others = new Map<string, { readonly reason: string; readonly until: number }>()
      const keyOf = (runId: string, to: AskedStatus) => `${runId} ${to}`

      yield* messages.listen(SUBJECT, (text) => {
        const told = Option.getOrUndefined(decodeTold(text))
        if (told === undefined) return
        const key = keyOf(told.runId, told.to)
        others.delete(key)
        if (told.reason === undefined) return
        const [oldest] = others.keys()
        if (oldest !== undefined && others.size >= OTHERS_CAPACITY) others.delete(oldest)
        others.set(key, { reason: told.reason, until: clock.currentTimeMillisUnsafe() + OTHERS_REMEMBERED_MS })
      })

      const during =
        (runId: RunId, to: AskedStatus, reason: string | undefined) =>
        <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
          if (reason === undefined) return effect
          const key = keyOf(runId, to)
          const told = reason.length <= LONGEST_TOLD
          const tell = (word: { readonly reason?: string }) =>
            told ? messages.send(SUBJECT, encodeTold({ runId, to, ...word })) : Effect.void
          return Effect.suspend(() => {
            const own = { reason }
            reasons.set(key, own)
            // Another caller may have asked for the same since, and still be at it.
            const forget = Effect.sync(() => reasons.get(key) === own && reasons.delete(key))
            return tell({ reason }).pipe(Effect.andThen(effect), Effect.ensuring(forget), Effect.ensuring(tell({})))
          })
        }

      const ofOthers = (key: string) => {
        const found = others.get(key)
        return found !== undefined && clock.currentTimeMillisUnsafe() < found.until ? found.reason : undefined
      }
      return CancelReasons.of({
        during,
        of: (runId, to) => reasons.get(keyOf(runId, to))?.reason ?? ofOthers(keyOf(runId, to))
      })
    })
  )
}
