import type { SessionSnapshot } from "@runplane/domain"
import { eachSessionPage, RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { isCounted } from "./decide/Counts.ts"

/** How long questions wait for each other, and the time in which few are asked one by one. Milliseconds. */
const WINDOW_MS = 1_000
/** More than these may be worth a listing. */
const FEW = 20
/** Listed sessions that cost as much as one question. */
const SESSIONS_A_QUESTION = 10
/** How long the length of the last listing is believed in. Milliseconds. */
const LENGTH_BELIEVED_MS = 600_000
/** Most that a listing may take; what it has not answered by then is asked one by one. Milliseconds. */
const LISTING_MS = 10_000
/** Questions on their way at the same time that a listing has not answered: streams of one connection. */
const AT_ONCE = 100
/** How long a runtime that does not list for us is not asked to. Milliseconds. */
const REFUSED_MS = 600_000

type Waiting = Map<string, Deferred.Deferred<SessionSnapshot | undefined>>

/**
 * Questions for sessions whose answers nobody waits for: when many come at the same time, one listing answers them
 * together (docs/runtime.md#silence). An answer is never older than its question.
 */
export class PatientQuestions extends Context.Service<
  PatientQuestions,
  {
    readonly ask: (sessionId: string) => Effect.Effect<SessionSnapshot, RuntimeError>
  }
>()("runplane/control-plane/PatientQuestions") {
  static readonly layer = Layer.effect(
    PatientQuestions,
    Effect.gen(function* () {
      const runtime = yield* RuntimeClient
      const scope = yield* Effect.scope
      const turn = yield* Semaphore.make(1)
      const places = yield* Semaphore.make(AT_ONCE)
      const limits = { ...runtime.listing, timeoutMs: Math.min(runtime.listing.timeoutMs, LISTING_MS) }
      let windowSince = Number.NEGATIVE_INFINITY
      let asked = 0
      let refusedUntil = Number.NEGATIVE_INFINITY
      /** Sessions that the last listing had. */
      let length = { sessions: 0, until: Number.NEGATIVE_INFINITY }
      /** Those that the next listing answers. */
      let waiting: Waiting | undefined

      /** Takes out of the questions those that the page answers; a session that is not counted is no answer. */
      const answer = (questions: Waiting, page: ReadonlyArray<SessionSnapshot>) =>
        Effect.suspend(() => {
          for (const session of page) {
            const question = isCounted(session) ? questions.get(session.sessionId) : undefined
            if (question === undefined) continue
            questions.delete(session.sessionId)
            Deferred.doneUnsafe(question, Effect.succeed(session))
          }
          return questions.size === 0 ? Effect.fail("answered" as const) : Effect.void
        })

      const list = Effect.fn("PatientQuestions.list")(function* (questions: Waiting) {
        yield* Effect.annotateCurrentSpan("questions", questions.size)
        let sessions = 0
        const read = eachSessionPage(runtime.listSessionsPage, limits, (page) => {
          sessions += page.length
          return answer(questions, page)
        })
        const end = yield* Effect.result(read)
        if (Result.isFailure(end) && end.failure !== "answered") return yield* refused(end.failure)
        const now = yield* Clock.currentTimeMillis
        // One that is not read to its end is as long as the one before, for all we know.
        const least = Result.isFailure(end) && now < length.until ? length.sessions : 0
        length = { sessions: Math.max(sessions, least), until: now + LENGTH_BELIEVED_MS }
      })

      /** Few questions about many sessions are cheaper one by one. */
      const isWorthListing = (questions: number, now: number) =>
        questions > FEW && (now >= length.until || questions * SESSIONS_A_QUESTION >= length.sessions)

      const refused = Effect.fnUntraced(function* ({ message, reason }: RuntimeError) {
        yield* Effect.logDebug(`the runtime does not list its sessions: ${message}`)
        if (!isRefusal(reason)) return
        refusedUntil = (yield* Clock.currentTimeMillis) + REFUSED_MS
      })

      const answerSoon = (questions: Waiting) =>
        Effect.gen(function* () {
          yield* Effect.sleep(WINDOW_MS)
          // Whoever comes while another listing is read belongs to the next one.
          yield* turn.withPermits(1)(
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              waiting = undefined
              return isWorthListing(questions.size, now) ? list(questions) : Effect.void
            })
          )
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              for (const question of questions.values()) Deferred.doneUnsafe(question, Effect.undefined)
            })
          )
        )

      const join = Effect.fnUntraced(function* (sessionId: string) {
        const questions: Waiting = waiting ?? new Map()
        const question = questions.get(sessionId) ?? Deferred.makeUnsafe<SessionSnapshot | undefined>()
        questions.set(sessionId, question)
        if (waiting === undefined) {
          waiting = questions
          yield* Effect.forkIn(answerSoon(questions), scope)
        }
        return yield* Deferred.await(question)
      })

      const ask = Effect.fnUntraced(function* (sessionId: string) {
        const now = yield* Clock.currentTimeMillis
        if (now - windowSince >= WINDOW_MS) {
          windowSince = now
          asked = 0
        }
        asked += 1
        if (waiting === undefined && asked <= FEW) return yield* runtime.getSession(sessionId)
        const listed = now < refusedUntil ? undefined : yield* join(sessionId)
        return listed ?? (yield* places.withPermits(1)(runtime.getSession(sessionId)))
      })
      return PatientQuestions.of({ ask })
    })
  )
}

/** What does not change by itself soon. */
const isRefusal = (reason: RuntimeError["reason"]): boolean =>
  reason === "PERMISSION_DENIED" || reason === "UNAUTHENTICATED" || reason === "UNIMPLEMENTED"
