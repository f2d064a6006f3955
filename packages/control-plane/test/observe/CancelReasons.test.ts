import { assert, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { CancelReasons } from "../../src/observe/CancelReasons.ts"

const RUN = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")

it.effect("a caller's reason is known during its request, and outlives an earlier request for the same change", () =>
  Effect.gen(function* () {
    const reasons = yield* CancelReasons
    const asking = Effect.fnUntraced(function* (reason: string | undefined) {
      const answer = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(reasons.during(RUN, "suspended", reason)(Deferred.await(answer)), {
        startImmediately: true
      })
      return Effect.andThen(Deferred.succeed(answer, undefined), Fiber.join(fiber))
    })
    const answerFirst = yield* asking("lunch")
    assert.strictEqual(reasons.of(RUN, "suspended"), "lunch")
    assert.isUndefined(reasons.of(RUN, "running"))
    const answerSecond = yield* asking("audit")
    const answerThird = yield* asking(undefined)
    yield* answerFirst
    yield* answerThird
    assert.strictEqual(reasons.of(RUN, "suspended"), "audit")
    yield* answerSecond
    assert.isUndefined(reasons.of(RUN, "suspended"))
  }).pipe(Effect.provide(CancelReasons.layer))
)
