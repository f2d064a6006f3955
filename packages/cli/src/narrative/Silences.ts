import { rootCauseOf } from "@runplane/api"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { plainText } from "./PlainText.ts"

/** Silence after which `watch` says what a run waits for. Milliseconds. */
export const SILENCE_MS = 10_000

/**
 * Says on standard error after each silence what a run waits for, once for the same sentence; never ends. `waitingFor`
 * reads the sentence, undefined for a run that waits for nothing. `received` counts the events so far.
 */
export const printSilences = Effect.fnUntraced(function* (
  waitingFor: Effect.Effect<string | undefined, unknown>,
  received: () => number
) {
  let said: string | undefined
  let before = received()
  while (true) {
    yield* Effect.sleep(SILENCE_MS)
    const now = received()
    if (now === before) {
      const answer = yield* Effect.result(waitingFor)
      const text = Result.isFailure(answer)
        ? `what the run waits for is not known: ${rootCauseOf(answer.failure).message}`
        : answer.success && `the run waits: ${answer.success}`
      if (text !== undefined && text !== said) yield* Console.error(plainText(text))
      said = text
    }
    before = now
  }
})
