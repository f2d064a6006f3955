/**
 * The service of seats in a process of its own, on the database TURN_DATABASE and the runtime TURN_RUNTIME. It runs the
 * turn of the session TURN_SESSION until its act is accepted and its record is posted, and ends. It kills itself with
 * signal 9 when it comes to the step TURN_KILL; at `request-sent` the agent kills it.
 */

import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as PgClient from "@effect/sql-pg/PgClient"
import { ParticipantClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunRecords } from "../../../src/control-plane/RunRecords.ts"
import { ItemRows } from "../../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../../src/people/PeopleDatabase.ts"
import { layerRecordOutbox } from "../../../src/people/RecordOutbox.ts"
import { SeatRunner } from "../../../src/people/SeatRunner.ts"
import { SeatWork } from "../../../src/people/SeatWork.ts"
import { TurnRows } from "../../../src/people/turns/TurnRows.ts"
import { layerPersons, layerRemotes, layerTokens, SEAT } from "../SeatNames.ts"
import type { TurnKill } from "./TurnKills.ts"

const env = (name: string) => process.env[name] ?? ""
const session = env("TURN_SESSION")

/** Kills this process at once; no finalizer runs. */
const at = (step: TurnKill) =>
  Effect.suspend(() => {
    if (step !== env("TURN_KILL")) return Effect.void
    process.kill(process.pid, "SIGKILL")
    return Effect.never
  })

const KilledClient = Layer.effect(
  ParticipantClient,
  Effect.map(ParticipantClient, (client) =>
    ParticipantClient.of({
      as: (bearer) => {
        const calls = client.as(bearer)
        return { ...calls, send: (envelope) => Effect.tap(calls.send(envelope), () => at("act-sent")) }
      }
    })
  )
).pipe(Layer.provide(ParticipantClient.layerGrpc({ address: env("TURN_RUNTIME") })))

const KilledTurns = Layer.effect(
  TurnRows,
  Effect.map(TurnRows, (turns) =>
    TurnRows.of({
      ...turns,
      begin: (...given) => Effect.tap(turns.begin(...given), () => at("turn-stored")),
      noteReceived: (...given) => Effect.tap(turns.noteReceived(...given), () => at("answer-received"))
    })
  )
).pipe(Layer.provideMerge(SeatWork.layer))

const KilledWork = Layer.effect(
  SeatWork,
  Effect.gen(function* () {
    const work = yield* SeatWork
    const items = yield* ItemRows
    const hasAct = Effect.map(items.ofSeat(session, SEAT), (all) => all.some(({ answer }) => answer !== undefined))
    return SeatWork.of({
      ...work,
      // The transaction that stores the act has committed.
      locked: (...given) =>
        Effect.tap(work.locked(...given), () => Effect.flatMap(hasAct, (has) => (has ? at("act-stored") : Effect.void)))
    })
  })
).pipe(Layer.provideMerge(KilledTurns))

const Records = Layer.succeed(
  RunRecords,
  RunRecords.of({
    ...RunRecords.none,
    isConfigured: true,
    post: ({ idempotencyKey }) =>
      Effect.sync(() => {
        process.stdout.write(`posted ${idempotencyKey}\n`)
        return { _tag: "kept" } as const
      })
  })
)

const service = layerRecordOutbox.pipe(
  Layer.provideMerge(SeatRunner.layer),
  Layer.provideMerge(KilledWork),
  Layer.provide([layerTokens, layerRemotes, layerPersons(), KilledClient, Records]),
  Layer.provideMerge(layerPeopleDatabase({ url: env("TURN_DATABASE") }))
)

const settled = Effect.gen(function* () {
  const items = yield* ItemRows
  const sql = yield* PgClient.PgClient
  while (true) {
    const all = yield* items.ofSeat(session, SEAT)
    const waiting = yield* sql`SELECT FROM people.records WHERE ended_at IS NULL`
    if (all.some(({ state }) => state === "accepted") && waiting.length === 0) return
    yield* Effect.sleep(20)
  }
})

NodeRuntime.runMain(
  settled.pipe(Effect.andThen(Effect.sync(() => process.stdout.write("accepted\n"))), Effect.provide(service))
)
