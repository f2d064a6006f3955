import { create, toBinary } from "@bufbuild/protobuf"
import type { RunId } from "@runplane/domain"
import { DecisionMode, SessionStartPayloadSchema } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { Observers } from "../../src/observe/Observers.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { awaitStatus } from "../support/Observation.ts"
import { createRun } from "../support/Runs.ts"
import { COMMITMENT } from "../support/ScriptedRuntime.ts"

const PARTICIPANTS = ["agent://lead", "agent://risk"]

/** The envelopes of a short decision. */
export const envelopes = [
  {
    messageType: "SessionStart",
    sender: "agent://lead",
    payload: toBinary(
      SessionStartPayloadSchema,
      create(SessionStartPayloadSchema, { intent: "ship", participants: PARTICIPANTS, ttlMs: 60_000n })
    )
  },
  {
    messageType: "Proposal",
    sender: "agent://lead",
    payload: toBinary(
      DecisionMode.ProposalPayloadSchema,
      create(DecisionMode.ProposalPayloadSchema, { proposalId: "p1", option: "ship", rationale: "ready" })
    )
  },
  {
    messageType: "Vote",
    sender: "agent://risk",
    payload: toBinary(
      DecisionMode.VotePayloadSchema,
      create(DecisionMode.VotePayloadSchema, { proposalId: "p1", vote: "APPROVE", reason: "fine" })
    )
  },
  {
    messageType: "Commitment",
    sender: "agent://lead",
    payload: COMMITMENT
  }
] as const

/** Opens the session of a run. */
export const openSession = (runId: RunId) =>
  RuntimeFake.use((fake) =>
    fake.openSession({ sessionId: runId, participants: PARTICIPANTS, initiator: "agent://lead" })
  )

/** Lets the runtime accept the envelopes, or a part of them. */
export const accept = (runId: RunId, from = 0, to: number = envelopes.length) =>
  Effect.forEach(envelopes.slice(from, to), (envelope) => RuntimeFake.use((fake) => fake.accept(runId, envelope)), {
    discard: true
  })

/** A run whose observer waits for its session. */
export const adoptNew = Effect.gen(function* () {
  const runId = yield* createRun()
  yield* (yield* Observers).adopt(runId)
  return runId
})

/** A run that is subscribed to its open session. */
export const runningRun = Effect.gen(function* () {
  const runId = yield* createRun()
  yield* openSession(runId)
  yield* (yield* Observers).adopt(runId)
  yield* awaitStatus(runId, "running")
  return runId
})

/** The types of a run's events, in their order. */
export const typesOf = Effect.fnUntraced(function* (runId: RunId) {
  return (yield* assertLogIsExact(runId)).decoded.map((event) => event.type)
})

/** The ids of the messages that a run has received. */
export const messagesOf = Effect.fnUntraced(function* (runId: RunId) {
  return (yield* assertLogIsExact(runId)).decoded
    .filter((event) => event.type === "message.received")
    .map((event) => event.recorded.data["messageId"])
})
