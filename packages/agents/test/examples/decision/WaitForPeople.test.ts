import { create, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { EnvelopeSchema } from "@runplane/runtime"
import { Decision } from "../../../src/examples/runner/Messages.ts"
import type { Session } from "../../../src/examples/runner/Session.ts"
import type { Step } from "../../../src/examples/runner/Strategy.ts"
import { STRATEGIES } from "../../../src/examples/Strategies.ts"
import { bridge } from "../../support/Plays.ts"
import { briefOf, linesOf, rehearse } from "../../support/PureStage.ts"

const OFFICER = "duty-officer"
const LEAD = "incident-commander"
const cast = [
  ["replication-analyst", "replication-agent"],
  ["impact-analyst", "impact-agent"],
  [OFFICER, ""],
  [LEAD, "commander-agent"]
] as const

/** The bridge with a person who may take this long. */
const withPerson = (evaluates: boolean, waitMs: number | undefined) => ({
  ...bridge,
  cast,
  people: [{ participant: OFFICER, evaluates, waitMs }]
})

const message = (sender: string, messageType: string, payload = new Uint8Array()) =>
  create(EnvelopeSchema, { sender, messageType, payload, messageId: `${sender} ${messageType}` })
const proposal = message(
  LEAD,
  "Proposal",
  toBinary(Decision.Proposal, create(Decision.Proposal, { proposalId: "p", option: "fail_over_now" }))
)
const evaluated = [proposal, ...["replication-analyst", "impact-analyst"].map((one) => message(one, "Evaluation"))]

const stepOf = (participant: string, person: ReturnType<typeof withPerson>, session: Session, overdue = false) => {
  const agentRef = cast.find(([one]) => one === participant)?.[1] ?? ""
  const strategy = STRATEGIES[agentRef]
  return strategy?.({ brief: briefOf(person, participant, agentRef), session, overdue })
}

const votes = (step: Step | undefined) =>
  step?._tag === "Act" && step.actions.some((one) => one._tag === "Say" && one.messageType === "Vote")

describe("an agent of a decision with a person", () => {
  it("holds its vote while the person may still evaluate or object", () => {
    const person = withPerson(true, 60_000)
    assert.deepStrictEqual(stepOf("impact-analyst", person, evaluated), { _tag: "Wait", atMostMs: 60_000 })
    for (const type of ["Evaluation", "Objection", "Vote"]) {
      assert.isTrue(votes(stepOf("impact-analyst", person, [...evaluated, message(OFFICER, type)])), type)
    }
  })

  it("votes once the time of the person is over", () => {
    assert.isTrue(votes(stepOf("impact-analyst", withPerson(true, 60_000), evaluated, true)))
  })

  it("waits for a person without a deadline as long as the session lives", () => {
    const step = stepOf("impact-analyst", withPerson(true, undefined), evaluated)
    assert.deepStrictEqual(step, { _tag: "Wait", atMostMs: undefined })
  })

  it("waits for no evaluation of a person who only votes", () => {
    assert.isTrue(votes(stepOf("impact-analyst", withPerson(false, 60_000), evaluated)))
  })

  it("still waits for the evaluations of the other agents", () => {
    const some = evaluated.slice(0, 2)
    const step = stepOf("replication-analyst", withPerson(false, 60_000), some)
    assert.deepStrictEqual(step, { _tag: "Wait", atMostMs: undefined })
  })

  it("leads a decision as long as the person may take", () => {
    const lead = (waitMs: number | undefined) => stepOf(LEAD, withPerson(false, waitMs), evaluated)
    assert.deepStrictEqual(lead(3_600_000), { _tag: "Wait", atMostMs: 3_600_000 })
    assert.deepStrictEqual(lead(1_000), { _tag: "Wait", atMostMs: 60_000 })
    assert.deepStrictEqual(lead(undefined), { _tag: "Wait", atMostMs: undefined })
  })

  it("decides with the votes that are there when the person stays silent", () => {
    const rehearsed = rehearse(withPerson(false, 60_000))
    assert.strictEqual(rehearsed.outcome?.action, "decision.selected")
    assert.notInclude(linesOf(rehearsed).join(" "), OFFICER)
  })
})
