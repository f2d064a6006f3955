import type { SessionSnapshot } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { isCounted } from "../decide/Counts.ts"
import { FEW_QUESTIONS, SessionListings } from "./SessionListings.ts"

/** How long questions wait for each other, and the time in which few are asked one by one. Milliseconds. */
const WINDOW_MS = 1_000
/** Questions on their way at the same time that a listing has not answered: streams of one connection. */
const AT_ONCE = 100

type Waiting = Map<string, Deferred.Deferred<SessionSnapshot | undefined>>

/**
 * Questions for sessions whose answers nobody waits for: when many come at the same time, one listing answers them
 * together (docs/internals/runtime.md#silence). An answer is never older than its question.
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
      const listings = yield* SessionListings
      const scope = yield* Effect.scope
      const turn = yield* Semaphore.make(1)
      const places = yield* Semaphore.make(AT_ONCE)
      let windowSince = Number.NEGATIVE_INFINITY
      let asked = 0
      /** Those that the next listing answers. */
      let waiting: Waiting | undefined

      /** Takes out of the questions those that the page answers; a session that is not counted is no answer. */
      const answer = (questions: Waiting) => (page: ReadonlyArray<SessionSnapshot>) => {
        for (const session of page) {
          const question = isCounted(session) ? questions.get(session.sessionId) : undefined
          if (question === undefined) continue
          questions.delete(session.sessionId)
          Deferred.doneUnsafe(question, Effect.succeed(session))
        }
        return questions.size === 0 ? "enough" : "more"
      }

      const answerSoon = (questions: Waiting) =>
        Effect.gen(function* () {
          yield* Effect.sleep(WINDOW_MS)
          // Whoever comes while another listing is read belongs to the next one.
          yield* turn.withPermits(1)(
            Effect.gen(function* () {
              waiting = undefined
              if (yield* listings.isWorthwhile(questions.size)) yield* listings.read(answer(questions))
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
        if (waiting === undefined && asked <= FEW_QUESTIONS) return yield* runtime.getSession(sessionId)
        const listed = (yield* listings.isOffered) ? yield* join(sessionId) : undefined
        return listed ?? (yield* places.withPermits(1)(runtime.getSession(sessionId)))
      })
      return PatientQuestions.of({ ask })
    })
  )
}
