import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { restartWith } from "./support/TakeUp.ts"

const RUNS = 2_000

describe(`a restart with ${RUNS} open sessions`, () => {
  it.live(
    "answers at once, says how far it is, and observes them all",
    () =>
      Effect.gen(function* () {
        const found = yield* Effect.scoped(restartWith(RUNS))
        yield* Effect.log(found)
        assert.match(found.recovery ?? "", new RegExp(`^adopting \\d+ of ${RUNS}$`))
      }),
    240_000
  )
})
