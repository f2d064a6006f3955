import { assert, it } from "@effect/vitest"
import { RequestFacts } from "@runplane/server"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { shareReads } from "../../../src/platform/postgres/SharedRead.ts"

/** Reads of a value that changes; each waits for `go` and answers with the value of the moment it began. */
const counted = Effect.gen(function* () {
  const reads: Array<{ readonly query: string; readonly go: Deferred.Deferred<void> }> = []
  const begun = [yield* Deferred.make<void>(), yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  let value = 0
  const shared = yield* shareReads(
    Effect.fnUntraced(function* (query: string) {
      const seen = value
      const go = yield* Deferred.make<void>()
      const number = reads.push({ query, go })
      const announced = begun[number - 1]
      if (announced !== undefined) yield* Deferred.succeed(announced, undefined)
      yield* Deferred.await(go)
      return `${query}: ${seen}`
    }),
    (query) => query
  )
  const isBegun = (number: number) => Deferred.await(begun[number] ?? assert.fail(`no read ${number}`))
  const end = (number: number) => Deferred.succeed(reads[number]?.go ?? assert.fail(`no read ${number}`), undefined)
  const change = () => {
    value++
  }
  return { shared, reads, isBegun, end, change }
})

describe("a shared read", () => {
  it.effect("answers all who came while one was under way with the next, which sees what changed before", () =>
    Effect.gen(function* () {
      const { change, end, isBegun, reads, shared } = yield* counted
      const first = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* isBegun(0)
      change()
      const others = yield* Effect.forEach(Array.from({ length: 50 }), () =>
        Effect.forkChild(shared("runs"), { startImmediately: true })
      )
      yield* end(0)
      assert.strictEqual(yield* Fiber.join(first), "runs: 0")
      yield* isBegun(1)
      yield* end(1)
      for (const other of others) assert.strictEqual(yield* Fiber.join(other), "runs: 1")
      assert.strictEqual(reads.length, 2)
    })
  )

  it.effect("does not wait for one of another query", () =>
    Effect.gen(function* () {
      const { end, isBegun, reads, shared } = yield* counted
      const first = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* isBegun(0)
      const second = yield* Effect.forkChild(shared("events"), { startImmediately: true })
      yield* isBegun(1)
      yield* end(1)
      assert.strictEqual(yield* Fiber.join(second), "events: 0")
      yield* end(0)
      assert.strictEqual(yield* Fiber.join(first), "runs: 0")
      assert.deepStrictEqual(
        reads.map(({ query }) => query),
        ["runs", "events"]
      )
    })
  )

  it.effect("goes on when the caller that began it goes away", () =>
    Effect.gen(function* () {
      const { end, isBegun, reads, shared } = yield* counted
      const first = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* isBegun(0)
      const leader = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      const follower = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* Fiber.interrupt(leader)
      yield* Fiber.interrupt(first)
      yield* end(0)
      yield* isBegun(1)
      yield* end(1)
      assert.strictEqual(yield* Fiber.join(follower), "runs: 0")
      assert.strictEqual(reads.length, 2)
    })
  )

  it.effect("ends when all its callers go away, and the next caller gets another", () =>
    Effect.gen(function* () {
      const { end, isBegun, reads, shared } = yield* counted
      const first = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* isBegun(0)
      const waiting = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(first)
      const next = yield* Effect.forkChild(shared("runs"), { startImmediately: true })
      yield* isBegun(1)
      yield* end(1)
      assert.strictEqual(yield* Fiber.join(next), "runs: 0")
      assert.strictEqual(reads.length, 2)
    })
  )

  it.effect("runs for the client of its first caller, and may be kept apart by client", () =>
    Effect.gen(function* () {
      const shared = yield* shareReads(
        () => Effect.map(RequestFacts, ({ client }) => client),
        (query: string, client) => `${query} ${client}`
      )
      const as = (client: string) =>
        Effect.provideService(shared("runs"), RequestFacts, { client, actor: undefined, address: "" })
      assert.deepStrictEqual(yield* Effect.all([as("a"), as("b")], { concurrency: 2 }), ["a", "b"])
    })
  )
})
