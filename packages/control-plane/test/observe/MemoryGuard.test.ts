import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"

const FILLED_HEAP = fileURLToPath(new URL("./FilledHeap.ts", import.meta.url))

it.live("the heap is full while three quarters of it are live, and has capacity again after a collection", () =>
  Effect.gen(function* () {
    const { ended } = yield* startProgram(FILLED_HEAP, {
      env: { ...process.env, NODE_OPTIONS: "--expose-gc --max-old-space-size=192 --max-semi-space-size=1" }
    })
    const { stdout } = yield* ended
    assert.deepStrictEqual(stdout, [
      "at first: room",
      "with much that lives: full",
      "with much garbage: full",
      "when it is collected: room"
    ])
  })
)
