import { OTLP_RUNTIME_KIND } from "./MessageHeader.ts"

/** The fields of a run that name its scenario. An empty text names nothing. */
export interface ScenarioFields {
  readonly runtimeKind: string
  /** `metadata.sourceRef`; `service.name` of a run from OpenTelemetry. */
  readonly sourceRef: string | undefined
  /** `metadata.scenarioRef`; of a run from OpenTelemetry the name that its spans give it. */
  readonly scenarioRef: string | undefined
}

/**
 * The scenario of a run (docs/reference/runs.md#scenario): alerts, budgets, the dashboard, searches, lists and tools
 * count a run under it. The source comes first, but for a run from OpenTelemetry, whose source is a service with many
 * scenarios. The function `scenario_of` of the database is the same rule.
 */
export const scenarioOf = ({ runtimeKind, scenarioRef, sourceRef }: ScenarioFields): string | undefined => {
  const [first, second] = runtimeKind === OTLP_RUNTIME_KIND ? [scenarioRef, sourceRef] : [sourceRef, scenarioRef]
  return first || second || undefined
}

/** The part of a run's record that names its scenario. */
export interface ScenarioRecord {
  readonly runtimeKind: string
  readonly sourceRef?: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** `scenarioOf` a record of the API. */
export const scenarioOfRecord = ({ metadata, runtimeKind, sourceRef }: ScenarioRecord): string | undefined => {
  const { scenarioRef } = metadata
  return scenarioOf({ runtimeKind, sourceRef, scenarioRef: typeof scenarioRef === "string" ? scenarioRef : undefined })
}

/** The scenario that a run was launched from: undefined for a run from OpenTelemetry, which nothing launched. */
export const launchedScenarioOf = (run: ScenarioRecord): string | undefined =>
  run.runtimeKind === OTLP_RUNTIME_KIND ? undefined : scenarioOfRecord(run)
