import { assert } from "@effect/vitest"
import { slowness } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { isRunning } from "./Processes.ts"
import type { StackProcess } from "./StackProcess.ts"

/** Ctrl-C ends everything within this time, in milliseconds. */
export const STOP_LIMIT_MS = 2_000

/** After an exit at the deadline, the processes of the database have ended within this time. Milliseconds. */
const ENDED_WITHIN_MS = 30_000

/** Ctrl-C, and the proof that nothing of the stack is left. */
export const stopAndCheck = Effect.fnUntraced(function* (stack: StackProcess, started: ReadonlyArray<number>) {
  const slow = yield* slowness
  const limit = STOP_LIMIT_MS * slow
  const end = yield* stack.stop("SIGINT")
  // On a busy machine the deadline of the exit may come first.
  assert.include(slow < 1.5 ? [0] : [0, 130], end.code)
  assert.isBelow(end.ms, limit)
  // An exit at the deadline does not wait for the database, which ends by itself.
  const left = Effect.sync(() => started.filter(isRunning))
  const ended = Effect.repeat(left, { schedule: Schedule.spaced("100 millis"), while: ({ length }) => length > 0 })
  if (end.code !== 0) yield* Effect.timeoutOption(ended, ENDED_WITHIN_MS)
  assert.deepStrictEqual(yield* left, [])
  // A check of the readiness that takes more than 2 s has no answer on a busy machine; nothing else may be reported.
  assert.deepStrictEqual(
    end.stderr.filter((line) => !/no answer within \d+ ms" loop=readiness/.test(line)),
    []
  )
  return end
})
