import type * as Schema from "effect/Schema"

/** Pseudo-random numbers of a seed, the same on every machine (mulberry32). */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(first: A, ...others: ReadonlyArray<A>): A {
    return others[this.integer(0, others.length) - 1] ?? first
  }

  /** Some of them, in their order. */
  some<A>(all: ReadonlyArray<A>): ReadonlyArray<A> {
    return all.filter(() => this.chance(0.5))
  }
}

export const MODES = ["decision", "proposal", "task", "handoff", "quorum"] as const
export type ModeName = (typeof MODES)[number]

export const LEAD = "agent://lead"

/** A message that a participant tries to send. Many are refused, which is a part of the play. */
export interface Attempt {
  readonly by: string
  readonly type: string
  readonly payload: Schema.JsonObject
}

export interface Script {
  readonly participants: ReadonlyArray<string>
  readonly attempts: ReadonlyArray<Attempt>
}

/** The plan of a session: its opening is in order, and then come answers of anyone, in a mixture that ends often. */
export const drawScript = (mode: ModeName, draw: Draw): Script => {
  const others = ["agent://a", "agent://b", "agent://c", "agent://d"].slice(0, draw.integer(1, 4))
  const participants = [LEAD, ...others]
  const anyone = () => draw.pick(LEAD, ...others)
  const other = () => draw.pick(others[0] ?? LEAD, ...others)
  const id = () => draw.pick("p1", "p1", "p2")
  const times = (most: number, one: () => Attempt) => Array.from({ length: draw.integer(0, most) }, one)
  const attempt = (by: string, type: string, payload: Schema.JsonObject): Attempt => ({ by, type, payload })
  switch (mode) {
    case "decision": {
      const recommendation = () => draw.pick("APPROVE", "REVIEW", "BLOCK", "REJECT")
      const confidence = () => draw.pick(0, 0.3, 0.5, 0.7, 0.9, 1)
      const severity = () => draw.pick("low", "medium", "high", "critical", "critical")
      const vote = () => draw.pick("APPROVE", "APPROVE", "REJECT", "ABSTAIN")
      const answers = [
        ...times(1, () => attempt(anyone(), "Proposal", { proposal_id: "p2", option: "y" })),
        ...times(3, () =>
          attempt(anyone(), "Evaluation", {
            proposal_id: id(),
            recommendation: recommendation(),
            confidence: confidence()
          })
        ),
        ...times(2, () => attempt(anyone(), "Objection", { proposal_id: id(), severity: severity() }))
      ]
      const votes = times(7, () => attempt(anyone(), "Vote", { proposal_id: id(), vote: vote() }))
      const opening = draw.chance(0.95) ? [attempt(anyone(), "Proposal", { proposal_id: "p1", option: "x" })] : []
      return { participants, attempts: [...opening, ...answers, ...votes] }
    }
    case "proposal": {
      const turns = times(12, () => {
        const type = draw.pick("Accept", "Accept", "Accept", "Accept", "Reject", "CounterProposal", "Withdraw")
        if (type === "CounterProposal") {
          return attempt(anyone(), type, {
            proposal_id: `p${draw.integer(2, 4)}`,
            supersedes_proposal_id: id(),
            title: "y"
          })
        }
        return attempt(anyone(), type, { proposal_id: id(), ...(type === "Reject" && { terminal: draw.chance(0.4) }) })
      })
      // All but one session in four goes on to agree on one of them.
      const agreed = id()
      const ending = draw.chance(0.75) ? participants.map((by) => attempt(by, "Accept", { proposal_id: agreed })) : []
      return {
        participants,
        attempts: [attempt(anyone(), "Proposal", { proposal_id: "p1", title: "x" }), ...turns, ...ending]
      }
    }
    case "task": {
      const assigned = draw.chance(0.4) ? { requested_assignee: other() } : {}
      const request = { task_id: "p1", title: "x", instructions: "do", ...assigned }
      const turns = times(8, () =>
        attempt(other(), draw.pick("TaskAccept", "TaskReject", "TaskUpdate"), { task_id: "p1" })
      )
      const reports = participants.flatMap((by) => [
        attempt(by, draw.pick("TaskAccept", "TaskUpdate"), { task_id: "p1" }),
        attempt(by, draw.pick("TaskComplete", "TaskComplete", "TaskFail"), {
          task_id: "p1",
          ...(draw.chance(0.5) && { output: "done" })
        })
      ])
      return { participants, attempts: [attempt(LEAD, "TaskRequest", request), ...turns, ...reports] }
    }
    case "handoff": {
      const attempts = Array.from({ length: draw.integer(1, 3) }, (_, at) => {
        const handoff_id = `p${at + 1}`
        const target = other()
        const answer = draw.pick("HandoffAccept", "HandoffDecline")
        return [
          attempt(LEAD, "HandoffOffer", { handoff_id, target_participant: target, scope: "x" }),
          ...times(1, () => attempt(LEAD, "HandoffContext", { handoff_id, content_type: "text/plain" })),
          ...times(1, () => attempt(anyone(), answer, { handoff_id })),
          ...(draw.chance(0.8) ? [attempt(target, answer, { handoff_id })] : [])
        ]
      })
      return { participants, attempts: attempts.flat() }
    }
    case "quorum": {
      const required_approvals = draw.integer(1, participants.length)
      const request = attempt(LEAD, "ApprovalRequest", { request_id: "p1", action: "x", required_approvals })
      const ballots = times(8, () =>
        attempt(anyone(), draw.pick("Approve", "Approve", "Reject", "Abstain"), { request_id: "p1" })
      )
      return { participants, attempts: [request, ...ballots] }
    }
  }
}

