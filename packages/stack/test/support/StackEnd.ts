import { assert } from "@effect/vitest"
import { slowness } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { isRunning } from "./Processes.ts"
import type { StackProcess } from "./StackProcess.ts"

/** Ctrl-C ends everything within this time, in milliseconds. */
export const STOP_LIMIT_MS = 2_000

/** Ctrl-C, and the proof that nothing of the stack is left. */
export const stopAndCheck = Effect.fnUntraced(function* (stack: StackProcess, started: ReadonlyArray<number>) {
  const slow = yield* slowness
  const limit = STOP_LIMIT_MS * slow
  const end = yield* stack.stop("SIGINT")
  // On a busy machine the deadline of the exit may come first.
  assert.include(slow < 1.5 ? [0] : [0, 130], end.code)
  assert.isBelow(end.ms, limit)
  assert.deepStrictEqual(started.filter(isRunning), [])
  // A check of the readiness that takes more than 2 s has no answer on a busy machine; nothing else may be reported.
  assert.deepStrictEqual(
    end.stderr.filter((line) => !/no answer within \d+ ms" loop=readiness/.test(line)),
    []
  )
  return end
})
