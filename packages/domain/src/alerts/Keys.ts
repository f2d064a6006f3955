import * as Schema from "effect/Schema"
import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { foldText } from "../values/FoldedText.ts"
import { textAt } from "../values/JsonReader.ts"

/** `agent` is a participant of a run, `model` a language model that it calls. */
export const AlertPer = Schema.Literals([
  "run",
  "scenario",
  "tag",
  "environment",
  "source",
  "agent",
  "model",
  "all"
]).annotate({ identifier: "AlertPer", description: "The values of one key are counted together: of a run, of a tag" })
export type AlertPer = typeof AlertPer.Type

/** The fields of a run from which keys are made. */
export interface KeyedRun {
  readonly id: string
  readonly scenarioRef: string | undefined
  readonly environment: string | undefined
  readonly source: string | undefined
  readonly tags: ReadonlyArray<string>
  /** Source of a run that was received as telemetry; undefined for the run of a runtime. */
  readonly telemetrySource?: string | undefined
}

/** The key of a rule that counts everything together. */
export const ALL = "all"

/** A key of a rule. */
export interface CounterKey {
  /** Folded, so that a text has one counter however it is written (docs/reference/search.md#folding). */
  readonly key: string
  /** As it was written first; for readers. */
  readonly label: string
}

/** The keys under which a rule counts an event or a mark of a run; none when the run lacks the field. */
export const keysOf = (per: AlertPer, run: KeyedRun, event?: CanonicalEvent): ReadonlyArray<CounterKey> => {
  const keys = new Map<string, CounterKey>()
  for (const label of labelsOf(per, run, event)) {
    const key = per === "run" || per === "all" ? label : foldText(label).replaceAll("\u001f", " ")
    if (!keys.has(key)) keys.set(key, { key, label })
  }
  return [...keys.values()]
}

const labelsOf = (per: AlertPer, run: KeyedRun, event?: CanonicalEvent): ReadonlyArray<string> => {
  switch (per) {
    case "all":
      return [ALL]
    case "run":
      return [run.id]
    case "scenario":
      return stated(run.scenarioRef)
    case "environment":
      return stated(run.environment)
    case "source":
      return stated(run.source)
    case "tag":
      return run.tags
    case "agent":
      return stated(event === undefined ? undefined : textAt(event.recorded.data, "sender", "participantId"))
    case "model":
      return stated(event?.type === "llm.call.completed" ? event.data.model : undefined)
  }
}

const stated = (text: string | undefined): ReadonlyArray<string> => (text === undefined || text === "" ? [] : [text])
