import {
  DEFAULT_POLICY,
  emptyView,
  type JsonObject,
  PINNED_RELEASE,
  type RawEnvelope,
  readPolicy,
  type SeatRules,
  type SeatText,
  type SeatView,
  type SessionRules,
  seatMode,
  seatRules,
  seeEnvelope
} from "@runplane/domain"
import * as Result from "effect/Result"
import { sha256 } from "../support/digests.ts"

export const SESSION = "11111111-1111-4111-8111-111111111111"
export const DECISION = "macp.mode.decision.v1"
export const QUORUM = "macp.mode.quorum.v1"
export const HANDOFF = "macp.mode.handoff.v1"
/** The seat of the tests, beside the agents `a` and `b`. */
export const SEAT = "officer"
/** When a message is received unless a test says otherwise. */
export const START = 1_800_000_000_000

/** A message as a runtime delivers it; its id is `<sender> <type> <about>` unless given. */
export const says = (
  sender: string,
  messageType: string,
  payload: JsonObject = {},
  { id, mode = DECISION }: { readonly id?: string; readonly mode?: string } = {}
): RawEnvelope => ({
  macpVersion: "1.0",
  mode,
  messageType,
  messageId: id ?? `${sender} ${messageType} ${JSON.stringify(payload)}`,
  sessionId: SESSION,
  sender,
  timestampUnixMs: 0,
  payload: new TextEncoder().encode(JSON.stringify(payload))
})

export const starts = (participants: ReadonlyArray<string> = ["lead", "a", "b", SEAT], mode = DECISION) =>
  says(
    "lead",
    "SessionStart",
    { participants: [...participants], modeVersion: "1.0.0", configurationVersion: "c1" },
    { mode }
  )
export const proposes = (proposalId = "p1", by = "lead") =>
  says(by, "Proposal", { proposalId, option: `option ${proposalId}` })
export const evaluates = (by: string, proposalId = "p1") =>
  says(by, "Evaluation", { proposalId, recommendation: "APPROVE", confidence: 0.9 })
export const objects = (by: string, proposalId = "p1") => says(by, "Objection", { proposalId, severity: "high" })
export const votes = (by: string, vote = "APPROVE", proposalId = "p1") => says(by, "Vote", { proposalId, vote })

const tools = { sha256, decode: () => undefined }

/** The view of a session after these messages, a second apart. */
export const viewOf = (envelopes: ReadonlyArray<RawEnvelope>, modeName = DECISION): SeatView => {
  const empty = emptyView(sha256, SESSION, modeName)
  if (empty === undefined) throw new Error(`${modeName} has no seats`)
  return envelopes.reduce((view, envelope, at) => seeEnvelope(tools, view, envelope, START + at * 1_000), empty)
}

export const rulesOf = (text: Partial<SeatText> = {}, modeName = DECISION): SeatRules => {
  const mode = seatMode(modeName)
  if (mode === undefined) throw new Error(`${modeName} has no seats`)
  return seatRules(mode, { assign: ["person:ana"], ...text })
}

/** What a session with these rules is bound to. */
export const boundTo = (
  rules: JsonObject | undefined,
  participants: ReadonlyArray<string>,
  mode: "decision" | "quorum" | "handoff" = "decision"
): SessionRules => {
  const text = {
    policyId: "policy.test.rules",
    mode: `macp.mode.${mode}.v1`,
    schemaVersion: 2,
    rules: JSON.stringify(rules)
  }
  const policy = rules === undefined ? DEFAULT_POLICY : Result.getOrThrow(readPolicy(text, PINNED_RELEASE))
  return { mode, terms: { initiator: "lead", participants, policy, release: PINNED_RELEASE } }
}
