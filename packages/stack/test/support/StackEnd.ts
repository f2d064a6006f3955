import { assert } from "@effect/vitest"
import { slowness } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { isRunning } from "./Processes.ts"
import type { StackProcess } from "./StackProcess.ts"

/** Ctrl-C ends everything within this time, in milliseconds. */
export const STOP_LIMIT_MS = 2_000

/** Ctrl-C, and the proof that nothing of the stack is left. */
export const stopAndCheck = Effect.fnUntraced(function* (stack: StackProcess, started: ReadonlyArray<number>) {
  const limit = STOP_LIMIT_MS * (yield* slowness)
  const end = yield* stack.stop("SIGINT")
  assert.strictEqual(end.code, 0)
  assert.isBelow(end.ms, limit)
  assert.deepStrictEqual(started.filter(isRunning), [])
  assert.deepStrictEqual(end.stderr, [])
  return end
})
