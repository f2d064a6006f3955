import { lead } from "./decision/Lead.ts"
import { specialist } from "./decision/Specialist.ts"
import { commander } from "./incident/Commander.ts"
import { type Assess, assessImpact, assessReplication, assessSecurity } from "./incident/IncidentAssessments.ts"
import { incidentOf } from "./incident/IncidentContext.ts"
import { opinionOf } from "./panel/Opinion.ts"
import { engineer } from "./privacy/Engineer.ts"
import { privacyOfficer } from "./privacy/PrivacyOfficer.ts"
import { buyer } from "./procurement/Buyer.ts"
import { counsel } from "./procurement/Counsel.ts"
import { supplier } from "./procurement/Supplier.ts"
import { approver } from "./release/Approver.ts"
import { releaseManager } from "./release/ReleaseManager.ts"
import { examineProduct, examineQuality, examineReliability, examineSecurity } from "./release/Review.ts"
import type { Model } from "./runner/LlmCall.ts"
import type { Strategy } from "./runner/Strategy.ts"
import { reviewClaim } from "./support/ClaimReview.ts"
import { claimsLead } from "./support/ClaimsLead.ts"
import { colleague } from "./support/Colleague.ts"
import { frontline } from "./support/Frontline.ts"

const SMALL: Model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 260 }
const QUICK: Model = { model: "vendor2-3-haiku", provider: "vendor2", baseLatencyMs: 310 }
const THOROUGH: Model = { model: "vendor2-3-sonnet", provider: "vendor2", baseLatencyMs: 640 }

const onIncident = (assess: Assess, model: Model): Strategy =>
  specialist(({ context, seed }) => assess(incidentOf(context), seed), model)

/** A reviewer whose model misreads so many of a hundred claims. */
const claimReviewer = (model: Model, misreadShare: number): Strategy =>
  specialist(reviewClaim(model.model, misreadShare), model)

/** How each example agent behaves, by agentRef. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = {
  // incident/region-failover, a decision
  "replication-agent": onIncident(assessReplication, SMALL),
  "impact-agent": onIncident(assessImpact, QUICK),
  "security-agent": onIncident(assessSecurity, THOROUGH),
  "commander-agent": commander,
  // release/production-rollout, an approval by quorum
  "quality-agent": approver(examineQuality, SMALL),
  "reliability-agent": approver(examineReliability, THOROUGH),
  "product-agent": approver(examineProduct, QUICK),
  "release-security-agent": approver(examineSecurity, QUICK),
  "release-manager-agent": releaseManager,
  // procurement/supplier-terms, a negotiation of proposals
  "buyer-agent": buyer,
  "supplier-agent": supplier,
  "counsel-agent": counsel,
  // privacy/erasure-request, a task
  "privacy-officer-agent": privacyOfficer,
  "accounts-engineer-agent": engineer(SMALL),
  "warehouse-engineer-agent": engineer(QUICK),
  // support/escalation, a handoff
  "frontline-agent": frontline,
  "billing-agent": colleague({ categories: ["billing"], fullAt: 8 }, QUICK),
  "platform-agent": colleague({ categories: ["outage", "performance"], fullAt: 6 }, THOROUGH),
  "duty-manager-agent": colleague({ categories: [], fullAt: 12 }, SMALL),
  // support/refund-claim, a decision of reviewers of whom two have the same model
  "claims-receipt-agent": claimReviewer(THOROUGH, 14),
  "claims-pattern-agent": claimReviewer(QUICK, 26),
  "claims-quick-agent": claimReviewer(SMALL, 32),
  "claims-lead-agent": claimsLead,
  // for scenarios that have no agents of their own yet: a decision about anything
  "panel-lead-agent": lead({ group: "panel", scope: "panel" }),
  "panel-agent": specialist(opinionOf, QUICK)
}
