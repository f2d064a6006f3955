/**
 * The service of seats in a process of its own, on the database SEAT_DATABASE and the runtime SEAT_RUNTIME. Two people
 * press the button of each open item twice, all at once. It goes on until it is killed.
 */

import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { Answers } from "../../../src/people/Answers.ts"
import { ItemRows } from "../../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../../src/people/PeopleDatabase.ts"
import { SeatRunner } from "../../../src/people/SeatRunner.ts"
import { SEAT } from "../SeatNames.ts"
import { ana, bo, layerSeats } from "../SeatStage.ts"

const env = (name: string) => process.env[name] ?? ""

const press = Effect.fnUntraced(function* (sessionId: string) {
  const items = yield* ItemRows
  const { submit } = yield* Answers
  const last = (yield* SeatRunner).sessionOf(sessionId, SEAT)?.view.messages.at(-1)
  const item = (yield* items.ofSeat(sessionId, SEAT)).find(({ state }) => state === "open")
  if (item === undefined || last === undefined) return
  const content = { act: "reject", reason: "the loss is not covered" } as const
  const submitted = {
    content,
    proposalHash: item.proposalHash,
    basis: { ordinal: last.ordinal, sha256: last.digest }
  }
  // While the session is read again, and while another press is first, answers are refused.
  const presses = [ana, bo, ana, bo].map((person, at) => {
    const own = { ...person, id: `${person.id}-${sessionId}` }
    return Effect.ignore(submit(item.id, own, { ...submitted, content: { ...content, reason: `press ${at % 2}` } }))
  })
  yield* Effect.all(presses, { concurrency: "unbounded", discard: true })
})

const pressAll = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  while (true) {
    const open = yield* Effect.orElseSucceed(
      sql<{ readonly session: string }>`SELECT session_id AS session FROM people.items WHERE state = 'open' LIMIT 200`,
      () => []
    )
    yield* Effect.forEach(open, ({ session }) => Effect.ignore(press(session)), { concurrency: 3, discard: true })
    yield* Effect.sleep(10)
  }
})

NodeRuntime.runMain(
  pressAll.pipe(Effect.provide(layerSeats(layerPeopleDatabase({ url: env("SEAT_DATABASE") }), env("SEAT_RUNTIME"))))
)
