import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { programFile, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { addRow, commit, itemRows, makeWorld, messagesOf, propose, SEAT, start } from "../SeatStage.ts"
import { KILL_STEPS } from "./KillSteps.ts"

const CHILD = join(import.meta.dirname, "SeatChild.ts")
/** Times that the process is killed at each step. */
const ROUNDS = Number(process.env["SEAT_KILL_ROUNDS"] ?? 3)
/** Each round starts two processes. Milliseconds. */
const LIMIT_MS = 60_000 + ROUNDS * 60_000

describe("a service of seats that is killed", () => {
  const { env, main } = programFile("seat-child", CHILD)

  it.live.each(KILL_STEPS)(
    "at %s has one message of the seat in the session, and one answer in the rows",
    (step) =>
      Effect.gen(function* () {
        const { rows, runtime, url } = yield* makeWorld
        for (let round = 1; round <= ROUNDS; round += 1) {
          const session = `00000000-0000-4000-8000-${String(round).padStart(12, "0")}`
          yield* Effect.gen(function* () {
            yield* addRow(session)
            yield* start(session)
            yield* propose(session)
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
          const killed = yield* run(step)
          assert.isNull(killed.code, killed.stderr.join("\n"))
          const finished = yield* run("")
          const output = [...finished.stdout, ...finished.stderr].join("\n")
          assert.deepStrictEqual([finished.code, finished.stdout.at(-1)], [0, "accepted"], output)
          // A record that both processes have posted is the same, and its key has the effect of one.
          const posted = [...killed.stdout, ...finished.stdout].filter((line) => line.startsWith("posted "))
          const keys = new Set(posted.map((line) => /"idempotencyKey":"([^"]+)"/.exec(line)?.[1]))
          assert.strictEqual(new Set(posted).size, keys.size)
          assert.lengthOf(
            [...keys].filter((key) => key?.startsWith("people.answer:")),
            1
          )
          assert.lengthOf([...keys], 3)
          yield* Effect.gen(function* () {
            const own = (yield* messagesOf(session)).filter(({ sender }) => sender === SEAT)
            assert.lengthOf(own, 1)
            const items = yield* itemRows(session)
            assert.deepStrictEqual(
              items.map(({ answer, state }) => [state, answer?.messageId]),
              [["accepted", own[0]?.messageId]]
            )
            // The next process ends its seat, so that later rounds read no more sessions than the first.
            yield* commit(session)
          }).pipe(Effect.provide(rows()))
        }
      }),
    LIMIT_MS
  )
})
