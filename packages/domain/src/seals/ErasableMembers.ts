import type { CanonicalEventType } from "../events/CanonicalEventType.ts"

/**
 * What of a JSON value can be erased: nothing (`kept`), the value as a whole (`erasable`), or parts of it by the
 * members of an object or the elements of a list. A value of another kind than its rule describes is erasable as a
 * whole: no reader of events reads it.
 */
export type ErasureRule = "kept" | "erasable" | MembersRule | ElementsRule

/** An object: the rules of some members, by their names, and the rule of all others. */
export interface MembersRule {
  readonly members: ReadonlyMap<string, ErasureRule>
  readonly others: "kept" | "erasable"
}

/** A list: the rule of each element. */
export interface ElementsRule {
  readonly each: ErasureRule
}

const named = (rule: ErasureRule, names: ReadonlyArray<string>): ReadonlyArray<readonly [string, ErasureRule]> =>
  names.map((name) => [name, rule])

/** All members are erasable but those in `kept`, and those that have a rule. */
const keeping = (kept: ReadonlyArray<string>, rules: Readonly<Record<string, ErasureRule>> = {}): MembersRule => ({
  members: new Map([...named("kept", kept), ...Object.entries(rules)]),
  others: "erasable"
})

/** All members are kept but those in `erasable`, and those that have a rule. */
const erasing = (erasable: ReadonlyArray<string>, rules: Readonly<Record<string, ErasureRule>> = {}): MembersRule => ({
  members: new Map([...named("erasable", erasable), ...Object.entries(rules)]),
  others: "kept"
})

const bothSpellings = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => [...new Set([name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])])

/** Ids of things and of participants, which connect messages: stable ids, never names of people. */
const IDS = bothSpellings([
  ...["proposalId", "requestId", "taskId", "handoffId", "commitmentId", "decisionId", "signalId", "toolCallId"],
  ...["messageId", "sessionId", "correlationSessionId", "targetMessageId", "policyId", "policyVersion"],
  ...["artifactId", "progressToken", "participants", "requestedAssignee", "targetParticipant"]
])

/** What the fold and the record of a decision compute with. */
const ARITHMETIC = bothSpellings([
  ...["vote", "recommendation", "confidence", "severity", "action", "option", "revisedAction", "decision"],
  ...["outcomePositive", "supersedes", "implicit", "terminal", "requiredApprovals", "maxSuspendMs", "signalType"],
  ...["percentage", "progress", "total", "policyDenied"]
])

/** What a call of a language model cost, and what that is based on. */
const USAGE = [
  ...["model", "provider", "promptTokens", "completionTokens", "totalTokens", "cachedTokens", "cacheWriteTokens"],
  ...["reasoningTokens", "usage", "answered", "calls", "latencyMs", "estimatedCostUsd", "costBasis", "priceKey"],
  ...["costDoubt", "serviceTier", "batch"]
]

const described = erasing(["description"])

/** What a policy demands is configuration; only its texts for people are erasable. */
const policy = keeping([...IDS, ...ARITHMETIC, ...bothSpellings(["resolvedAt"])], {
  descriptor: described,
  expectedCommitments: { each: erasing(["title", "description"]) },
  expected_commitments: { each: erasing(["title", "description"]) }
})

const said = keeping([...IDS, ...ARITHMETIC])

/** Members beside the payload: copies of its texts, and what a span says. */
const SPOKEN = ["name", "data", "error", "errorMessage", "attributes"]

const message = (payload: ErasureRule, erasable: ReadonlyArray<string> = [...SPOKEN, "model"]): MembersRule =>
  erasing(erasable, { payload, decodedPayload: payload })

const lifecycle = erasing(["reason", "error", "name"])
const answer = erasing(["errorMessage"])

/**
 * The erasable members of `data`, by the type of the event: free texts, values of business data, the bodies of prompts
 * and answers, digests of erasable content. The rest is what the fold and `decisionRecord` compute with: erasing all
 * that is erasable changes no figure of them (`test/seals/ErasableMembers.test.ts`). A payload is never erased as a
 * whole but by its members, whose names stay; all of them are erasable but those that are read.
 *
 * The table is a part of version 2 of the chain: a head depends on it, so a changed row is another version.
 */
export const ERASABLE: Readonly<Record<CanonicalEventType, MembersRule>> = {
  "run.created": lifecycle,
  "run.started": lifecycle,
  "run.completed": lifecycle,
  "run.failed": lifecycle,
  "run.cancelled": lifecycle,
  "run.corrected": lifecycle,
  "run.suspended": lifecycle,
  "run.resumed": lifecycle,
  "session.bound": erasing([]),
  "session.stream.opened": erasing(["detail"]),
  "session.state.changed": erasing([]),
  "participant.seen": erasing([]),
  "message.sent": answer,
  "message.received": message(said),
  "message.send_failed": answer,
  "signal.emitted": message(said),
  "signal.acknowledged": message(said),
  "proposal.created": message(said),
  "proposal.updated": message(said),
  "decision.proposed": message(said),
  "decision.finalized": message(said),
  "progress.reported": message(said),
  "tool.called": message(said),
  "tool.completed": message(said),
  "artifact.created": erasing(["label", "uri", "contentSha256"]),
  "policy.resolved": erasing([...SPOKEN, "model"], { payload: policy, decodedPayload: policy, descriptor: described }),
  "policy.commitment.evaluated": message(said),
  "policy.denied": erasing([...SPOKEN, "model"], {
    payload: said,
    decodedPayload: said,
    denials: { each: erasing(["message"]) }
  }),
  "llm.call.completed": message(keeping([...IDS, ...ARITHMETIC, ...USAGE]), SPOKEN)
}

/** Of an event of a type that is not in the table, which no reader reads, each member of `data`. */
const UNLISTED: MembersRule = { members: new Map(), others: "erasable" }

const rules: ReadonlyMap<string, MembersRule> = new Map(Object.entries(ERASABLE))

/** What of the `data` of an event can be erased. */
export const erasableData = (type: string): MembersRule => rules.get(type) ?? UNLISTED

const inside = (name: string, rule: ErasureRule): MembersRule => ({
  members: new Map([[name, rule]]),
  others: "kept"
})

const frameError = erasing(["message", "details"])

/** What of the payload of a raw frame can be erased: the bytes of an envelope are one member. */
export const ERASABLE_IN_FRAMES: ReadonlyMap<string, MembersRule> = new Map([
  ["stream-envelope", inside("envelope", erasing(["payloadBase64"]))],
  ["send-ack", inside("ack", erasing(["errorMessage"], { error: frameError }))],
  ["stream-inline-error", inside("error", frameError)],
  ["stream-status", erasing(["detail"])],
  ["session-snapshot", erasing([])]
])

/** What of the payload of a raw frame of a kind can be erased; of an unlisted kind each member. */
export const erasablePayload = (kind: string): MembersRule => ERASABLE_IN_FRAMES.get(kind) ?? UNLISTED
