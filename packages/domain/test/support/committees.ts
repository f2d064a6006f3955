import type { Act, BoundPolicy, JsonObject, Statement } from "@runplane/domain"
import { type ActivePolicy, parsePolicyRules, RELEASES, type SessionTerms, type StandardMode } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pick } from "./arbitraries.ts"

const flag = Arbitrary.schema(Schema.Boolean)
const integer = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

const NAMES = ["a", "b", "c", "d", "e", "f"]

const arbitraryRules = Arbitrary.all({
  algorithm: pick(["none", "majority", "supermajority", "unanimous", "weighted", "plurality"]),
  threshold: pick([0.51, 0.6, 0.67, 0.75, 1]),
  weights: Arbitrary.all({ a: integer(1, 4), b: integer(1, 4), c: integer(1, 4) }),
  quorum: pick([0, 1, 2, 3, 50]),
  asksQuorum: flag,
  veto: flag,
  vetoThreshold: integer(1, 2),
  action: pick(["deny", "finalize_decline", "hold"]),
  evaluation: flag,
  minimum: pick([0, 0.5]),
  declineOver: flag
})

/** Terms of a decision with rules of any kind, of up to `size` participants. */
export const arbitraryTerms = (size: number): Arbitrary.Arbitrary<SessionTerms> =>
  Arbitrary.map(
    Arbitrary.all({
      rules: arbitraryRules,
      members: integer(1, size),
      version: integer(1, 3),
      release: pick(RELEASES)
    }),
    ({ members, release, rules, version }) => ({
      initiator: "a",
      participants: NAMES.slice(0, members),
      release,
      policy: policyOf(rulesOf(rules), version)
    })
  )

type Drawn = typeof arbitraryRules extends Arbitrary.Arbitrary<infer Rules> ? Rules : never

const rulesOf = (rules: Drawn): JsonObject => ({
  voting: {
    algorithm: rules.algorithm,
    threshold: rules.threshold,
    ...(rules.algorithm === "weighted" && { weights: rules.weights }),
    quorum: { type: rules.quorum === 50 ? "percentage" : "count", value: rules.quorum }
  },
  objection_handling: {
    critical_severity_vetoes: rules.veto,
    veto_threshold: rules.vetoThreshold,
    critical_objection_action: rules.action
  },
  evaluation: { required_before_voting: rules.evaluation, minimum_confidence: rules.minimum },
  commitment: { require_vote_quorum: rules.asksQuorum, allow_decline_over_approval: rules.declineOver }
})

/** A bound policy from its rules; they must parse. */
export const policyOf = (rules: JsonObject, schemaVersion = 3): BoundPolicy => ({
  policyId: "policy.test.rules",
  schemaVersion,
  rules: Result.getOrThrow(parsePolicyRules(JSON.stringify(rules), schemaVersion, "0.6.1"))
})

/** A talk of up to `length` acts about one or two proposals, each legal when it is said. */
export const arbitraryTalk = (length: number): Arbitrary.Arbitrary<ReadonlyArray<readonly [number, number, number]>> =>
  Arbitrary.array(Arbitrary.all([integer(0, 5), integer(0, 11), integer(0, 1)]), { maxLength: length })

/** Turns the numbers of `arbitraryTalk` into what the participants of a decision say, leaving out what is not legal. */
export const talkOf = (
  { participants }: SessionTerms,
  numbers: ReadonlyArray<readonly [number, number, number]>
): ReadonlyArray<Statement> => {
  const acts: Array<Statement> = [{ by: participants[0] ?? "a", type: "Proposal", proposalId: "p0" }]
  for (const [who, what, about] of numbers) {
    const by = participants[who % participants.length] ?? "a"
    const isKnown = acts.some(({ proposalId, type }) => type === "Proposal" && proposalId === `p${about}`)
    const proposalId = isKnown ? `p${about}` : "p0"
    const isVoting = acts.some(({ type }) => type === "Vote")
    const next = sayOf(what, by, proposalId)
    const isRepeated =
      next.type === "Vote" && acts.some((act) => act.type === "Vote" && act.by === by && act.proposalId === proposalId)
    if (next.type === "Proposal" && acts.some(({ proposalId }) => proposalId === next.proposalId)) continue
    if (!isRepeated && (next.type === "Vote" || !isVoting)) acts.push(next)
  }
  return acts
}

const sayOf = (what: number, by: string, proposalId: string): Statement => {
  if (what === 0) return { by, type: "Evaluation", proposalId, recommendation: "APPROVE", confidence: 0.7 }
  if (what === 1) return { by, type: "Evaluation", proposalId, recommendation: "REVIEW", confidence: 0.9 }
  if (what === 2) return { by, type: "Objection", proposalId, severity: "critical" }
  if (what === 3) return { by, type: "Proposal", proposalId: "p1" }
  const vote = what < 8 ? "APPROVE" : what < 11 ? "REJECT" : "ABSTAIN"
  return { by, type: "Vote", proposalId, vote }
}

/** Acts with positions, as if each were one event. */
export const placed = (acts: ReadonlyArray<Statement>): ReadonlyArray<Act> =>
  acts.map((act, at) => ({ ...act, seq: at + 1, index: at + 1, ts: new Date(at * 1_000).toISOString() }))

export const activePolicyOf = (mode: StandardMode, terms: SessionTerms): ActivePolicy => ({
  policySource: "recorded",
  policyVersion: terms.policy.policyId,
  sessionRules: { mode, terms },
  fault: undefined
})
