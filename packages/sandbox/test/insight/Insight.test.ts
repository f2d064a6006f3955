import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import {
  backtestOf,
  type Forecast,
  forecast,
  type OutcomeForecast,
  type Policy,
  type PolicyText,
  RELEASES,
  type Release,
  readPolicy,
  whatIf,
  why
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type FixtureFile, ownFixtures, payloadOf, sharedFixtures } from "../support/Conformance.ts"
import { Observed } from "../support/Observed.ts"

const RELEASE: Release = "0.13.0"

const outcomeOf = ({ outcomes }: Forecast, outcome: string): OutcomeForecast | undefined =>
  outcomes.find((one) => one.outcome === outcome && one.proposalId === undefined)

/** Holds a forecast against what the session would do now, and against what was forecast before. */
const hold = (observed: Observed, before: Forecast | undefined, where: string): Forecast => {
  const { by, run } = observed.record
  const now = forecast(run, by)
  for (const positive of [true, false]) {
    const name = positive ? "positive" : "negative"
    const { status } = outcomeOf(now, name) ?? {}
    assert.strictEqual(status === "met", observed.wouldCommit(positive), `${name} ${where}`)
    const previous = before === undefined ? undefined : outcomeOf(before, name)?.status
    if (previous === "impossible") assert.strictEqual(status, "impossible", `${name} ${where}`)
    if (previous === "certain") assert.include(["certain", "met"], status, `${name} ${where}`)
  }
  return now
}

const policyText = (policyId: string, mode: string, schemaVersion: number, rules: object) => {
  const text = { policyId, mode, schemaVersion, rules: JSON.stringify(rules) }
  return { text, policy: Result.getOrThrow(readPolicy(text, RELEASE)) }
}

/** What the runtime accepted is explained by the record, stands without changes, and stands under its own policy. */
const explain = (observed: Observed, policy: PolicyText | undefined, name: string): void => {
  const { by, run } = observed.record
  const explained = why(run, by)
  assert.notInclude(explained.notes.join(), "do not allow", name)
  assert.isAbove(explained.minimalSet.length, 0, name)
  assert.isTrue(
    explained.rules.every(({ satisfied }) => satisfied),
    name
  )
  const { after, before, changed } = Result.getOrThrow(whatIf(run, by, {}))
  assert.deepStrictEqual([before.allowed, after.allowed, changed], [true, true, false], name)
  if (policy !== undefined) assert.deepStrictEqual(backtestOf(policy)(run), { kind: "unchanged" }, name)
}

const playFixture = ({ fixture, name }: FixtureFile): void => {
  const { policy: given } = fixture
  const registered =
    given === undefined ? undefined : policyText(given.policy_id, given.mode, given.schema_version, given.rules)
  const observed = new Observed({
    mode: fixture.mode,
    initiator: fixture.initiator,
    participants: fixture.participants,
    modeVersion: fixture.mode_version,
    configurationVersion: fixture.configuration_version,
    release: RELEASE,
    ...(registered !== undefined && { policy: registered.policy, rules: registered.text.rules })
  })
  let before: Forecast | undefined
  fixture.messages.forEach((message, at) => {
    if (message.envelope !== undefined) return
    const payload = payloadOf(fixture.mode, message)
    const isAccepted = observed.say(message.message_type, message.sender, payload)
    if (message.accepted_at_ms === undefined) {
      assert.strictEqual(isAccepted ? "accept" : "reject", message.expect, `message ${at + 1} of ${name}`)
    }
    if (isAccepted && message.message_type === "Commitment") {
      const { by, run } = observed.record
      const met = forecast(run, by).outcomes.find(({ status }) => status === "met")
      assert.strictEqual(met?.outcome, run.commitment?.positive === true ? "positive" : "negative", name)
      if (before !== undefined && met !== undefined) assert.strictEqual(outcomeOf(before, met.outcome)?.status, "met")
      explain(observed, registered?.text, name)
      return
    }
    if (run(observed)) before = hold(observed, before, `after message ${at + 1} of ${name}`)
  })
}

const run = (observed: Observed): boolean => observed.record.run.commitment === undefined

const isOfRuledMode = ({ fixture }: FixtureFile) => fixture.mode.startsWith("macp.mode.")

describe("the forecast of a session agrees with the session", () => {
  for (const file of [...ownFixtures(), ...sharedFixtures()].filter(isOfRuledMode)) {
    it(`after every message of ${file.name}`, () => playFixture(file))
  }
})

const PACKS = fileURLToPath(new URL("../../../../packs/_policies", import.meta.url))

const PolicyFile = Schema.fromJsonString(
  Schema.Struct({
    policy_id: Schema.String,
    mode: Schema.String,
    schema_version: Schema.Int,
    rules: Schema.Record(Schema.String, Schema.Json)
  })
)

const packPolicies = readdirSync(PACKS).map((file) =>
  Schema.decodeUnknownSync(PolicyFile)(readFileSync(join(PACKS, file), "utf8"))
)

