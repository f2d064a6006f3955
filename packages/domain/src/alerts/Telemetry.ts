import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { OTLP_SOURCE_NAME } from "../events/MessageHeader.ts"
import { textAt } from "../values/JsonReader.ts"
import { measureOf } from "./Measures.ts"
import type { AlertAction, AlertRule } from "./Rule.ts"

/** What is known of a run for the origin of its events. */
interface OriginRun {
  /** Source of a run that was received as telemetry, the name of its ingest key; undefined for the run of a runtime. */
  readonly telemetrySource?: string | undefined
}

/** Source of spans whose run does not name it. */
export const UNNAMED_SOURCE = "unknown"

/**
 * The source of the telemetry that an event comes from; undefined for what a runtime or a caller has reported. All
 * events of a run that was received as telemetry come from it, and those of spans that have joined another run.
 */
export const telemetrySourceOf = (run: OriginRun, event: CanonicalEvent): string | undefined =>
  run.telemetrySource ??
  (event.source?.kind === "runtime" && event.source.name === OTLP_SOURCE_NAME
    ? (textAt(event.recorded.data, "telemetrySource") ?? UNNAMED_SOURCE)
    : undefined)

/**
 * Whether a rule counts the reports of telemetry under keys of its own (docs/reference/alerts.md#telemetry). A measure
 * of the clock is not of what is reported.
 */
export const countsApart = ({ measure, telemetry }: Pick<AlertRule, "measure" | "telemetry">): boolean =>
  telemetry !== "act" && measureOf(measure).clock === undefined

/** Ends the key of a counter that has amounts of telemetry alone. No other key has its control character. */
export const APART = "\u001ftelemetry"

export const apartKey = (key: string): string => `${key}${APART}`

export const isApart = (key: string): boolean => key.endsWith(APART)

/** Whether an action stops a run: what telemetry says does not, where its rule counts it apart. */
export const stopsRun = ({ type }: AlertAction): boolean => type === "suspend" || type === "cancel"
