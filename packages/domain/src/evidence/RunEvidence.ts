import * as Result from "effect/Result"
import { cardInSlices, type ReasonedCard } from "../card/DecisionCard.ts"
import { type RecordSubject, recordSubject, whyMarkdown } from "../card/DecisionPage.ts"
import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { type ActivePolicy, activePolicy, type PolicySource, type Registry } from "../insight/ActivePolicy.ts"
import { ballotOf } from "../insight/Ballots.ts"
import { type Deliberation, deliberationReader } from "../insight/Deliberation.ts"
import { type Forecast, forecastInSlices } from "../insight/Forecast.ts"
import { type WhatIf, whatIfInSlices } from "../insight/WhatIf.ts"
import { type BoundPolicy, DEFAULT_POLICY_ID, type PolicyText } from "../policies/Policy.ts"
import type { Sha256 } from "../values/Sha256.ts"
import type { Sliced } from "../values/Sliced.ts"
import { type Gaps, gapReader } from "./Gaps.ts"
import { type ModelReport, modelReader } from "./ModelUse.ts"
import { type Oversight, oversightReader } from "./Oversight.ts"

/** Ballots after which a forecast is made, the first ones. */
const MAX_FORECASTS = 200

/** What was still possible after a ballot. */
export interface ForecastAtBallot {
  readonly index: number
  readonly at: string
  readonly by: string
  readonly vote: string
  readonly forecast: Forecast
}

/** What the documents of a bundle say of a run, from its log. */
export interface RunEvidence {
  /** The decision record as Markdown. */
  readonly why: string
  readonly forecasts: ReadonlyArray<ForecastAtBallot>
  readonly forecastsOmitted: number
  /** The smallest change that would turn the decision, or why it is not known. */
  readonly whatIf: WhatIf | { readonly unknown: string }
  readonly oversight: Oversight
  readonly models: ModelReport
  readonly gaps: Gaps
  readonly policy: {
    readonly policyVersion: string | null
    readonly source: PolicySource
    /** As the log or the registry has it; null where neither does, and for the default policy. */
    readonly text: PolicyText | null
    /** The rules as they are evaluated, with their defaults; null where they are not known. */
    readonly rules: BoundPolicy["rules"] | null
    readonly fault?: string
  }
}

export interface EvidenceReader {
  readonly take: (event: CanonicalEvent) => Sliced<void>
  /** The id of the policy that the log names without its rules, which a registry may have; undefined for none. */
  readonly policyOffRecord: () => string | undefined
  readonly read: (subject: Pick<RecordSubject, "scenario">) => Sliced<RunEvidence>
}

/**
 * Reads the evidence of a run from its events, in order. All of it is of the log and of its times, so that it is equal
 * whenever it is made. `registry` has the policies whose rules the log does not have.
 */
export const evidenceReader = (sha256: Sha256, registry: Registry): EvidenceReader => {
  const deliberation = deliberationReader()
  const gaps = gapReader()
  const models = modelReader(sha256)
  const oversight = oversightReader()
  const forecasts: Array<ForecastAtBallot> = []
  let forecastsOmitted = 0

  function* forecastAt(event: CanonicalEvent): Sliced<void> {
    const run = deliberation.read()
    const act = run.acts.findLast(({ seq }) => seq === event.seq)
    const vote = act && ballotOf(act)
    if (act === undefined || vote === undefined) return
    if (forecasts.length >= MAX_FORECASTS) {
      forecastsOmitted += 1
      return
    }
    yield
    const by = activePolicy(run, registry)
    const forecast = yield* forecastInSlices(run, by, timeOf(run))
    forecasts.push({ index: event.index, at: event.ts, by: act.by, vote, forecast })
  }

  return {
    take: function* (event) {
      deliberation.take(event)
      gaps.take(event)
      models.take(event)
      oversight.take(event)
      if (event.type === "proposal.updated") yield* forecastAt(event)
    },
    policyOffRecord: () => {
      const { descriptor, policyVersion } = deliberation.read()
      return descriptor === undefined && policyVersion !== DEFAULT_POLICY_ID ? policyVersion : undefined
    },
    read: function* (subject) {
      const run = deliberation.read()
      const by = activePolicy(run, registry)
      const record = yield* cardInSlices(run, by, timeOf(run))
      const changed = yield* whatIfInSlices(run, by, {})
      yield
      return {
        why: whyOf(run, record, subject),
        forecasts,
        forecastsOmitted,
        whatIf: Result.isSuccess(changed) ? changed.success : { unknown: changed.failure.message },
        oversight: oversight.read(run, by, record.why.outcome?.againstVotes === true),
        models: models.read(),
        gaps: gaps.read(),
        policy: policyOf(run, by, registry)
      }
    }
  }
}

/** A forecast of the log alone: its clock is that of the last event. */
const timeOf = ({ at }: Deliberation) => {
  const time = Date.parse(at?.ts ?? "")
  return Number.isFinite(time) ? { nowUnixMs: time } : {}
}

const whyOf = (run: Deliberation, record: ReasonedCard, subject: Pick<RecordSubject, "scenario">): string =>
  whyMarkdown(record, { ...recordSubject(run, record.why), ...subject })

const policyOf = (run: Deliberation, by: ActivePolicy, registry: Registry): RunEvidence["policy"] => {
  const { descriptor, policyVersion } = run
  const policy = descriptor ?? (policyVersion === undefined ? undefined : registry(policyVersion))
  return {
    policyVersion: policyVersion ?? null,
    source: by.policySource,
    text: policy ?? null,
    rules: by.sessionRules?.terms.policy.rules ?? null,
    ...(by.fault !== undefined && { fault: by.fault })
  }
}
