import type { Run } from "@runplane/api"
import { OTLP_RUNTIME_KIND, scenarioOfRecord } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Cost, costIn } from "../format/Format.ts"

/** Whether a runtime hosts the session of the run; the run of an application that sends OpenTelemetry has none. */
export const hasRuntime = ({ runtimeKind }: Pick<Run, "runtimeKind">): boolean => runtimeKind !== OTLP_RUNTIME_KIND

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
  /** The name of the run: its label, else what its session is for, else its scenario, else its id. */
  readonly title: string
  /** Its scenario, where that is not the title. */
  readonly subtitle: string | undefined
  readonly scenario: string | undefined
  /** What its session is for. */
  readonly intent: string | undefined
  readonly environment: string | undefined
  readonly modeName: string | undefined
  readonly policy: string | undefined
  readonly durationMs: number | undefined
  readonly action: string | undefined
  readonly confidence: number | undefined
  readonly tokens: number | undefined
  /** Absent for a run without calls of language models. */
  readonly cost: Cost | undefined
}

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)
const number = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : undefined)

/** The tokens so far; undefined, not 0, when no call states its usage. */
const tokensOf = (usage: Run["usage"]): number | undefined =>
  usage === undefined || (usage.totalTokens === 0 && usage.callsWithoutUsage !== undefined)
    ? undefined
    : usage.totalTokens

/** The cost in the metadata of an ended run. */
const costOfMetadata = (metadata: typeof Metadata.Type): Cost | undefined => {
  const costUsd = number(metadata.estimatedCostUsd)
  const callsWithoutUsage = number(metadata.callsWithoutUsage)
  return costUsd === undefined && callsWithoutUsage === undefined
    ? undefined
    : { costUsd: costUsd ?? 0, callsWithoutUsage, guessedCostUsd: number(metadata.guessedCostUsd) }
}

/** The facts of a record. `intent`: that of its state, which the record of a single run does not have. */
export const runFacts = (run: Run, intent = run.intent): RunFacts => {
  const metadata = Option.getOrElse(readMetadata(run.metadata), (): typeof Metadata.Type => ({}))
  const scenario = text(scenarioOfRecord(run))
  const purpose = text(intent) ?? text(metadata.intent)
  const title = text(metadata.runLabel) ?? purpose ?? scenario ?? run.id
  return {
    title,
    subtitle: scenario === title ? undefined : scenario,
    scenario,
    intent: purpose,
    environment: text(metadata.environment),
    modeName: run.modeName,
    policy: text(run.policyVersion),
    durationMs: number(metadata.durationMs),
    action: text(metadata.finalAction),
    confidence: number(metadata.finalConfidence),
    tokens: tokensOf(run.usage) ?? number(metadata.totalTokens),
    cost: run.usage === undefined ? costOfMetadata(metadata) : costIn(run.usage)
  }
}
