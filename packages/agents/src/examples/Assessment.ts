import type { IncidentContext } from "./IncidentContext.ts"

/** What a specialist concludes from the incident. Deterministic: the same incident gives the same assessment. */
export interface Assessment {
  readonly recommendation: "APPROVE" | "REVIEW" | "REJECT" | "BLOCK"
  /** 0 to 1. */
  readonly confidence: number
  readonly reason: string
  readonly objection?: { readonly severity: "low" | "medium" | "high" | "critical"; readonly reason: string }
  /** Signals to raise, by type. */
  readonly alerts: ReadonlyArray<string>
}

/** Seconds of replication lag from which the data specialist hesitates, refuses, and calls it critical on a cold standby. */
const LAG_DOUBTFUL_S = 10
const LAG_HIGH_S = 30
const LAG_CRITICAL_S = 60

/** Data safety: how many writes would be lost if traffic moved now. */
export const assessReplication = ({ replicationLagSeconds: lag, standby }: IncidentContext): Assessment => {
  const alerts = [...(lag >= LAG_HIGH_S ? ["replication_lag_high"] : []), ...(standby.warm ? [] : ["standby_cold"])]
  if (!standby.warm && lag >= LAG_CRITICAL_S) {
    const reason = `${standby.region} is cold and ${lag} s behind: moving now loses ${lag} s of writes`
    return { recommendation: "BLOCK", confidence: 0.95, reason, objection: { severity: "critical", reason }, alerts }
  }
  if (!standby.warm || lag >= LAG_HIGH_S) {
    const reason = standby.warm ? `replication is ${lag} s behind` : `${standby.region} is cold`
    return { recommendation: "REJECT", confidence: 0.82, reason, objection: { severity: "high", reason }, alerts }
  }
  if (lag >= LAG_DOUBTFUL_S) {
    return { recommendation: "REVIEW", confidence: 0.66, reason: `${lag} s of writes would be lost`, alerts }
  }
  return { recommendation: "APPROVE", confidence: 0.9, reason: `at most ${lag} s of writes would be lost`, alerts }
}

/** Percent of failing requests from which customers notice, suffer, and cannot work. */
const ERRORS_NOTICED = 5
const ERRORS_FELT = 10
const ERRORS_SEVERE = 25

/** Customer impact: whether staying is worse than moving. */
export const assessImpact = ({
  customerFacing,
  errorRatePercent: errors,
  service,
  severity
}: IncidentContext): Assessment => {
  const alerts = customerFacing && errors >= ERRORS_SEVERE ? ["customer_impact_severe"] : []
  const seen = `${service} fails ${errors}% of its requests (${severity})`
  if (severity === "sev1" || (customerFacing && errors >= ERRORS_SEVERE)) {
    return { recommendation: "APPROVE", confidence: 0.93, reason: `${seen}: customers cannot work`, alerts }
  }
  if (errors >= ERRORS_FELT) {
    const confidence = customerFacing ? 0.78 : 0.62
    return { recommendation: "APPROVE", confidence, reason: `${seen}: staying costs more than moving`, alerts }
  }
  if (errors >= ERRORS_NOTICED) {
    return { recommendation: "REVIEW", confidence: 0.58, reason: `${seen}: tolerable for now`, alerts }
  }
  return { recommendation: "REJECT", confidence: 0.72, reason: `${seen}: a failover costs more than it saves`, alerts }
}

/** Percent of failing requests at which a lesser severity looks like somebody is overloading the service on purpose. */
const ERRORS_SUSPICIOUS = 60

/** Security: whether the standby may take production traffic, and whether moving would just move an attack. */
export const assessSecurity = ({ errorRatePercent: errors, severity, standby }: IncidentContext): Assessment => {
  if (!standby.warm) {
    const reason = `${standby.region} has been cold: its patches and secrets are not verified`
    return { recommendation: "BLOCK", confidence: 0.7, reason, alerts: ["standby_cold"] }
  }
  if (severity !== "sev1" && errors >= ERRORS_SUSPICIOUS) {
    const reason = `${errors}% errors at ${severity} look like an attack that would follow the traffic`
    return { recommendation: "REVIEW", confidence: 0.61, reason, alerts: ["active_attack_suspected"] }
  }
  return {
    recommendation: "APPROVE",
    confidence: 0.81,
    reason: `${standby.region} passed its last security review`,
    alerts: []
  }
}

/** REVIEW is no reason to stand in the way; anything harder is (launch-details section 7.1). */
export const voteFor = ({ recommendation }: Assessment): "APPROVE" | "REJECT" =>
  recommendation === "APPROVE" || recommendation === "REVIEW" ? "APPROVE" : "REJECT"
