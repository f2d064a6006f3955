import * as Schema from "effect/Schema"
import { Field, isBlank } from "../values/Field.ts"
import { uuidV5 } from "../values/HashUuid.ts"
import { nameOf } from "./AttributeValues.ts"
import { saysSomething } from "./LogInterest.ts"
import { meaningOf } from "./MeaningOf.ts"
import { ATTRIBUTES } from "./Names.ts"
import type { Attributes, Telemetry } from "./Span.ts"

export { OTLP_MODE_NAME, OTLP_RUNTIME_KIND } from "../events/MessageHeader.ts"

/** A span or log record with the time of its arrival. */
export interface Arrival {
  /**
   * Identity within the run: equal for a repetition of the same span or log record. A span has
   * `span:<traceId>:<spanId>`; a log record also has a hash of its content, because a span may have many.
   */
  readonly key: string
  /** When it was received, Unix milliseconds. */
  readonly at: number
  /** Source that sent it; given where telemetry has joined the run of a runtime, whose events name it. */
  readonly source?: string | undefined
  readonly telemetry: Telemetry
}

/** The settings that decide which run a trace belongs to. */
export interface BindingOptions {
  /** `OTLP_SETTLE_MS` */
  readonly settleMs: number
  /** `OTLP_RUN_KEY`: name of a further attribute with the run key. */
  readonly runKeyAttribute?: string | undefined
}

/**
 * Where the telemetry of one trace goes (docs/reference/ingest.md#from-spans-to-events).
 *
 * - `waiting`: a later request may still name the run; call again at `until`.
 * - `bound`: to the run with this key. `sessionId` is the session of `macp.session.id`: when it has a run, the trace
 *   joins that run instead. `links` are other traces that the roots of this one link to: when one of them is bound to a
 *   run that is open, or ended less than the settle time ago, the trace joins that run, unless `isNamed`.
 * - `construction`: the trace only builds agents or workflows. It is consumed without a run.
 */
export type TraceBinding =
  | { readonly state: "waiting"; readonly until: number }
  | {
      readonly state: "bound"
      readonly key: string
      /** Whether an attribute named the key; otherwise it is the trace id. */
      readonly isNamed: boolean
      readonly sessionId?: string
      readonly links: ReadonlyArray<string>
    }
  /** Makes no run: it only builds agents, or has nothing of agents at all. */
  | { readonly state: "construction" | "unrelated" }

/** What lists and searches show of a run, as known so far. It grows until the run has ended. */
export const RunFacts = Schema.Struct({
  /** Name of the run: its scenario, workflow, root agent or root span. */
  name: Schema.optionalKey(Schema.String),
  /** `service.name` */
  sourceRef: Schema.optionalKey(Schema.String),
  environment: Schema.optionalKey(Schema.String),
  tags: Schema.Array(Schema.String),
  /** Id of a registered policy whose rules apply. */
  policy: Schema.optionalKey(Schema.String),
  /** `conversationId`, `framework`, `promptName`, `promptVersion`, `promptHash`, `serviceVersion` and others. */
  metadata: Schema.Record(Schema.String, Schema.String),
  /** Spans that were not understood, by their scope, of instrumentations of which no span was. */
  unread: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
  /** Distinct models of counted calls, at most 32. */
  models: Schema.Array(Schema.String),
  /** Earliest start and latest end of a span. */
  startedAt: Schema.optionalKey(Field.time("Start of the first span")),
  endedAt: Schema.optionalKey(Field.time("End of the last span"))
})
export type RunFacts = typeof RunFacts.Type

/** The end of a run. */
export interface RunEnd {
  readonly status: "completed" | "failed"
  readonly errorCode?: string
  /** One line. */
  readonly errorMessage?: string
  /** Whether the root ended, or no telemetry came for the idle time. */
  readonly endedBecause: "root" | "idle"
  /** Start of the first root and end of the last one, ISO; of all spans without a root. */
  readonly startedAt: string
  readonly endedAt: string
  /** The end by the spans, where their clock is too wrong for the record. */
  readonly spansEndedAt?: string
  /** The start by the spans, where they say a longer duration than a run can have. */
  readonly spansStartedAt?: string
}

