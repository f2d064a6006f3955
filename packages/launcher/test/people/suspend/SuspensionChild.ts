/**
 * The service of seats in a process of its own, on the database SEAT_DATABASE and the runtime SEAT_RUNTIME, with the
 * session SEAT_SESSION. It answers the open item of the first seat once the session is suspended, and ends when it is
 * suspended again for the second seat. It kills itself with signal 9 at the step SEAT_KILL_STEP.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ParticipantClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { RunRecords } from "../../../src/control-plane/RunRecords.ts"
import { Answers } from "../../../src/people/Answers.ts"
import { ItemRows } from "../../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../../src/people/PeopleDatabase.ts"
import { SeatRunner } from "../../../src/people/SeatRunner.ts"
import { SeatWork } from "../../../src/people/SeatWork.ts"
import { SuspensionTimes } from "../../../src/people/suspend/SuspensionPlans.ts"
import { SuspensionRows } from "../../../src/people/suspend/SuspensionRows.ts"
import { layerPersons, layerRemotes, layerTokens, SEAT } from "../SeatNames.ts"
import type { SuspensionStep } from "./SuspensionSteps.ts"

const env = (name: string) => process.env[name] ?? ""
const session = env("SEAT_SESSION")

/** Kills this process at once; no finalizer runs. */
const at = (step: SuspensionStep) =>
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
          suspendSession: (control) => Effect.tap(calls.suspendSession(control), () => at("suspend made")),
          resumeSession: (control) => Effect.tap(calls.resumeSession(control), () => at("resume made"))
        }
      }
    })
  )
).pipe(Layer.provide(ParticipantClient.layerGrpc({ address: env("SEAT_RUNTIME") })))

const kinds = new Map<number, "suspend" | "resume">()

const KilledRows = Layer.effect(
  SuspensionRows,
  Effect.map(SuspensionRows, (rows) => {
    const kindOf = (n: number) => kinds.get(n) ?? "suspend"
    return SuspensionRows.of({
      ...rows,
      intend: (sessionId, n, kind, expiresAtUnixMs) => {
        kinds.set(n, kind)
        return rows.intend(sessionId, n, kind, expiresAtUnixMs)
      },
      called: (sessionId, n) =>
        at(`${kindOf(n)} planned`).pipe(
          Effect.andThen(rows.called(sessionId, n)),
          Effect.tap(() => at(`${kindOf(n)} called`))
        ),
      // In the transaction that stores the result.
      settle: (sessionId, n, outcome, reason) =>
        Effect.tap(rows.settle(sessionId, n, outcome, reason), () => at(`${kindOf(n)} settled`))
    })
  })
).pipe(Layer.provideMerge(SeatWork.layer))

const service = Answers.layer.pipe(
  Layer.provideMerge(SeatRunner.layer),
  Layer.provideMerge(KilledRows),
  Layer.provide([layerTokens, layerRemotes, layerPersons(), Layer.succeed(RunRecords, RunRecords.none)]),
  Layer.provide(Layer.succeed(SuspensionTimes, { reactionMs: 50, agentsMs: 300, callMs: 1_000 })),
  Layer.provideMerge(KilledClient),
  Layer.provideMerge(layerPeopleDatabase({ url: env("SEAT_DATABASE") }))
)

const answerOnce = Effect.gen(function* () {
  const items = yield* ItemRows
  const answers = yield* Answers
  const runner = yield* SeatRunner
  const rows = yield* SuspensionRows
  const lead = (yield* ParticipantClient).as(Redacted.make("lead"))
  while (true) {
    const { state } = yield* lead.getSession(session)
    const all = yield* items.ofSeat(session, SEAT)
    const isAccepted = all.some((one) => one.state === "accepted")
    const last = (yield* rows.of(session)).at(-1)
    if (state === "SUSPENDED" && isAccepted && last?.outcome === "done") return
    const open = all.find((one) => one.state === "open")
    const message = runner.sessionOf(session, SEAT)?.view.messages.at(-1)
    if (state === "SUSPENDED" && open !== undefined && message !== undefined) {
      const person = { id: SEAT, groups: [], proof: "session", channel: "api" } as const
      const content = { act: "reject", reason: "the loss is not covered" } as const
      const basis = { ordinal: message.ordinal, sha256: message.digest }
      // While the session is read again, answers are refused.
      yield* Effect.ignore(answers.submit(open.id, person, { content, basis, proposalHash: open.proposalHash }))
    }
    yield* Effect.sleep(20)
  }
})

NodeRuntime.runMain(
  answerOnce.pipe(Effect.andThen(Effect.sync(() => process.stdout.write("suspended again\n"))), Effect.provide(service))
)
