import { assert, describe, it } from "@effect/vitest"
import { emptyRunState, type RunState } from "@runplane/domain"
import { agentRecord } from "../../../src/view/agents/AgentRecord.ts"

describe("the record of an agent", () => {
  const decided = (letters: string, outcomePositive: boolean): RunState => {
    const state = emptyRunState("run-1")
    const participant = (participantId: string) => ({ participantId, status: "idle" as const })
    return {
      ...state,
      participants: [participant("ana"), participant("bob")],
      decision: { current: { finalized: true, outcomePositive, proposalId: "p1", reasons: [], proposals: [] } },
      policy: {
        ...state.policy,
        voteTally: [{ commitmentId: "p1", allow: 1, deny: 1, threshold: 1, quorum: { required: 2, cast: 2 } }],
        lastWords: [letters]
      }
    }
  }

  it("counts the votes that say what was decided", () => {
    const states = [decided("ad", true), decided("aa", false), decided("-d", true)]
    assert.deepInclude(agentRecord("ana", states), { decided: 2, agreed: 1, calls: 0 })
    assert.deepInclude(agentRecord("bob", states), { decided: 3, agreed: 0 })
    assert.deepInclude(agentRecord("eve", states), { decided: 0, agreed: 0 })
  })
})
