import { pick } from "../runner/Seed.ts"
import type { ReleaseContext } from "./ReleaseContext.ts"

/** What an approver thinks of a release. The facts decide the ballot, the seed how it is put. */
export interface Review {
  readonly ballot: "Approve" | "Reject" | "Abstain"
  readonly reason: string
  /** Signals to raise, by type. */
  readonly alerts: ReadonlyArray<string>
}

export type Examine = (release: ReleaseContext, seed: string) => Review

const review = (ballot: Review["ballot"], reason: string, ...alerts: ReadonlyArray<string>): Review => ({
  ballot,
  reason,
  alerts
})

/** Percent of passed tests below which quality refuses, and below which it will not vouch for the release. */
const TESTS_REQUIRED = 98
const TESTS_EXPECTED = 99.5

/** Quality: what the test suites say. */
export const examineQuality: Examine = ({ testsPassedPercent: passed, version }, seed) => {
  if (passed < TESTS_REQUIRED) {
    return review("Reject", `only ${passed}% of the tests of ${version} pass`, "tests_failing")
  }
  if (passed < TESTS_EXPECTED) {
    return review("Abstain", `${passed}% of the tests pass: nothing alarming, nothing I would sign`)
  }
  const reason = pick(`${seed}:quality`, [
    `${passed}% of the tests pass, no flaky ones left`,
    `the suites of ${version} are green at ${passed}%`,
    `regression run clean: ${passed}% passed`
  ])
  return review("Approve", reason)
}

/** Percent of the month's error budget below which nothing ships, and below which only with reluctance. */
const BUDGET_EXHAUSTED = 10
const BUDGET_LOW = 25
/** Percent of failing requests on the canary that is still noise. */
const CANARY_ERRORS_TOLERATED = 1

/** Reliability: whether the release can be undone, and whether the error budget allows a failure. */
export const examineReliability: Examine = (release, seed) => {
  const { canary, errorBudgetLeftPercent: budget, rollbackTested, schemaMigration } = release
  if (canary.errorRatePercent > CANARY_ERRORS_TOLERATED) {
    const reason = `the canary fails ${canary.errorRatePercent}% at ${canary.trafficPercent}% of the traffic`
    return review("Reject", reason, "canary_degraded")
  }
  if (schemaMigration && !rollbackTested) {
    const reason = pick(`${seed}:reliability`, [
      "a migration without a tested rollback does not go to production",
      "the migration has no rehearsed way back"
    ])
    return review("Reject", reason, "rollback_untested")
  }
  if (budget < BUDGET_EXHAUSTED) {
    return review(
      "Reject",
      `${budget}% of the error budget is left, the rest of the month needs it`,
      "budget_exhausted"
    )
  }
  if (budget < BUDGET_LOW && !release.fixesLiveDefect) {
    return review("Abstain", `${budget}% of the error budget is left: I would wait, but it can be afforded`)
  }
  const reason = pick(`${seed}:reliability`, [
    `${budget}% of the error budget is left and the way back is known`,
    `can be undone in minutes; ${budget}% of the error budget left`,
    `dashboards and roll-back are in place, ${budget}% of the budget to spend`
  ])
  return review("Approve", reason)
}

/** Product: whether users want it now. */
export const examineProduct: Examine = ({ fixesLiveDefect, freezeWeek, service, version }, seed) => {
  if (freezeWeek && !fixesLiveDefect) {
    return review("Reject", `freeze week: ${service} changes only for defects that hurt now`, "freeze_violated")
  }
  const reason = fixesLiveDefect
    ? pick(`${seed}:product`, [
        `${version} ends a defect that users meet every day`,
        "every hour of waiting is a ticket"
      ])
    : pick(`${seed}:product`, ["the release notes are out and support is briefed", `users are waiting for ${version}`])
  return review("Approve", reason)
}

/** Security: what the scanners found in the artefact. */
export const examineSecurity: Examine = (release, seed) => {
  const { openCriticalVulnerabilities: critical, secretsFound: secrets } = release
  if (secrets > 0) return review("Reject", `secrets are part of the artefact, ${secrets} found`, "secret_exposed")
  if (critical > 0) {
    return review("Reject", `${critical} critical vulnerabilities are open in the image`, "vulnerability_critical")
  }
  const reason = pick(`${seed}:security`, [
    "no critical finding in image and dependencies",
    "scan clean, signatures verified",
    "nothing new since the last scan"
  ])
  return review("Approve", reason)
}