export interface DrawnPolicy {
  readonly schemaVersion: number
  readonly rules: Schema.JsonObject
}

/** The rules of a mode, of which one in some twenty is refused by a registration. */
export const drawPolicy = (mode: ModeName, participants: ReadonlyArray<string>, draw: Draw): DrawnPolicy => {
  const authority = draw.pick("initiator_only", "initiator_only", "any_participant", "designated_role")
  const designated = draw.some(participants)
  const roles = authority === "designated_role" ? { designated_roles: designated.length > 0 ? designated : [LEAD] } : {}
  const commitment = { authority, ...roles }
  const schemaVersion = draw.pick(1, 2, 3)
  switch (mode) {
    case "decision": {
      const algorithm = draw.pick("none", "majority", "supermajority", "unanimous", "weighted", "plurality")
      const threshold = draw.pick(0.5, 0.6, 2 / 3, 0.75, 1)
      const needsThreshold = algorithm === "supermajority" || draw.chance(0.6)
      const weighing = draw.some(participants)
      const weights = Object.fromEntries(weighing.map((who) => [who, draw.pick(0.5, 1, 1, 2, 3)]))
      const type = draw.pick("count", "percentage")
      const value = type === "count" ? draw.integer(1, 5) : draw.pick(1, 25, 50, 60, 100)
      const rules = {
        voting: {
          algorithm,
          ...(needsThreshold && { threshold }),
          ...(draw.chance(0.6) && { quorum: { type, value } }),
          ...(algorithm === "weighted" && { weights })
        },
        ...(draw.chance(0.6) && {
          objection_handling: {
            critical_severity_vetoes: draw.chance(0.7),
            veto_threshold: draw.integer(1, 2),
            ...(schemaVersion > 1 && { critical_objection_action: draw.pick("deny", "finalize_decline", "hold") })
          }
        }),
        ...(draw.chance(0.5) && {
          evaluation: { required_before_voting: draw.chance(0.6), minimum_confidence: draw.pick(0, 0.5, 0.8) }
        }),
        commitment: {
          ...commitment,
          require_vote_quorum: draw.chance(0.4),
          ...(schemaVersion > 1 && { allow_decline_over_approval: draw.chance(0.5) })
        }
      }
      return { schemaVersion, rules }
    }
    case "proposal":
      return {
        schemaVersion,
        rules: {
          acceptance: { criterion: draw.pick("all_parties", "counterparty", "initiator") },
          counter_proposal: { max_rounds: draw.integer(0, 3) },
          rejection: { terminal_on_any_reject: draw.chance(0.5) },
          commitment
        }
      }
    case "task":
      return {
        schemaVersion,
        rules: {
          assignment: { allow_reassignment_on_reject: draw.chance(0.5) },
          completion: { require_output: draw.chance(0.5) },
          commitment
        }
      }
    case "handoff":
      return { schemaVersion, rules: { acceptance: { implicit_accept_timeout_ms: draw.pick(0, 60_000) }, commitment } }
    case "quorum": {
      const type = draw.pick("n_of_m", "count", "percentage")
      const value = type === "percentage" ? draw.pick(1, 34, 50, 67, 100, 120) : draw.integer(1, 6)
      const interpretation = draw.pick("neutral", "implicit_reject", "ignored")
      return {
        schemaVersion,
        rules: {
          ...(draw.chance(0.8) && { threshold: { type, value } }),
          ...(draw.chance(0.5) && { abstention: { counts_toward_quorum: draw.chance(0.5), interpretation } }),
          commitment
        }
      }
    }
  }
}