/**
 * `uuidV5` of the source and the run key: the id of the run, in every process. A key whose run was deleted has a next
 * life, with another run.
 */
export const runIdOf = (sha1: (bytes: Uint8Array) => Uint8Array, source: string, key: string, life = 0): string =>
  uuidV5(sha1, `${life === 0 ? "" : `${life}#`}${source.length}:${source}:${key}`)

/**
 * Decides where the telemetry of one trace goes, from all of it that waits. A trace is bound as soon as a span names
 * its run or session, else when the settle time has passed since its first arrival, so that the order of requests does
 * not matter. Once bound, a trace stays with its run.
 */
export const bindingOf = (arrivals: ReadonlyArray<Arrival>, now: number, options: BindingOptions): TraceBinding => {
  const ordered = arrivals.toSorted(byTelemetry)
  const key = firstText(ordered, ["runplane.run.key", ...(options.runKeyAttribute ?? "").split(",")])
  const sessionId = firstText(ordered, ATTRIBUTES.session.names)
  const until = Math.min(...arrivals.map(({ at }) => at)) + options.settleMs
  const [first] = ordered
  if (first === undefined || (key === undefined && sessionId === undefined && now < until)) {
    return { state: "waiting", until }
  }
  const links = linksOf(ordered)
  if (key === undefined && sessionId === undefined) {
    if (ordered.every(isConstruction)) return { state: "construction" }
    if (links.length === 0 && !ordered.some(isOfAgents)) return { state: "unrelated" }
  }
  return {
    state: "bound",
    key: key ?? first.telemetry.traceId,
    isNamed: key !== undefined,
    ...(sessionId !== undefined && { sessionId }),
    links
  }
}

/** Whether a span or log record is of agents: an agent, a model, a tool, a workflow, a decision, or named by us. */
const isOfAgents = ({ telemetry }: Arrival): boolean => {
  if (isOurs(telemetry.attributes) || isOurs(telemetry.resource)) return true
  if (telemetry.kind === "log") return saysSomething(telemetry)
  const { statements, evaluations, kind } = meaningOf(telemetry)
  return (kind !== "other" && kind !== "construction") || statements !== undefined || evaluations !== undefined
}

const isOurs = (attributes: Attributes): boolean => Object.keys(attributes).some((name) => name.startsWith("runplane."))

const byTelemetry = (left: Arrival, right: Arrival): number => {
  const [from, to] = [timeOf(left.telemetry), timeOf(right.telemetry)]
  return from.length - to.length || (from < to ? -1 : from > to ? 1 : left.key < right.key ? -1 : 1)
}

const timeOf = (telemetry: Telemetry): string => (telemetry.kind === "span" ? telemetry.startedAt : telemetry.at)

/** The first text under one of the names, on a span or log record or its resource. */
const firstText = (ordered: ReadonlyArray<Arrival>, names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    for (const { telemetry } of ordered) {
      const value = telemetry.attributes[name] ?? telemetry.resource[name]
      const text = nameOf(typeof value === "number" ? String(value) : value)
      // A blank key would join the traces of strangers.
      if (text !== undefined && !isBlank(text)) return text
    }
  }
  return undefined
}

const isConstruction = ({ telemetry }: Arrival): boolean =>
  telemetry.kind === "span" && meaningOf(telemetry).kind === "construction"

/** Other traces that the roots link to. */
const linksOf = (ordered: ReadonlyArray<Arrival>): ReadonlyArray<string> => {
  const links = ordered.flatMap(({ telemetry }) =>
    telemetry.kind === "span" && telemetry.parentSpanId === undefined
      ? telemetry.links.filter(({ traceId }) => traceId !== telemetry.traceId)
      : []
  )
  return [...new Set(links.map(({ traceId }) => traceId))]
}
