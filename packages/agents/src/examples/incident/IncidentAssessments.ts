import type { Assessment } from "../decision/Assessment.ts"
import { around, pick } from "../runner/Seed.ts"
import type { IncidentContext } from "./IncidentContext.ts"

/** The facts decide what a specialist recommends, the seed how it puts it. */
export type Assess = (incident: IncidentContext, seed: string) => Assessment

/** Hundredths by which two sessions about the same facts may differ in confidence. */
const CONFIDENCE_VARIES = 3

/**
 * Seconds of replication lag from which the data specialist hesitates, refuses, and calls it critical on a cold
 * standby.
 */
const LAG_DOUBTFUL_S = 10
const LAG_HIGH_S = 30
const LAG_CRITICAL_S = 60

/** Data safety: how many writes would be lost if traffic moved now. */
export const assessReplication: Assess = ({ replicationLagSeconds: lag, standby: { region, warm } }, seed) => {
  const alerts = [...(lag >= LAG_HIGH_S ? ["replication_lag_high"] : []), ...(warm ? [] : ["standby_cold"])]
  const sure = (confidence: number) => around(`${seed}:data`, confidence, CONFIDENCE_VARIES)
  if (!warm && lag >= LAG_CRITICAL_S) {
    const reason = pick(`${seed}:data`, [
      `${region} is cold and ${lag} s behind: moving now loses ${lag} s of writes`,
      `a cold ${region} that is ${lag} s behind would drop ${lag} s of writes for good`,
      `with ${region} cold, the last ${lag} s of writes exist in one copy only`
    ])
    return {
      recommendation: "BLOCK",
      confidence: sure(0.95),
      reason,
      objection: { severity: "critical", reason },
      alerts
    }
  }
  if (!warm || lag >= LAG_HIGH_S) {
    const reason = warm
      ? pick(`${seed}:data`, [`replication is ${lag} s behind`, `${region} lags ${lag} s, too much to give up`])
      : pick(`${seed}:data`, [`${region} is cold`, `nothing runs in ${region} yet`, `${region} has to be warmed first`])
    return { recommendation: "REJECT", confidence: sure(0.82), reason, objection: { severity: "high", reason }, alerts }
  }
  if (lag >= LAG_DOUBTFUL_S) {
    const reason = pick(`${seed}:data`, [
      `${lag} s of writes would be lost`,
      `we would have to replay ${lag} s of writes`
    ])
    return { recommendation: "REVIEW", confidence: sure(0.66), reason, alerts }
  }
  const reason = pick(`${seed}:data`, [
    `at most ${lag} s of writes would be lost`,
    `${region} is ${lag} s behind, which the queue can replay`,
    `replication is healthy: ${lag} s behind`
  ])
  return { recommendation: "APPROVE", confidence: sure(0.9), reason, alerts }
}

/** Percent of failing requests from which customers notice, suffer, and cannot work. */
const ERRORS_NOTICED = 5
const ERRORS_FELT = 10
const ERRORS_SEVERE = 25

/** Customer impact: whether staying is worse than moving. */
export const assessImpact: Assess = ({ customerFacing, errorRatePercent: errors, service, severity }, seed) => {
  const alerts = customerFacing && errors >= ERRORS_SEVERE ? ["customer_impact_severe"] : []
  const seen = `${service} fails ${errors}% of its requests (${severity})`
  const sure = (confidence: number) => around(`${seed}:impact`, confidence, CONFIDENCE_VARIES)
  const say = (...why: readonly [string, ...ReadonlyArray<string>]) => `${seen}: ${pick(`${seed}:impact`, why)}`
  if (severity === "sev1" || (customerFacing && errors >= ERRORS_SEVERE)) {
    const reason = say("customers cannot work", "every minute here costs orders", "support is already overrun")
    return { recommendation: "APPROVE", confidence: sure(0.93), reason, alerts }
  }
  if (errors >= ERRORS_FELT) {
    const reason = say("staying costs more than moving", "retries hide less and less of it", "it has not eased so far")
    return { recommendation: "APPROVE", confidence: sure(customerFacing ? 0.78 : 0.62), reason, alerts }
  }
  if (errors >= ERRORS_NOTICED) {
    const reason = say("tolerable for now", "annoying, not yet harmful")
    return { recommendation: "REVIEW", confidence: sure(0.59), reason, alerts }
  }
  const reason = say("a failover costs more than it saves", "moving would hurt more customers than staying")
  return { recommendation: "REJECT", confidence: sure(0.72), reason, alerts }
}

/** Percent of failing requests at which a lesser severity counts as an attack on the service. */
const ERRORS_SUSPICIOUS = 60

/** Security: whether the standby may take production traffic, and whether moving would just move an attack. */
export const assessSecurity: Assess = ({ errorRatePercent: errors, severity, standby: { region, warm } }, seed) => {
  const sure = (confidence: number) => around(`${seed}:security`, confidence, CONFIDENCE_VARIES)
  if (!warm) {
    const reason = pick(`${seed}:security`, [
      `${region} has been cold: its patches and secrets are not verified`,
      `the secrets of ${region} were not checked since it was shut down`
    ])
    return { recommendation: "BLOCK", confidence: sure(0.7), reason, alerts: ["standby_cold"] }
  }
  if (severity !== "sev1" && errors >= ERRORS_SUSPICIOUS) {
    const reason = pick(`${seed}:security`, [
      `${errors}% errors at ${severity} look like an attack that would follow the traffic`,
      `a flood that makes ${errors}% of requests fail would hit ${region} next`
    ])
    return { recommendation: "REVIEW", confidence: sure(0.61), reason, alerts: ["active_attack_suspected"] }
  }
  const reason = pick(`${seed}:security`, [
    `${region} passed its last security review`,
    `no open finding in ${region}`,
    `${region} carries the same patches as production`
  ])
  return { recommendation: "APPROVE", confidence: sure(0.81), reason, alerts: [] }
}
