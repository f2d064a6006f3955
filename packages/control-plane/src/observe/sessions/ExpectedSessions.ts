import type { SessionSnapshot } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Semaphore from "effect/Semaphore"

/** Most bytes that expected sessions may take together, and what one costs beside its texts. */
const EXPECTED_BYTES = 16 * 1024 * 1024
const OVERHEAD_BYTES = 1_024
/** Sessions that are looked into at once. */
const BATCH = 200

/** A session, and when it was first noticed, Unix milliseconds. */
export interface NoticedSession {
  readonly session: SessionSnapshot
  readonly noticedAt: number
}

interface Expected extends NoticedSession {
  readonly dueAt: number
  readonly bytes: number
  readonly settled: Deferred.Deferred<void>
}

/**
 * Sessions whose `POST /runs` may still be on its way: each is looked into after a grace (milliseconds), together with
 * those that are due by then. Bounded in bytes: who adds one too many waits.
 */
export const makeExpectedSessions = Effect.fnUntraced(function* (options: {
  readonly graceMs: number
  readonly discover: (sessions: ReadonlyArray<NoticedSession>) => Effect.Effect<void>
}) {
  // In the order of their time, because all have the same grace.
  const expected = new Map<string, Expected>()
  const room = yield* Semaphore.make(EXPECTED_BYTES)
  const some = yield* Latch.make()

  const add = Effect.fnUntraced(function* (session: SessionSnapshot) {
    if (expected.has(session.sessionId)) return
    const bytes = Math.min(sizeOf(session), EXPECTED_BYTES)
    yield* room.take(bytes)
    const noticedAt = yield* Clock.currentTimeMillis
    const dueAt = noticedAt + options.graceMs
    const settled = yield* Deferred.make<void>()
    if (expected.has(session.sessionId)) return yield* room.release(bytes)
    expected.set(session.sessionId, { session, noticedAt, dueAt, bytes, settled })
    some.openUnsafe()
  })

  const settle = Effect.fnUntraced(function* (batch: ReadonlyArray<Expected>) {
    for (const { bytes, session, settled } of batch) {
      expected.delete(session.sessionId)
      yield* room.release(bytes)
      yield* Deferred.succeed(settled, undefined)
    }
  })

  const lookIntoNext = Effect.gen(function* () {
    yield* some.await
    const [first] = expected.values()
    if (first === undefined) return some.closeUnsafe()
    yield* Effect.sleep(Math.max(0, first.dueAt - (yield* Clock.currentTimeMillis)))
    const now = yield* Clock.currentTimeMillis
    const batch: Array<Expected> = []
    for (const one of expected.values()) {
      if (one.dueAt > now || batch.length === BATCH) break
      batch.push(one)
    }
    yield* Effect.ensuring(options.discover(batch), settle(batch))
  })
  yield* Effect.forkScoped(Effect.forever(lookIntoNext))

  return {
    add,
    has: (sessionId: string) => expected.has(sessionId),
    settled: (sessionId: string) =>
      Effect.suspend(() => {
        const one = expected.get(sessionId)
        return one === undefined ? Effect.void : Deferred.await(one.settled)
      })
  }
})

const sizeOf = ({ sessionId, mode, initiator, participants, extensionKeys, contextId }: SessionSnapshot): number =>
  [sessionId, mode, initiator, contextId, ...participants, ...extensionKeys].reduce(
    (sum, text) => sum + 2 * text.length + 16,
    OVERHEAD_BYTES
  )
