import { randomUUID } from "node:crypto"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { call, descriptor } from "./HttpService.ts"
import { awaitStatus } from "./Observation.ts"

/** A run whose session was followed to its end. */
export const followedRun = Effect.fnUntraced(function* (participants: ReadonlyArray<string>) {
  const runId = RunId.make(randomUUID())
  const fake = yield* RuntimeFake
  yield* fake.openSession({ sessionId: runId, participants, initiator: participants[0] ?? "" })
  yield* call("POST", "/runs", {
    body: descriptor({
      session: { sessionId: runId, metadata: { scenarioRef: "loans/fast@1.0.0" } },
      ...{ mode: "sandbox" }
    })
  })
  yield* awaitStatus(runId, "running")
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  return runId
})
