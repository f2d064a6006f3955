import { assert, describe, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { messagesOf, SEAT } from "./SeatStage.ts"
import {
  AUDITOR,
  actsOf,
  answerFor,
  inShort,
  itemOf,
  makeWorldAt,
  openFor,
  resumeAsOther,
  seatsOf,
  sessionOf,
  stateWhen,
  suspendAsOther,
  textWhen,
  waitForPeople
} from "./SuspensionStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"

const votesOf = (seat: string) =>
  Effect.map(messagesOf(SESSION), (messages) => messages.filter(({ sender }) => sender === seat))

/** Suspensions of sessions that wait for people, on a runtime. */
export const suspensionSuite = (
  name: string,
  startRuntime: Effect.Effect<string, { readonly message: string }, Scope.Scope>
) => {
  const world = Effect.flatMap(startRuntime, makeWorldAt)

  describe(`a session that waits for people alone, on ${name}`, () => {
    it.live("is suspended, resumed for each answer, and suspended again while a seat is left", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          yield* waitForPeople(SESSION, { [SEAT]: {}, [AUDITOR]: {} })
          const before = yield* stateWhen(SESSION, "SUSPENDED")
          yield* textWhen(SESSION, /^the session is suspended until it has an answer$/)
          yield* answerFor(SESSION)
          yield* itemOf(SESSION, "accepted")
          const between = yield* until(
            sessionOf(SESSION),
            ({ expiresAtUnixMs, state }) => state === "SUSPENDED" && expiresAtUnixMs > before.expiresAtUnixMs
          )
          assert.lengthOf(yield* votesOf(SEAT), 1)
          yield* answerFor(SESSION, AUDITOR)
          yield* itemOf(SESSION, "accepted", AUDITOR)
          const after = yield* sessionOf(SESSION)
          assert.strictEqual(after.state, "OPEN")
          assert.isAbove(after.expiresAtUnixMs, between.expiresAtUnixMs)
          assert.deepStrictEqual(inShort(yield* actsOf(SESSION)), [
            "service suspend done",
            "service resume done",
            "service suspend done",
            "service resume done"
          ])
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("is not resumed when another party has suspended it: the answer waits, and the item says so", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          // Before the service does, and with a seat that is not behind.
          yield* Effect.flatMap(SeatRows, ({ add }) => add(seatsOf(SESSION, { [SEAT]: {} })))
          yield* openFor(SESSION, [SEAT])
          assert.isTrue((yield* suspendAsOther(SESSION)).ok)
        }).pipe(Effect.provide(layer()))
        yield* Effect.gen(function* () {
          yield* answerFor(SESSION)
          yield* textWhen(SESSION, /^the session was suspended by another party; your answer waits/)
          yield* itemOf(SESSION, "answered")
          // A restarted service reads the same.
        }).pipe(Effect.provide(layer()))
        yield* Effect.gen(function* () {
          yield* textWhen(SESSION, /^the session was suspended by another party/)
          assert.strictEqual((yield* sessionOf(SESSION)).state, "SUSPENDED")
          assert.lengthOf(yield* votesOf(SEAT), 0)
          assert.deepStrictEqual(inShort(yield* actsOf(SESSION)), ["other suspend done"])
          assert.isTrue((yield* resumeAsOther(SESSION)).ok)
          yield* itemOf(SESSION, "accepted")
          assert.lengthOf(yield* votesOf(SEAT), 1)
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("is suspended again when another party resumes it, and the item says so", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          yield* waitForPeople(SESSION, { [SEAT]: {} })
          yield* stateWhen(SESSION, "SUSPENDED")
          assert.isTrue((yield* resumeAsOther(SESSION)).ok)
          yield* until(actsOf(SESSION), (acts) => inShort(acts).includes("other resume done"))
          yield* stateWhen(SESSION, "SUSPENDED")
          // A suspension by another party after a resume of another party is its own, although ours was before.
          assert.isTrue((yield* resumeAsOther(SESSION)).ok)
          assert.isTrue((yield* suspendAsOther(SESSION)).ok)
          yield* textWhen(SESSION, /^the session was suspended by another party/)
          yield* answerFor(SESSION)
          yield* textWhen(SESSION, /^the session was suspended by another party/)
          assert.lengthOf(yield* votesOf(SEAT), 0)
          assert.isTrue((yield* resumeAsOther(SESSION)).ok)
          yield* itemOf(SESSION, "accepted")
          assert.deepStrictEqual(inShort(yield* actsOf(SESSION)), [
            "service suspend done",
            "other resume done",
            "service suspend done",
            "other resume done",
            "other suspend done",
            "other resume done"
          ])
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("goes on with a service that has started again", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          yield* waitForPeople(SESSION, { [SEAT]: {}, [AUDITOR]: {} })
          yield* stateWhen(SESSION, "SUSPENDED")
        }).pipe(Effect.provide(layer()))
        yield* Effect.gen(function* () {
          yield* answerFor(SESSION)
          yield* itemOf(SESSION, "accepted")
          yield* stateWhen(SESSION, "SUSPENDED")
        }).pipe(Effect.provide(layer()))
        yield* Effect.gen(function* () {
          yield* answerFor(SESSION, AUDITOR)
          yield* itemOf(SESSION, "accepted", AUDITOR)
          yield* stateWhen(SESSION, "OPEN")
          const by = new Set((yield* actsOf(SESSION)).map((act) => `${act.by} ${act.outcome}`))
          assert.deepStrictEqual([...by], ["service done"])
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("is resumed for the act of a deadline, and when a question ends without an act", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          yield* waitForPeople(SESSION, {
            [SEAT]: { deadline: "2s", onDeadline: "reject" },
            [AUDITOR]: { deadline: "6s" }
          })
          yield* stateWhen(SESSION, "SUSPENDED")
          const { given } = yield* itemOf(SESSION, "accepted")
          assert.isUndefined(given?.person)
          assert.lengthOf(yield* votesOf(SEAT), 1)
          yield* itemOf(SESSION, "expired", AUDITOR)
          yield* stateWhen(SESSION, "OPEN")
          assert.lengthOf(yield* votesOf(AUDITOR), 0)
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("expires after maxSuspendMs, and its items with that reason", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          yield* waitForPeople(SESSION, { [SEAT]: {} }, { maxSuspendMs: 1_000 })
          const { reason } = yield* itemOf(SESSION, "expired")
          assert.strictEqual(
            reason,
            "the session has expired: it was suspended for longer than it may be (maxSuspendMs 1000)"
          )
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("expires at the resume after 1,024 others, and no item ends without that reason", () =>
      Effect.gen(function* () {
        const { layer } = yield* world
        yield* Effect.gen(function* () {
          yield* openFor(SESSION, [SEAT, AUDITOR])
          for (let cycle = 1; cycle <= 1_024; cycle += 1) {
            assert.isTrue((yield* suspendAsOther(SESSION)).ok)
            assert.isTrue((yield* resumeAsOther(SESSION)).ok, `resume ${cycle}`)
          }
        }).pipe(Effect.provide(layer()))
        yield* Effect.gen(function* () {
          yield* Effect.flatMap(SeatRows, ({ add }) => add(seatsOf(SESSION, { [SEAT]: {}, [AUDITOR]: {} })))
        }).pipe(Effect.provide(layer()))
        yield* Effect.gen(function* () {
          yield* stateWhen(SESSION, "SUSPENDED")
          yield* answerFor(SESSION)
          const refused = yield* itemOf(SESSION, "refused")
          assert.match(refused.reason ?? "", /^SESSION_NOT_OPEN: /)
          const expired = yield* itemOf(SESSION, "expired", AUDITOR)
          assert.match(expired.reason ?? "", /^the session has expired when it was resumed: .* 1024 times/)
          assert.strictEqual((yield* sessionOf(SESSION)).state, "EXPIRED")
        }).pipe(Effect.provide(layer()))
      })
    )
  })
}
