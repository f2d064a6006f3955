import { spawnSync } from "node:child_process"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { type Chance, chanceOf, programFile, startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Fiber from "effect/Fiber"
import { SeatRows } from "../../../src/people/SeatRows.ts"
import { commit, DECISION, makeWorld, messagesOf, propose, SEAT, start } from "../SeatStage.ts"

const CHILD = join(import.meta.dirname, "SoakChild.ts")
const VERIFIER = join(import.meta.dirname, "verify_answers.py")
/** Questions that are answered; `SEAT_ANSWERS=10000` takes an hour. */
const ANSWERS = Number(process.env["SEAT_ANSWERS"] ?? 45)
/** Questions that are open at once. */
const WAVE = Math.max(45, Math.ceil(ANSWERS / 20))
const SEED = Number(process.env["SEAT_SOAK_SEED"] ?? Date.now() % 1_000_000)
const LIMIT_MS = 240_000 + ANSWERS * 2_000

const hasPython = spawnSync("python3", ["--version"]).status === 0
if (!hasPython) process.stdout.write("python3 is absent: the answers are not verified\n")

const sessionOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`

const open = Effect.fnUntraced(function* (sessionId: string) {
  const { add } = yield* SeatRows
  yield* add([
    {
      sessionId,
      seat: SEAT,
      modeName: DECISION,
      scenarioRef: "test/people@1.0.0",
      rules: { assign: [`person:ana-${sessionId}`, `person:bo-${sessionId}`], when: "proposed" },
      seats: [SEAT],
      requester: "rita"
    }
  ])
  yield* start(sessionId)
  yield* propose(sessionId)
})

/** What the runtime has of a session and what its answer is bound to, as a line for the verifier. */
const evidenceOf = Effect.fnUntraced(function* (sessionId: string) {
  const sql = yield* PgClient.PgClient
  const items = yield* sql<{ readonly state: string; readonly hashed: string; readonly hash: string }>`
    SELECT state, hashed::text AS hashed, proposal_hash AS hash FROM people.items WHERE session_id = ${sessionId}`
  assert.deepStrictEqual(
    items.map(({ state }) => state),
    ["accepted"]
  )
  const [item] = items
  const messages = yield* messagesOf(sessionId)
  const subject = messages.find(({ messageType }) => messageType === "Proposal")
  const acts = messages
    .filter(({ sender }) => sender === SEAT)
    .map(({ messageId, payload }) => ({ messageId, text: new TextDecoder().decode(payload) }))
  return JSON.stringify({
    hashed: JSON.parse(item?.hashed ?? "{}"),
    proposalHash: item?.hash,
    subject: Hex.encode(subject?.payload ?? new Uint8Array()),
    acts
  })
})

/** Breaks what a service needs, in turn: its process, its streams, its connections. */
const disturb = (kill: Effect.Effect<unknown>, cut: Effect.Effect<unknown>, chance: Chance) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const endConnections = sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'runplane-launcher' AND datname = current_database() AND pid <> pg_backend_pid()`
    while (true) {
      yield* Effect.sleep(500 + chance.below(3_000))
      yield* chance.pick([kill, kill, cut, Effect.ignore(endConnections)])
    }
  })

describe("answers under kills, partitions and double presses", () => {
  const { env, main } = programFile("soak-child", CHILD)

  it.live(
    `each of ${ANSWERS} is accepted once, on its own subject (SEAT_SOAK_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const { faults, rows, runtime, url } = yield* makeWorld
        const chance = chanceOf(SEED, 0)
        let kills = 0
        const lines: Array<string> = []
        yield* Effect.gen(function* () {
          const service = Effect.scoped(
            Effect.flatMap(
              startProgram(main, { env: { ...process.env, ...env, SEAT_DATABASE: url, SEAT_RUNTIME: runtime } }),
              (program) => {
                current = program
                return program.ended
              }
            )
          )
          let current: Effect.Success<ReturnType<typeof startProgram>> | undefined
          const serving = yield* Effect.forkChild(Effect.forever(service))
          const kill = Effect.suspend(() => {
            kills += 1
            return current?.kill("SIGKILL") ?? Effect.void
          })
          const cut = faults.inject({ kind: "cut", afterFrames: chance.below(3), times: 20 })
          const disturbing = yield* Effect.forkChild(disturb(kill, cut, chance))
          for (let first = 0; first < ANSWERS; first += WAVE) {
            const sessions = Array.from({ length: Math.min(WAVE, ANSWERS - first) }, (_, at) => sessionOf(first + at))
            yield* Effect.forEach(sessions, open, { concurrency: 4, discard: true })
            const sql = yield* PgClient.PgClient
            const accepted = sql<{ readonly count: number }>`
              SELECT count(*)::int4 AS count FROM people.items WHERE state = 'accepted'`
            yield* until(
              Effect.orElseSucceed(accepted, () => []),
              ([row]) => row?.count === first + sessions.length
            )
            for (const session of sessions) lines.push(yield* evidenceOf(session))
            yield* Effect.forEach(sessions, commit, { concurrency: 4, discard: true })
          }
          yield* Fiber.interrupt(disturbing)
          yield* Fiber.interrupt(serving)
        }).pipe(Effect.provide(rows()))
        assert.lengthOf(lines, ANSWERS)
        assert.isAbove(kills, 0)
        if (!hasPython) return
        const verified = spawnSync("python3", [VERIFIER], { input: lines.join("\n"), encoding: "utf8" })
        assert.strictEqual(verified.stdout.trim(), `${ANSWERS} answers, 0 faults`)
        const [first = ""] = lines
        for (const forged of [first.replace(/"subject":"../, '"subject":"ff'), `${first}\n${first}`]) {
          assert.strictEqual(spawnSync("python3", [VERIFIER], { input: forged }).status, 1)
        }
      }),
    LIMIT_MS
  )
})