const PARTICIPANTS = ["agent://lead", "agent://a", "agent://b", "agent://c"]

/** Messages that participants may try in each mode; most of them are legal at some time. */
const attempts: Readonly<Record<string, ReadonlyArray<readonly [string, Schema.JsonObject]>>> = {
  "macp.mode.decision.v1": [
    ["Proposal", { proposal_id: "p1", option: "x" }],
    ["Evaluation", { proposal_id: "p1", recommendation: "APPROVE", confidence: 0.9 }],
    ["Evaluation", { proposal_id: "p1", recommendation: "REVIEW", confidence: 0.3 }],
    ["Objection", { proposal_id: "p1", severity: "critical" }],
    ["Vote", { proposal_id: "p1", vote: "APPROVE" }],
    ["Vote", { proposal_id: "p1", vote: "APPROVE" }],
    ["Vote", { proposal_id: "p1", vote: "REJECT" }],
    ["Vote", { proposal_id: "p1", vote: "ABSTAIN" }]
  ],
  "macp.mode.quorum.v1": [
    ["ApprovalRequest", { request_id: "p1", action: "x", required_approvals: 2 }],
    ["Approve", { request_id: "p1" }],
    ["Approve", { request_id: "p1" }],
    ["Reject", { request_id: "p1" }],
    ["Abstain", { request_id: "p1" }]
  ],
  "macp.mode.proposal.v1": [
    ["Proposal", { proposal_id: "p1", title: "x" }],
    ["CounterProposal", { proposal_id: "p2", supersedes_proposal_id: "p1", title: "y" }],
    ["Accept", { proposal_id: "p1" }],
    ["Accept", { proposal_id: "p1" }],
    ["Accept", { proposal_id: "p2" }],
    ["Reject", { proposal_id: "p2", terminal: true }],
    ["Reject", { proposal_id: "p1" }],
    ["Withdraw", { proposal_id: "p1" }]
  ],
  "macp.mode.task.v1": [
    ["TaskRequest", { task_id: "p1", title: "x", instructions: "do" }],
    ["TaskRequest", { task_id: "p1", title: "x", instructions: "do", requested_assignee: "agent://a" }],
    ["TaskAccept", { task_id: "p1" }],
    ["TaskAccept", { task_id: "p1" }],
    ["TaskReject", { task_id: "p1", reason: "no" }],
    ["TaskComplete", { task_id: "p1", output: "done" }],
    ["TaskComplete", { task_id: "p1" }],
    ["TaskFail", { task_id: "p1", reason: "no" }]
  ],
  "macp.mode.handoff.v1": [
    ["HandoffOffer", { handoff_id: "p1", target_participant: "agent://a", scope: "x" }],
    ["HandoffOffer", { handoff_id: "p2", target_participant: "agent://b", scope: "x" }],
    ["HandoffAccept", { handoff_id: "p1" }],
    ["HandoffDecline", { handoff_id: "p1" }],
    ["HandoffAccept", { handoff_id: "p2" }],
    ["HandoffDecline", { handoff_id: "p2" }]
  ]
}

/** Each run holds a whole session; the policies and releases together make hundreds of them. */
const FEWER = { arbitrary: { runs: 25 } }

const integer = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))
const arbitraryTalk = Arbitrary.array(Arbitrary.all([integer(3), integer(7)]), { maxLength: 16 })

const talk = (
  policy: Policy,
  rules: string,
  release: Release,
  turns: ReadonlyArray<readonly [number, number]>
): void => {
  const { mode } = policy
  const observed = new Observed({ mode, participants: PARTICIPANTS, policy, rules, release })
  const known = attempts[mode] ?? []
  let before = hold(observed, undefined, "at the start")
  for (const [who, what] of turns) {
    const [type, payload] = known[what % known.length] ?? ["", {}]
    const bytes = payloadOf(mode, { message_type: type, payload_type: "", payload })
    if (observed.say(type, PARTICIPANTS[who] ?? "", bytes)) before = hold(observed, before, `after ${type} of ${mode}`)
  }
}

describe("the forecast under the policies of the packs agrees with the session for all messages", () => {
  for (const { mode, policy_id, rules, schema_version } of packPolicies) {
    it.prop(
      policy_id,
      { turns: arbitraryTalk },
      ({ turns }) => {
        const { policy, text } = policyText(policy_id, mode, schema_version, rules)
        talk(policy, text.rules, RELEASE, turns)
      },
      FEWER
    )
  }
})

describe("the forecast without a policy agrees with the session, of any release", () => {
  for (const mode of Object.keys(attempts)) {
    for (const release of RELEASES) {
      it.prop(
        `${mode} of ${release}`,
        { turns: arbitraryTalk },
        ({ turns }) => {
          const { policy, text } = policyText("policy.test.rules", mode, 1, {})
          talk(policy, text.rules, release, turns)
        },
        FEWER
      )
    }
  }
})
