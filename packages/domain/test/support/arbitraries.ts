import {
  CANONICAL_EVENT_TYPES,
  type EventDraft,
  type JsonObject,
  type RawEnvelope,
  type RawFrame,
  type SessionSnapshot
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { countedOutput, draft } from "./events.ts"
import { base64, json, proto, utf8 } from "./frames.ts"
export const pick = <A>(items: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: items.length - 1 }))),
    (at) => {
      const item = items[at]
      if (item === undefined) throw new Error("no items to pick from")
      return item
    }
  )

/** Either of the two, evenly. */
const either = <A, B>(left: Arbitrary.Arbitrary<A>, right: Arbitrary.Arbitrary<B>): Arbitrary.Arbitrary<A | B> =>
  Arbitrary.map(
    Arbitrary.all({ left, right, isLeft: Arbitrary.schema(Schema.Boolean) }),
    ({ isLeft, left, right }): A | B => (isLeft ? left : right)
  )

const NASTY_TEXTS = [
  "",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00x",
  "\u{1F600}",
  "__proto__",
  "constructor",
  "\uFEFF",
  ": ; "
]

/** Text of the kind that breaks things, or any text. */
export const nastyText = either(pick(NASTY_TEXTS), Arbitrary.schema(Schema.String))

const nastyNumber = either(
  pick([0, -0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e308, 5e-324, 2 ** 53]),
  Arbitrary.schema(Schema.Number)
)

const KEYS = [
  ...["proposalId", "proposal_id", "requestId", "taskId", "handoffId", "commitmentId", "signalId", "toolCallId"],
  ...["vote", "recommendation", "confidence", "reason", "rationale", "prompt", "action", "outcomePositive", "severity"],
  ...["signalType", "data", "progress", "total", "message", "policyDenied", "reasons", "decision", "policyVersion"],
  ...["llmCall", "tokenUsage", "metadata", "promptTokens", "completionTokens", "model", "estimatedCostUsd"],
  ...["participants", "maxSuspendMs", "expectedCommitments", "supersedes", "implicit", "__proto__", "to"]
]

const VALUES: ReadonlyArray<unknown> = [
  ...["p1", "p2", "APPROVE", "REJECT", "ABSTAIN", "approve", "decision.rejected", "high", "allow", "deny"],
  ...["llm.call.completed", base64({ model: "m", promptTokens: 3 }), base64("\u0000"), "%%%"],
  ...[true, false, null, 0, 1, 0.5, -1, 1e308],
  ["agent://a", "agent://b", "agent://b", 7],
  [{ id: "c1" }, { commitmentId: "c2" }, null],
  { model: "m", promptTokens: 5, prompt: "\u0000" },
  { llmCall: { completion_tokens: 1e300 } },
  { sessionId: "s", commitmentHash: "sha256:x" }
]

const value = either(
  pick(VALUES.map((item) => ({ item }))),
  Arbitrary.map(nastyText, (item) => ({ item }))
)

/** Payloads of known keys with values that fit now and then. */
export const payload: Arbitrary.Arbitrary<JsonObject> = Arbitrary.map(
  Arbitrary.array(Arbitrary.all({ key: pick(KEYS), value }), { maxLength: 8 }),
  (members) => Object.fromEntries(members.map(({ key, value }) => [key, value.item])) as JsonObject
)

const bytes = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))),
  (values) => Uint8Array.from(values)
)

const payloadBytes = either(
  either(Arbitrary.map(payload, proto), Arbitrary.map(payload, json)),
  either(bytes, Arbitrary.map(nastyText, utf8))
)

const MODES = [
  ...["macp.mode.decision.v1", "macp.mode.proposal.v1", "macp.mode.task.v1", "macp.mode.handoff.v1"],
  ...["macp.mode.quorum.v1", "ext.multi_round.v1", "ext.other.v1", ""]
]

const MESSAGE_TYPES = [
  ...["SessionStart", "Proposal", "CounterProposal", "ApprovalRequest", "TaskRequest", "HandoffOffer", "Evaluation"],
  ...["Objection", "Vote", "Accept", "Reject", "Withdraw", "Approve", "Abstain", "TaskAccept", "TaskReject"],
  ...["TaskUpdate", "TaskComplete", "TaskFail", "HandoffContext", "HandoffAccept", "HandoffDecline", "Contribute"],
  ...["Commitment", "Signal", "SignalAck", "Progress", "PolicyResolved", "PolicyCommitmentEvaluated", "PolicyDenied"],
  ...["ToolCall", "toolresult", "SessionCancel", "ContextUpdate", "constructor"]
]

