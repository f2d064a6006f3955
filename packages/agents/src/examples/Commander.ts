import { fromJsonString } from "@bufbuild/protobuf"
import { DecisionMode } from "@runplane/runtime"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { AgentClient } from "../client/AgentClient.ts"
import type { AgentFailure } from "../client/AgentFailure.ts"
import { Bootstrap, type BootstrapFile, type SessionStartBlock } from "../client/Bootstrap.ts"
import { type Call, decide, hintsOf } from "./BridgeDecision.ts"
import { llmCallOf, type Model } from "./LlmCall.ts"
import { pause } from "./Pace.ts"
import { type SessionOver, type SessionView, watchSession } from "./SessionView.ts"

/** The bootstrap of this agent does not let it open the session: no initiator block, or a kickoff it cannot send. */
export class NotTheInitiator extends Data.TaggedError("NotTheInitiator")<{ readonly message: string }> {}

/** How long the commander waits for all votes after its proposal, in milliseconds (launch-details section 7.2). */
const VOTES_WAIT_MS = 60_000

const MODEL: Model = { model: "vendor1-4o", provider: "vendor1", baseLatencyMs: 520 }

/**
 * The initiator of the session (launch-details section 7.2): opens it, puts the proposal, collects what the bridge says, votes
 * and commits. A Commitment that the policy refuses ends the session by cancelling it, so that nobody waits for its expiry.
 */
export const commander = Effect.suspend(() => lead()).pipe(
  Effect.catchTag("SessionOver", () => Effect.void),
  Effect.scoped,
  Effect.withSpan("Commander")
)

const lead = Effect.fnUntraced(function* (): Effect.fn.Return<
  void,
  AgentFailure | SessionOver | NotTheInitiator,
  AgentClient | Bootstrap | Scope.Scope
> {
  const client = yield* AgentClient
  const bootstrap = yield* Bootstrap
  const { metadata, participant_id: self, participants, session_id } = bootstrap
  const think = (step: string) => pause(`${session_id}:${self}:${step}`)
  const { kickoff, start } = yield* openingOf(bootstrap)

  yield* client.start(start)
  const agentRef = metadata.agent_ref ?? "commander-agent"
  yield* client.signal("session.started", {
    role: metadata.role ?? "",
    framework: metadata.framework ?? "custom",
    agentRef
  })
  yield* think("open")
  yield* think("brief")
  yield* client.propose(kickoff)
  yield* client.signal("session.context", metadata.session_context ?? {})
  yield* client.progress(0.2, "waiting for the bridge")

  const session = yield* watchSession
  const specialists = participants.filter((participant) => participant !== self)
  yield* everyVote(session, specialists)
  yield* client.progress(0.8, "deciding")
  yield* think("decide")
  yield* think("weigh")
  const { criticalObjections, votes } = yield* session.current
  const call = decide(hintsOf(metadata.policy_hints), { specialists, votes, criticalObjections })
  yield* client.signal("llm.call.completed", llmCallOf(MODEL, self, metadata.session_context, call.reason))
  yield* client.vote({ proposalId: kickoff.proposalId, vote: call.vote, reason: call.reason })
  yield* think("commit")
  yield* conclude(client, bootstrap, kickoff.proposalId, call)
  yield* client.progress(1, call.reason)
  yield* client.signal("session.ended", { participantId: self, vote: call.vote, recommendation: call.action })
})

const conclude = (client: AgentClient["Service"], bootstrap: BootstrapFile, proposalId: string, call: Call) =>
  client
    .commit({
      commitmentId: `${proposalId}-final`,
      action: call.action,
      authorityScope: "incident_bridge",
      reason: call.reason,
      modeVersion: bootstrap.mode_version,
      configurationVersion: bootstrap.configuration_version,
      policyVersion: bootstrap.policy_version ?? "",
      outcomePositive: call.outcomePositive
    })
    .pipe(
      Effect.catchIf(
        (failure) => failure._tag === "MessageRefused" && failure.code === "POLICY_DENIED",
        (denied) => client.cancelSession(denied.message)
      )
    )

/** All votes, or whoever voted until the wait is over: the policy decides whether that is enough. */
const everyVote = (session: SessionView, specialists: ReadonlyArray<string>) =>
  session
    .until((seen) => specialists.every((specialist) => seen.votes.has(specialist)))
    .pipe(Effect.timeoutOption(VOTES_WAIT_MS))

const openingOf = Effect.fnUntraced(function* ({ initiator, session_id }: BootstrapFile) {
  if (initiator === undefined)
    return yield* new NotTheInitiator({ message: "the bootstrap file has no initiator block" })
  const start = yield* Effect.fromResult(startPayload(initiator.session_start))
  const given = initiator.kickoff?.payload ?? {
    proposal_id: `${session_id}-proposal`,
    option: initiator.session_start.intent
  }
  // The kickoff is JSON with the field names of the .proto file, which is one of the spellings this reader accepts.
  const kickoff = yield* Effect.try({
    try: () => fromJsonString(DecisionMode.ProposalPayloadSchema, JSON.stringify(given)),
    catch: () => new NotTheInitiator({ message: "the kickoff of the bootstrap file is no decision proposal" })
  })
  return { start, kickoff }
})

const startPayload = (block: SessionStartBlock) =>
  Result.map(decodeExtensions(block.extensions ?? {}), (extensions) => ({
    intent: block.intent,
    participants: [...block.participants],
    ttlMs: BigInt(block.ttl_ms),
    maxSuspendMs: BigInt(block.max_suspend_ms ?? 0),
    modeVersion: block.mode_version,
    configurationVersion: block.configuration_version,
    policyVersion: block.policy_version ?? "",
    contextId: block.context_id ?? "",
    extensions
  }))

const decodeExtensions = (
  extensions: Readonly<Record<string, string>>
): Result.Result<Record<string, Uint8Array<ArrayBuffer>>, NotTheInitiator> => {
  const decoded: Record<string, Uint8Array<ArrayBuffer>> = {}
  for (const [key, text] of Object.entries(extensions)) {
    const bytes = Base64.decode(text)
    if (Result.isFailure(bytes)) {
      return Result.fail(new NotTheInitiator({ message: `extension ${key} of the bootstrap file is not base64` }))
    }
    decoded[key] = new Uint8Array(bytes.success)
  }
  return Result.succeed(decoded)
}
