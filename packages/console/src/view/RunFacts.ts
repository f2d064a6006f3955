import type { Run } from "@runplane/api"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/** What the metadata of a run's record holds for readers; all of it may be missing, or of another form. */
const Metadata = Schema.Struct({
  runLabel: optional(Schema.Unknown),
  intent: optional(Schema.Unknown),
  environment: optional(Schema.Unknown),
  durationMs: optional(Schema.Unknown),
  finalAction: optional(Schema.Unknown),
  finalConfidence: optional(Schema.Unknown),
  totalTokens: optional(Schema.Unknown),
  estimatedCostUsd: optional(Schema.Unknown),
  guessedCostUsd: optional(Schema.Unknown),
  callsWithoutUsage: optional(Schema.Unknown)
})
const readMetadata = Schema.decodeUnknownOption(Metadata)

/** What a list shows of a run beside its record; a member is absent when the record does not say it. */
export interface RunFacts {
  /** The title of the run: its label, else its scenario, else its id. */
  readonly title: string
  readonly scenario: string | undefined
  readonly intent: string | undefined
  readonly environment: string | undefined
  readonly modeName: string | undefined
  readonly policy: string | undefined
  readonly durationMs: number | undefined
  readonly action: string | undefined
  readonly confidence: number | undefined
  readonly tokens: number | undefined
  readonly costUsd: number | undefined
  /** Part of the cost that is a guess. */
  readonly guessedCostUsd: number | undefined
  /** Calls without counts, which tokens and cost lack. */
  readonly callsWithoutUsage: number | undefined
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
const number = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : undefined)

export const runFacts = (run: Run): RunFacts => {
  const metadata = Option.getOrElse(readMetadata(run.metadata), (): typeof Metadata.Type => ({}))
  const scenario = text(run.sourceRef)
  return {
    title: text(metadata.runLabel) ?? scenario ?? run.id,
    scenario,
    intent: text(metadata.intent),
    environment: text(metadata.environment),
    modeName: run.modeName,
    policy: text(run.policyVersion),
    durationMs: number(metadata.durationMs),
    action: text(metadata.finalAction),
    confidence: number(metadata.finalConfidence),
    tokens: number(metadata.totalTokens),
    costUsd: number(metadata.estimatedCostUsd),
    guessedCostUsd: number(metadata.guessedCostUsd),
    callsWithoutUsage: number(metadata.callsWithoutUsage)
  }
}
