import * as Effect from "effect/Effect"
import { MemoryGuard } from "../../src/observe/MemoryGuard.ts"

/** Fills its heap with live objects and with garbage, and prints what MemoryGuard says. For MemoryGuard.test. */
const held: Array<ReadonlyArray<number>> = []
const megabyte = () => Array.from({ length: 131_072 }, (_, position) => position + 0.5)
const collect = () => globalThis.gc?.()

const program = Effect.gen(function* () {
  const { isFull } = yield* MemoryGuard
  const say = (when: string) => Effect.map(isFull, (full) => console.log(`${when}: ${full ? "full" : "room"}`))
  // The entries of a collection arrive in a later turn of the event loop.
  const collected = Effect.andThen(Effect.sync(collect), Effect.sleep("100 millis"))
  yield* say("at first")
  while (held.length < 160) held.push(megabyte())
  yield* collected
  yield* say("with much that lives")
  held.length = 0
  yield* say("with much garbage")
  yield* collected
  yield* say("when it is collected")
}).pipe(Effect.provide(MemoryGuard.layer), Effect.scoped)

Effect.runFork(program)
