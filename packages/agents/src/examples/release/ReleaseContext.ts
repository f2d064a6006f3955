import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { contextReader, flag, number, text } from "../runner/ContextFields.ts"

/** What the agents know about a release: the session context of the scenario `release/production-rollout`. */
export const ReleaseContext = Schema.Struct({
  changeId: text("CHG-0000"),
  service: text("service"),
  version: text("0.0.0"),
  testsPassedPercent: number(100),
  schemaMigration: flag(false),
  rollbackTested: flag(true),
  errorBudgetLeftPercent: number(100),
  openCriticalVulnerabilities: number(0),
  secretsFound: number(0),
  fixesLiveDefect: flag(false),
  freezeWeek: flag(false),
  /** Only from version 2.0.0 of the scenario on: how the first share of traffic fared. */
  canary: Schema.Struct({ trafficPercent: number(0), errorRatePercent: number(0) }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  )
})

export type ReleaseContext = typeof ReleaseContext.Type

export const releaseOf = contextReader(ReleaseContext)
