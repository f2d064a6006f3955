import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { messagesOf, SEAT } from "./SeatStage.ts"
import { AUDITOR, answerFor, itemOf, makeWorldAt, sessionOf, stateWhen, waitForPeople } from "./SuspensionStage.ts"
import { suspensionSuite } from "./SuspensionSuite.ts"

suspensionSuite("macp-runtime", startRuntime({ MACP_MEMORY_ONLY: "1" }))

/** Moves the clock of a program that loads it; `npm run test:runtime` brings it. */
const faketime = process.env["MACP_FAKETIME_LIBRARY"] ?? ""
const SESSION = "00000000-0000-4000-8000-000000000001"
const HOUR_MS = 3_600_000

/** A runtime with its sessions in files, and the function that moves its clock, hours after ours. */
const startMovable = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-clock-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const file = join(folder, "offset")
  const move = (hours: number) => Effect.sync(() => writeFileSync(file, `+${hours}h`))
  yield* move(0)
  const address = yield* startRuntime({
    LD_PRELOAD: faketime,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1"
  })
  return { address, move }
})

describe("a session of one hour that waits for people for thirty", () => {
  if (faketime === "") return it.skip("(left out: libfaketime could not be brought)", () => undefined)

  it.live("takes the answer of a person and the act of a deadline, over restarts of the service", () =>
    Effect.gen(function* () {
      const { address, move } = yield* startMovable
      const { layer } = yield* makeWorldAt(address)
      const asked = yield* Effect.gen(function* () {
        const rules = { [SEAT]: {}, [AUDITOR]: { deadline: "31h", onDeadline: "reject" } } as const
        yield* waitForPeople(SESSION, rules, { ttlMs: HOUR_MS })
        return yield* stateWhen(SESSION, "SUSPENDED")
      }).pipe(Effect.provide(layer()))

      yield* move(30)
      yield* Effect.gen(function* () {
        yield* answerFor(SESSION)
        yield* itemOf(SESSION, "accepted")
        const again = yield* stateWhen(SESSION, "SUSPENDED")
        // The time of the session has not run meanwhile.
        assert.isAtLeast(again.expiresAtUnixMs - asked.expiresAtUnixMs, 30 * HOUR_MS)
        assert.isBelow(again.expiresAtUnixMs - asked.expiresAtUnixMs, 31 * HOUR_MS)
      }).pipe(Effect.provide(layer()))

      yield* move(32)
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        // The clock of the database cannot be moved: its deadline is.
        yield* sql`UPDATE people.items SET deadline_at = deadline_at - interval '32 hours' WHERE seat = ${AUDITOR}`
        const { given } = yield* itemOf(SESSION, "accepted", AUDITOR)
        assert.isUndefined(given?.person)
        const last = yield* sessionOf(SESSION)
        assert.strictEqual(last.state, "OPEN")
        assert.isAtLeast(last.expiresAtUnixMs - asked.expiresAtUnixMs, 32 * HOUR_MS)
        const own = (yield* messagesOf(SESSION)).filter(({ sender }) => sender === SEAT || sender === AUDITOR)
        assert.deepStrictEqual(
          own.map(({ sender }) => sender),
          [SEAT, AUDITOR]
        )
      }).pipe(Effect.provide(layer()))
    })
  )
})
