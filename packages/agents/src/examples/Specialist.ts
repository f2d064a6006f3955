import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { AgentClient } from "../client/AgentClient.ts"
import type { AgentFailure } from "../client/AgentFailure.ts"
import { Bootstrap } from "../client/Bootstrap.ts"
import { type Assessment, voteFor } from "./Assessment.ts"
import { type IncidentContext, incidentOf } from "./IncidentContext.ts"
import { llmCallOf, type Model } from "./LlmCall.ts"
import { pause } from "./Pace.ts"
import { type SessionOver, watchSession } from "./SessionView.ts"

export interface SpecialistProfile {
  readonly agentRef: string
  readonly model: Model
  readonly assess: (incident: IncidentContext) => Assessment
}

/**
 * One specialist of the incident bridge (launch-details section 7.1): waits for the proposal, assesses it, waits until every
 * other specialist has done so too, votes, and is done. A session that ends meanwhile ends the specialist without a failure.
 */
export const specialist = (profile: SpecialistProfile) =>
  takePart(profile).pipe(
    Effect.catchTag("SessionOver", () => Effect.void),
    Effect.catchIf(isClosedSession, () => Effect.void),
    Effect.scoped,
    Effect.withSpan("Specialist", { attributes: { agentRef: profile.agentRef } })
  )

const takePart = Effect.fnUntraced(function* ({
  agentRef,
  assess,
  model
}: SpecialistProfile): Effect.fn.Return<void, AgentFailure | SessionOver, AgentClient | Bootstrap | Scope.Scope> {
  const client = yield* AgentClient
  const { metadata, participant_id: self, participants, session_id } = yield* Bootstrap
  const think = (step: string) => pause(`${session_id}:${self}:${step}`)
  const session = yield* watchSession
  const { proposal } = yield* session.until((seen) => seen.proposal !== undefined)
  if (proposal === undefined) return
  const { id: proposalId, sender: proposer } = proposal

  yield* client.signal("session.started", {
    role: metadata.role ?? "",
    framework: metadata.framework ?? "custom",
    agentRef
  })
  yield* client.progress(0.1, "reading the incident")
  yield* think("read")
  yield* client.progress(0.3, "assessing")
  yield* think("assess")
  const assessment = assess(incidentOf(metadata.session_context))
  yield* client.signal("llm.call.completed", llmCallOf(model, self, metadata.session_context, assessment.reason))
  yield* Effect.forEach(
    assessment.alerts,
    (alert) => client.signal(alert, { participantId: self, proposalId, reason: assessment.reason }),
    { discard: true }
  )
  const { confidence, objection, reason, recommendation } = assessment
  yield* think("answer")
  // The objection goes first: peers wait for evaluations only, and the first vote closes objections as well.
  if (objection !== undefined) yield* client.object({ proposalId, ...objection })
  yield* client.evaluate({ proposalId, recommendation, confidence, reason })
  yield* think("listen")
  yield* client.progress(0.6, "waiting for the other specialists")

  const others = participants.filter((participant) => participant !== self && participant !== proposer)
  yield* session.until((seen) => others.every((other) => seen.evaluated.has(other)))
  yield* client.progress(0.75, "voting")
  yield* think("vote")
  yield* think("ballot")
  const vote = voteFor(assessment)
  yield* client.vote({ proposalId, vote, reason })
  yield* client.progress(1, "done")
  yield* client.signal("session.ended", { participantId: self, vote, recommendation })
})

/** A message that came after the end of the session is nothing a specialist could have done better. */
const isClosedSession = (failure: AgentFailure): boolean =>
  failure._tag === "MessageRefused" && failure.code === "SESSION_NOT_OPEN"
