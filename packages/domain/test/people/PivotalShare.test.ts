import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { actionLog, isAllowed, type JsonObject, type SeatAct, type Statement, seatInfluence } from "@runplane/domain"
import { boundTo, SEAT } from "./seatSessions.ts"

const POLICIES = join(import.meta.dirname, "../../../../packs/_policies")
/** Sessions of each policy: 10,000 together. */
const SESSIONS = 1_250

interface Setting {
  readonly policy: string
  readonly mode: "decision" | "quorum"
  readonly agents: ReadonlyArray<string>
  readonly acts: ReadonlyArray<SeatAct>
}

const decision = (policy: string, agents: ReadonlyArray<string>): Setting => ({
  ...{ policy, mode: "decision", agents },
  acts: ["vote", "abstain"]
})
const quorum = (policy: string): Setting => ({
  ...{ policy, mode: "quorum", agents: ["a", "b", "c", "d"] },
  acts: ["approve", "reject", "abstain"]
})

const SETTINGS: ReadonlyArray<Setting> = [
  decision("incident.balanced", ["a", "b", "c"]),
  decision("incident.balanced", ["a", "b", "c", "d"]),
  decision("incident.fast-track", ["a", "b", "c"]),
  decision("incident.duty-officer", ["a", "b", "c"]),
  quorum("release.three-of-five"),
  quorum("release.sixty-percent"),
  quorum("release.freeze-week"),
  quorum("release.hotfix")
]

/** A chance from 0 to 1 that depends on its position alone (splitmix32). */
const chanceAt = (position: number): number => {
  let mixed = (position * 0x9e3779b9) | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}

const BALLOTS = {
  decision: (by: string, vote: string): Statement => ({ by, type: "Vote", proposalId: "p1", vote }),
  quorum: (by: string, vote: string): Statement => ({ by, type: QUORUM[vote] ?? vote, proposalId: "p1" })
}
const QUORUM: Readonly<Record<string, string>> = { APPROVE: "Approve", REJECT: "Reject", ABSTAIN: "Abstain" }

/** Seven of ten ballots approve, two reject, one abstains. */
const ballotOf = (chance: number) => (chance < 0.7 ? "APPROVE" : chance < 0.9 ? "REJECT" : "ABSTAIN")

/** A session as it was recorded: evaluations, a rare objection, the votes of the agents, and the vote of the seat. */
const recorded = ({ agents, mode }: Setting, session: number): ReadonlyArray<Statement> => {
  const chance = (at: number) => chanceAt(session * 64 + at)
  const said = agents.map((by, at): Statement => {
    const isObjection = chance(at) < 0.05
    return isObjection
      ? { by, type: "Objection", proposalId: "p1", severity: "critical" }
      : { by, type: "Evaluation", proposalId: "p1", recommendation: "APPROVE", confidence: 0.8 }
  })
  const votes = [...agents, SEAT].map((by, at) => BALLOTS[mode](by, ballotOf(chance(16 + at))))
  return mode === "decision"
    ? [{ by: "lead", type: "Proposal", proposalId: "p1" }, ...said, ...votes]
    : [{ by: "lead", type: "ApprovalRequest", proposalId: "p1", requiredApprovals: 2 }, ...votes]
}

const termsOf = ({ agents, mode, policy }: Setting) => {
  const text = readFileSync(join(POLICIES, `policy.${policy}.json`), "utf8")
  const { rules }: { rules: JsonObject } = JSON.parse(text)
  return boundTo(rules, [...agents, SEAT], mode)
}

describe("a seat that is asked only while it can change the outcome", () => {
  const counted = SETTINGS.map((setting, at) => {
    const sessionRules = termsOf(setting)
    const { terms } = sessionRules
    const outcomes = (acts: ReadonlyArray<Statement>) => {
      const record = actionLog(setting.mode, acts, terms.policy.rules)
      return `${isAllowed(terms, record, true)} ${isAllowed(terms, record, false)}`
    }
    let saved = 0
    let changed = 0
    for (let session = 0; session < SESSIONS; session += 1) {
      const acts = recorded(setting, at * SESSIONS + session)
      const others = acts.slice(0, -1)
      if (seatInfluence(sessionRules, others, SEAT, setting.acts, "p1") !== "no") continue
      saved += 1
      if (outcomes(others) !== outcomes(acts)) changed += 1
    }
    return { policy: setting.policy, size: setting.agents.length + 1, saved: saved / SESSIONS, changed }
  })

  it("changes the outcome of none of 10,000 sessions", () => {
    assert.strictEqual(SETTINGS.length * SESSIONS, 10_000)
    assert.deepStrictEqual(
      counted.map(({ changed }) => changed),
      SETTINGS.map(() => 0)
    )
  })

  it("saves the share of questions that the reference names", () => {
    // docs/reference/people.md#questions-that-count
    assert.deepStrictEqual(
      counted.map(({ policy, saved, size }) => [policy, size, Math.round(saved * 100)]),
      [
        ["incident.balanced", 4, 85],
        ["incident.balanced", 5, 85],
        ["incident.fast-track", 4, 53],
        ["incident.duty-officer", 4, 16],
        ["release.three-of-five", 5, 74],
        ["release.sixty-percent", 5, 73],
        ["release.freeze-week", 5, 58],
        ["release.hotfix", 5, 93]
      ]
    )
  })
})
