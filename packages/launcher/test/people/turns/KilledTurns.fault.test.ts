import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { approves, makeJsAgent, programFile, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { commit, itemRows, makeWorld, messagesOf, propose, SEAT, start } from "../SeatStage.ts"
import { TURN_KILLS } from "./TurnKills.ts"
import { addAgentRow, newSession, pin, turnOf } from "./TurnStage.ts"

const CHILD = join(import.meta.dirname, "TurnChild.ts")
/** Times that the service is killed at each step. */
const ROUNDS = Number(process.env["A2A_KILL_ROUNDS"] ?? 1)
/** Each round starts two processes. Milliseconds. */
const LIMIT_MS = 60_000 + ROUNDS * 60_000

describe("a service that is killed in a turn of an agent that speaks A2A", () => {
  const { env, main } = programFile("turn-child", CHILD)

  it.live.each([
    ...TURN_KILLS.map((step) => [step, "that keeps the context", true] as const),
    ["request-sent", "that forgets the context", false] as const
  ])(
    "at %s, with an agent %s, has one vote in the session and one record",
    ([step, _, keepsContext]) =>
      Effect.gen(function* () {
        const { rows, runtime, url } = yield* makeWorld
        let victim: number | undefined
        const agent = yield* makeJsAgent(
          (one) => {
            if (victim !== undefined && step === "request-sent") process.kill(victim, "SIGKILL")
            victim = undefined
            return approves(one)
          },
          { keepsContext }
        )
        const pinned = yield* pin(agent.entrypoint)
        let resent = 0
        for (let round = 1; round <= ROUNDS; round += 1) {
          const session = newSession()
          yield* Effect.gen(function* () {
            yield* addAgentRow(session, pinned)
            yield* start(session)
            yield* propose(session)
          }).pipe(Effect.provide(rows()))
          const run = (killed: string) =>
            Effect.gen(function* () {
              const program = yield* startProgram(main, {
                env: {
                  ...process.env,
                  ...env,
                  ...{ TURN_DATABASE: url, TURN_RUNTIME: runtime, TURN_SESSION: session, TURN_KILL: killed }
                }
              })
              victim = killed === "" ? undefined : program.pid
              return yield* program.ended
            }).pipe(Effect.scoped)
          const killed = yield* run(step)
          assert.isNull(killed.code, [...killed.stdout, ...killed.stderr].join("\n"))
          const finished = yield* run("")
          const output = [...finished.stdout, ...finished.stderr].join("\n")
          assert.deepStrictEqual([finished.code, finished.stdout.at(-1)], [0, "accepted"], output)
          const posted = new Set([...killed.stdout, ...finished.stdout].filter((line) => line.startsWith("posted ")))
          assert.strictEqual(posted.size, 1, output)
          yield* Effect.gen(function* () {
            const own = (yield* messagesOf(session)).filter(({ sender }) => sender === SEAT)
            assert.lengthOf(own, 1)
            const items = yield* itemRows(session)
            assert.deepStrictEqual(
              items.map(({ answer, state }) => [state, answer?.messageId]),
              [["accepted", own[0]?.messageId]]
            )
            resent += (yield* turnOf(session)).reduce((sum, turn) => sum + turn.resent, 0)
            // The next process ends its seat, so that later rounds read no more sessions than the first.
            yield* commit(session)
          }).pipe(Effect.provide(rows()))
        }
        // The agent got each message once, and once more for each that was sent again.
        assert.strictEqual(agent.asked.length, ROUNDS + resent)
        assert.strictEqual(new Set(agent.asked.map(({ messageId }) => messageId)).size, ROUNDS)
        // An answer that is lost is found again where the agent shows it.
        if (!keepsContext) assert.strictEqual(resent, ROUNDS)
        if (step === "request-sent" && keepsContext) assert.strictEqual(resent, 0)
      }),
    LIMIT_MS
  )
})
