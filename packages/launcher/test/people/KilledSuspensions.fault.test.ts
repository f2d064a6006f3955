import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@runplane/sandbox"
import { programFile, startProgram } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ItemRows } from "../../src/people/ItemRows.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { messagesOf, SEAT } from "./SeatStage.ts"
import { AUDITOR, actsOf, makeWorldAt, openFor, seatsOf, sessionOf } from "./SuspensionStage.ts"
import { SUSPENSION_STEPS } from "./SuspensionSteps.ts"

const CHILD = join(import.meta.dirname, "SuspensionChild.ts")
/** Times that the process is killed at each step. */
const ROUNDS = Number(process.env["SUSPENSION_KILL_ROUNDS"] ?? 2)
/** Processes of a round that are killed, one after the other, before one is left alone. */
const KILLS = 3
/** Milliseconds. */
const LIMIT_MS = 60_000 + ROUNDS * (KILLS + 1) * 30_000

describe("a service that suspends sessions and is killed", () => {
  const { env, main } = programFile("suspension-child", CHILD)

  it.live.each(SUSPENSION_STEPS)(
    "at %s goes on as if it had not been: one answer, and the session suspended by its own rows",
    (step) =>
      Effect.gen(function* () {
        const { address } = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
        const { rows, runtime, url } = yield* makeWorldAt(address)
        for (let round = 1; round <= ROUNDS; round += 1) {
          const session = `00000000-0000-4000-8000-${String(round).padStart(12, "0")}`
          yield* Effect.gen(function* () {
            yield* Effect.flatMap(SeatRows, ({ add }) => add(seatsOf(session, { [SEAT]: {}, [AUDITOR]: {} })))
            yield* openFor(session, [SEAT, AUDITOR])
          }).pipe(Effect.provide(rows()))
          const run = (killed: string) =>
            Effect.gen(function* () {
              const program = yield* startProgram(main, {
                env: {
                  ...process.env,
                  ...env,
                  SEAT_DATABASE: url,
                  SEAT_RUNTIME: runtime,
                  SEAT_SESSION: session,
                  SEAT_KILL_STEP: killed
                }
              })
              return yield* program.ended
            }).pipe(Effect.scoped)
          const first = yield* run(step)
          assert.isNull(first.code, first.stderr.join("\n"))
          // A step that is over comes not again: then the process does all of its work.
          for (let kill = 2; kill <= KILLS; kill += 1) yield* run(step)
          const finished = yield* run("")
          const output = [...finished.stdout, ...finished.stderr].join("\n")
          assert.deepStrictEqual([finished.code, finished.stdout.at(-1)], [0, "suspended again"], output)
          yield* Effect.gen(function* () {
            const own = (yield* messagesOf(session)).filter(({ sender }) => sender === SEAT)
            assert.lengthOf(own, 1)
            const items = yield* ItemRows
            assert.deepStrictEqual(
              (yield* items.ofSeat(session, AUDITOR)).map(({ state }) => state),
              ["open"]
            )
            const acts = yield* actsOf(session)
            // No act is of another party, and none has no result.
            assert.deepStrictEqual(
              acts.filter(({ by, outcome }) => by === "other" || outcome === undefined || outcome === "refused"),
              [],
              JSON.stringify(acts)
            )
            const made = acts.filter(({ outcome }) => outcome === "done").map(({ kind }) => kind)
            // They alternate, and the last one suspends.
            assert.isTrue(made.every((kind, at) => kind === (at % 2 === 0 ? "suspend" : "resume")))
            assert.isAtLeast(made.length, 3)
            assert.strictEqual(made.at(-1), "suspend")
            assert.strictEqual((yield* sessionOf(session)).state, "SUSPENDED")
          }).pipe(Effect.provide(rows()))
        }
      }),
    LIMIT_MS
  )
})