const SENDERS = ["agent://a", "agent://b", "agent://c", "lead"]

export const arbitraryEnvelope: Arbitrary.Arbitrary<RawEnvelope> = Arbitrary.all({
  macpVersion: nastyText,
  mode: either(pick(MODES), nastyText),
  messageType: either(pick(MESSAGE_TYPES), either(pick(MESSAGE_TYPES), nastyText)),
  messageId: either(pick(["m1", "m2", "implicit-accept:h"]), nastyText),
  sessionId: either(pick(["session-1", ""]), nastyText),
  sender: either(pick(SENDERS), nastyText),
  timestampUnixMs: nastyNumber,
  payload: payloadBytes
})

const inlineError = Arbitrary.all({
  code: either(pick(["POLICY_DENIED", "PolicyDenied", "FORBIDDEN"]), nastyText),
  message: either(pick(["PolicyDenied: a; b", "PolicyDenied:", ""]), nastyText),
  sessionId: nastyText,
  messageId: nastyText,
  details: payloadBytes
})

const sessionState = pick(["UNSPECIFIED", "OPEN", "RESOLVED", "EXPIRED", "SUSPENDED", "CANCELLED"] as const)

const snapshot: Arbitrary.Arbitrary<SessionSnapshot> = Arbitrary.all({
  sessionId: nastyText,
  mode: nastyText,
  state: sessionState,
  startedAtUnixMs: nastyNumber,
  expiresAtUnixMs: nastyNumber,
  modeVersion: nastyText,
  configurationVersion: nastyText,
  policyVersion: nastyText,
  participants: Arbitrary.array(nastyText),
  participantActivity: Arbitrary.array(
    Arbitrary.all({ participantId: nastyText, lastMessageAtUnixMs: nastyNumber, messageCount: nastyNumber })
  ),
  initiator: nastyText,
  contextId: nastyText,
  extensionKeys: Arbitrary.array(nastyText)
})

const ack = Arbitrary.all({
  ok: Arbitrary.schema(Schema.Boolean),
  duplicate: Arbitrary.schema(Schema.Boolean),
  messageId: nastyText,
  sessionId: nastyText,
  acceptedAtUnixMs: nastyNumber,
  sessionState,
  error: inlineError
})

const envelopeFrame = Arbitrary.map(
  Arbitrary.all({ envelope: arbitraryEnvelope, ambient: Arbitrary.schema(Schema.Boolean) }),
  (frame): RawFrame => ({ kind: "stream-envelope", ...frame })
)

const otherFrame = either(
  either(
    Arbitrary.map(
      Arbitrary.all({
        status: pick(["opened", "reconnecting", "closed", "recovered", "gap"] as const),
        detail: nastyText,
        sessionId: nastyText,
        requestedAfter: nastyNumber
      }),
      (status): RawFrame => ({ kind: "stream-status", ...status })
    ),
    Arbitrary.map(snapshot, (snapshot): RawFrame => ({ kind: "session-snapshot", snapshot }))
  ),
  either(
    Arbitrary.map(
      ack,
      ({ error, ...rest }): RawFrame => ({ kind: "send-ack", ack: rest.ok ? rest : { ...rest, error } })
    ),
    Arbitrary.map(inlineError, (error): RawFrame => ({ kind: "stream-inline-error", error }))
  )
)

/** Any frame that the runtime could send, however malformed; mostly envelopes. */
export const arbitraryFrame = either(envelopeFrame, either(envelopeFrame, otherFrame))

/** Clean events of any type about a few participants and proposals. */
export const arbitraryDrafts: Arbitrary.Arbitrary<ReadonlyArray<EventDraft>> = Arbitrary.array(
  Arbitrary.map(
    Arbitrary.all({
      type: pick(CANONICAL_EVENT_TYPES),
      messageType: pick(MESSAGE_TYPES),
      sender: pick(SENDERS),
      state: sessionState,
      payload,
      subjectId: pick(["p1", "p2", "s1"])
    }),
    ({ messageType, payload, sender, state, subjectId, type }) => {
      const decoded: JsonObject = JSON.parse(JSON.stringify(payload))
      return draft(
        type,
        {
          messageType,
          messageId: subjectId,
          sender,
          state,
          status: "opened",
          payload: decoded,
          decodedPayload: decoded,
          ...countedOutput(type, messageType, decoded)
        },
        subjectId
      )
    }
  ),
  { maxLength: 25 }
)
