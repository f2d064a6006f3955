import { balancedHints, degraded } from "./Bridge.ts"
import type { Play } from "./PureStage.ts"

/** One play for each mode, with facts that lead to a good end; tests change the facts. */

export const bridge: Play = {
  cast: [
    ["data", "replication-agent"],
    ["impact", "impact-agent"],
    ["security", "security-agent"],
    ["lead", "commander-agent"]
  ],
  kickoff: { proposal_id: "p1", option: "go", rationale: "why" },
  context: { incidentId: "INC-1", service: "shop", ...degraded },
  hints: balancedHints
}

export const rollout: Play = {
  cast: [
    ["quality", "quality-agent"],
    ["reliability", "reliability-agent"],
    ["product", "product-agent"],
    ["security", "release-security-agent"],
    ["lead", "release-manager-agent"]
  ],
  kickoff: { request_id: "r1", action: "deploy", summary: "all", required_approvals: 3 },
  context: { changeId: "CHG-1", service: "shop", version: "1.2.3" }
}

export const sourcing: Play = {
  cast: [
    ["seller", "supplier-agent"],
    ["counsel", "counsel-agent"],
    ["lead", "buyer-agent"]
  ],
  kickoff: { proposal_id: "o1", title: "things", tags: ["opening"] },
  context: {
    requestId: "RFQ-1",
    item: "things",
    quantity: 10,
    buyer: { targetPrice: 6_200, limitPrice: 7_000, paymentDays: 60 },
    supplier: { listPrice: 7_900, floorPrice: 6_500, paymentDays: 20, liabilityCap: 1.5 },
    legal: { minimumLiabilityCap: 1 },
    rules: { maxRounds: 6, rejectionIsFinal: false }
  }
}

export const erasure: Play = {
  cast: [
    ["first", "accounts-engineer-agent"],
    ["second", "warehouse-engineer-agent"],
    ["lead", "privacy-officer-agent"]
  ],
  kickoff: { task_id: "t1", title: "erase", instructions: "all of it", requested_assignee: "" },
  context: { requestId: "ERA-1", subjectRef: "subject-1", systems: ["accounts", "orders"], recordsEstimated: 100 }
}

export const escalation: Play = {
  cast: [
    ["billing", "billing-agent"],
    ["platform", "platform-agent"],
    ["duty", "duty-manager-agent"],
    ["lead", "frontline-agent"]
  ],
  kickoff: { handoff_id: "h1", target_participant: "billing", scope: "case", reason: "billing" },
  context: { ticketId: "SUP-1", customer: { name: "Ann", tier: "premium" }, category: "billing", summary: "Twice." }
}

export const ALL_PLAYS = { bridge, rollout, sourcing, erasure, escalation }

/** The same play with other facts. */
export const withFacts = (play: Play, facts: object): Play => ({ ...play, context: { ...play.context, ...facts } })
