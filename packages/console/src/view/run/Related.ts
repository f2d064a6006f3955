import type { Run } from "@runplane/api"
import { isUuid } from "@runplane/domain"
import { queryValue } from "../query/QueryCompletion.ts"
import { hasRuntime, type RunFacts } from "./RunFacts.ts"

/** A group of runs that belong to one, as a search of the list. */
export interface RelatedSearch {
  readonly title: string
  readonly q: string
  /** Shown when the search finds no other run. */
  readonly none: string
}

/** The run that a run was made from. */
export interface MadeFrom {
  readonly title: string
  readonly id: string
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)

/** The original of a clone, or the run that a launch repeats; undefined for other runs. */
export const madeFrom = ({ metadata }: Pick<Run, "metadata">): MadeFrom | undefined => {
  const original = textOf(metadata["clonedFrom"])
  if (original !== undefined) return { title: "Clone of", id: original }
  const repeated = textOf(metadata["againOf"])
  return repeated === undefined ? undefined : { title: "Run again of", id: repeated }
}

/**
 * The searches for the run that a run was made from, the runs made from it, its session or the telemetry that
 * names it, and the runs of the same conversation and the same scenario, as far as the record has them.
 */
export const relatedSearches = (
  run: Pick<Run, "id" | "metadata" | "runtimeKind" | "runtimeSessionId">,
  { scenario }: Pick<RunFacts, "scenario">
): ReadonlyArray<RelatedSearch> => {
  const { id, metadata, runtimeSessionId } = run
  const from = madeFrom(run)
  const conversation = textOf(metadata["conversationId"])
  const linkedSession = textOf(metadata["linkedSession"])
  const none = "No other run"
  return [
    ...(from === undefined || !isUuid(from.id)
      ? []
      : [{ title: from.title, q: `id:${from.id}`, none: `The run ${from.id} is deleted` }]),
    { title: "Clones of this run", q: `metadata.clonedFrom:${id}`, none: "No clone" },
    { title: "Repeats of this run", q: `metadata.againOf:${id}`, none: "No repeat" },
    ...(hasRuntime(run)
      ? [
          {
            title: "Telemetry that names its session and may not join",
            q: `metadata.linkedSession:${queryValue(runtimeSessionId)}`,
            none: "None"
          }
        ]
      : []),
    ...(linkedSession === undefined
      ? []
      : [{ title: "Session that its spans name", q: `runtimeSessionId:${queryValue(linkedSession)}`, none }]),
    ...(conversation === undefined
      ? []
      : [{ title: "Same conversation", q: `conversation:${queryValue(conversation)}`, none }]),
    ...(scenario === undefined ? [] : [{ title: "Same scenario", q: `scenario:${queryValue(scenario)}`, none }])
  ]
}
