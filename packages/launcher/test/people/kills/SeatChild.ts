/**
 * The service of seats in a process of its own, on the database SEAT_DATABASE and the runtime SEAT_RUNTIME. It answers
 * the open item of the session SEAT_SESSION as a person, waits until the answer is accepted, and ends. It kills itself
 * with signal 9 when it comes to the step SEAT_KILL_STEP.
 */

import { writeSync } from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as PgClient from "@effect/sql-pg/PgClient"
import { ParticipantClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunRecords } from "../../../src/control-plane/RunRecords.ts"
import { AnswerRows } from "../../../src/people/AnswerRows.ts"
import { Answers } from "../../../src/people/Answers.ts"
import { ItemRows } from "../../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../../src/people/PeopleDatabase.ts"
import { layerRecordOutbox } from "../../../src/people/RecordOutbox.ts"
import { SeatRunner } from "../../../src/people/SeatRunner.ts"
import { SeatWork } from "../../../src/people/SeatWork.ts"
import { layerPersons, layerRemotes, layerTokens, SEAT } from "../SeatNames.ts"
import type { KillStep } from "./KillSteps.ts"

const env = (name: string) => process.env[name] ?? ""
const session = env("SEAT_SESSION")

/** Kills this process at once; no finalizer runs. */
const at = (step: KillStep) =>
  Effect.suspend(() => {
    if (step !== env("SEAT_KILL_STEP")) return Effect.void
    process.kill(process.pid, "SIGKILL")
    return Effect.never
  })

const KilledClient = Layer.effect(
  ParticipantClient,
  Effect.map(ParticipantClient, (client) =>
    ParticipantClient.of({
      as: (bearer) => {
        const calls = client.as(bearer)
        return {
          ...calls,
          send: (envelope) =>
            at("outbox-read").pipe(
              Effect.andThen(calls.send(envelope)),
              Effect.tap(() => at("message-sent"))
            )
        }
      }
    })
  )
).pipe(Layer.provide(ParticipantClient.layerGrpc({ address: env("SEAT_RUNTIME") })))

const KilledAnswers = Layer.effect(
  AnswerRows,
  Effect.map(AnswerRows, (answers) =>
    // In the transaction that notes the acknowledgement.
    AnswerRows.of({ ...answers, sent: (item) => Effect.tap(answers.sent(item), () => at("acknowledged")) })
  )
).pipe(Layer.provideMerge(SeatWork.layer))

const KilledWork = Layer.effect(
  SeatWork,
  Effect.gen(function* () {
    const work = yield* SeatWork
    const items = yield* ItemRows
    const states = Effect.map(items.ofSeat(session, SEAT), (all) => all.map(({ state }) => state))
    return SeatWork.of({
      ...work,
      store: (...given) => Effect.tap(work.store(...given), () => at("in-answer")),
      reconcile: (...given) =>
        Effect.tap(work.reconcile(...given), () =>
          Effect.flatMap(states, (all) => {
            if (all.includes("accepted")) return at("accepted")
            return all.includes("open") ? at("item-stored") : Effect.void
          })
        )
    })
  })
).pipe(Layer.provideMerge(KilledAnswers))

/** Takes each record, as a line of the output: a killed process has written the lines of all that it has posted. */
const Records = Layer.succeed(
  RunRecords,
  RunRecords.of({
    ...RunRecords.none,
    isConfigured: true,
    post: ({ content, idempotencyKey, kind, label, sessionId }) =>
      Effect.gen(function* () {
        writeSync(1, `posted ${JSON.stringify({ sessionId, kind, label, idempotencyKey, content })}\n`)
        if (kind === "people.answer") yield* at("artifact-posted")
        return { _tag: "kept" } as const
      })
  })
)

const service = Layer.merge(Answers.layer, layerRecordOutbox).pipe(
  Layer.provideMerge(SeatRunner.layer),
  Layer.provideMerge(KilledWork),
  Layer.provide([layerTokens, layerRemotes, layerPersons(), KilledClient, Records]),
  Layer.provideMerge(layerPeopleDatabase({ url: env("SEAT_DATABASE") }))
)

const answerOnce = Effect.gen(function* () {
  const items = yield* ItemRows
  const answers = yield* Answers
  const runner = yield* SeatRunner
  const sql = yield* PgClient.PgClient
  while (true) {
    const all = yield* items.ofSeat(session, SEAT)
    const waiting = yield* sql`SELECT FROM people.records WHERE ended_at IS NULL`
    // A process that is to be killed waits for that: its work can be done before it comes to the step.
    const isDone = all.some(({ state }) => state === "accepted") && waiting.length === 0
    if (isDone && env("SEAT_KILL_STEP") === "") return
    const open = all.find(({ state }) => state === "open")
    const view = runner.sessionOf(session, SEAT)?.view
    const last = view?.messages.at(-1)
    // A process that is killed with the open item answers nothing: it could be accepted before the kill.
    if (open !== undefined && last !== undefined && env("SEAT_KILL_STEP") !== "item-stored") {
      const person = { id: "ana", groups: [], proof: "session", channel: "api" } as const
      const content = { act: "reject", reason: "the loss is not covered" } as const
      const basis = { ordinal: last.ordinal, sha256: last.digest }
      const submitted = { content, basis, proposalHash: open.proposalHash }
      // While the session is read again, answers are refused.
      yield* Effect.ignore(answers.submit(open.id, person, submitted))
      yield* at("answer-stored")
    }
    yield* Effect.sleep(20)
  }
})

NodeRuntime.runMain(
  answerOnce.pipe(Effect.andThen(Effect.sync(() => process.stdout.write("accepted\n"))), Effect.provide(service))
)
