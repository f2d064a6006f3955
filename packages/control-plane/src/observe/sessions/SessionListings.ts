import type { SessionSnapshot } from "@runplane/domain"
import { eachSessionPage, RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

/** More questions than these may be worth a listing. */
export const FEW_QUESTIONS = 20
/** Listed sessions that cost as much as one question. */
const SESSIONS_A_QUESTION = 10
/** How long the length of the last listing is believed in. Milliseconds. */
const LENGTH_BELIEVED_MS = 600_000
/** Most that a listing may take; what it has not answered by then is asked one by one. Milliseconds. */
const LISTING_MS = 10_000
/** How long a runtime that does not list for us is not asked to. Milliseconds. */
const REFUSED_MS = 600_000

/** Listings that answer many questions about sessions together (docs/internals/runtime.md#silence). */
export class SessionListings extends Context.Service<
  SessionListings,
  {
    /** Whether the runtime lists its sessions for us, for all that is known. */
    readonly isOffered: Effect.Effect<boolean>
    /** Whether a listing is better than so many questions: few of them about many sessions are cheaper one by one. */
    readonly isWorthwhile: (questions: number) => Effect.Effect<boolean>
    /**
     * Reads a listing that begins now, until `use` has all that it wants. One that cannot be read to its end is not an
     * error: what it has not told has to be asked.
     */
    readonly read: (use: (page: ReadonlyArray<SessionSnapshot>) => "enough" | "more") => Effect.Effect<void>
  }
>()("runplane/control-plane/SessionListings") {
  static readonly layer = Layer.effect(
    SessionListings,
    Effect.gen(function* () {
      const runtime = yield* RuntimeClient
      const limits = { ...runtime.listing, timeoutMs: Math.min(runtime.listing.timeoutMs, LISTING_MS) }
      let refusedUntil = Number.NEGATIVE_INFINITY
      /** Sessions that the last listing had. */
      let length = { sessions: 0, until: Number.NEGATIVE_INFINITY }

      const refused = Effect.fnUntraced(function* ({ message, reason }: RuntimeError) {
        yield* Effect.logDebug(`the runtime does not list its sessions: ${message}`)
        if (!isRefusal(reason)) return
        refusedUntil = (yield* Clock.currentTimeMillis) + REFUSED_MS
      })

      const read = Effect.fn("SessionListings.read")(function* (
        use: (page: ReadonlyArray<SessionSnapshot>) => "enough" | "more"
      ) {
        let sessions = 0
        const end = yield* Effect.result(
          eachSessionPage(runtime.listSessionsPage, limits, (page) => {
            sessions += page.length
            return use(page) === "enough" ? Effect.fail("enough" as const) : Effect.void
          })
        )
        if (Result.isFailure(end) && end.failure !== "enough") return yield* refused(end.failure)
        const now = yield* Clock.currentTimeMillis
        // One that is not read to its end is as long as the one before, for all we know.
        const least = Result.isFailure(end) && now < length.until ? length.sessions : 0
        length = { sessions: Math.max(sessions, least), until: now + LENGTH_BELIEVED_MS }
      })

      return SessionListings.of({
        isOffered: Effect.map(Clock.currentTimeMillis, (now) => now >= refusedUntil),
        isWorthwhile: (questions) =>
          Effect.map(
            Clock.currentTimeMillis,
            (now) =>
              now >= refusedUntil &&
              questions > FEW_QUESTIONS &&
              (now >= length.until || questions * SESSIONS_A_QUESTION >= length.sessions)
          ),
        read
      })
    })
  )
}

/** What does not change by itself soon. */
const isRefusal = (reason: RuntimeError["reason"]): boolean =>
  reason === "PERMISSION_DENIED" || reason === "UNAUTHENTICATED" || reason === "UNIMPLEMENTED"
