import type { Run } from "@runplane/api"
import { queryValue } from "./QueryCompletion.ts"
import type { RunFacts } from "./RunFacts.ts"

/** A group of runs that belong to one, as a search of the list. */
export interface RelatedSearch {
  readonly title: string
  readonly q: string
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined)

/** The searches for the runs of the same conversation and the same scenario, as far as the record has them. */
export const relatedSearches = (
  { metadata, sourceRef }: Pick<Run, "metadata" | "sourceRef">,
  { scenario }: Pick<RunFacts, "scenario">
): ReadonlyArray<RelatedSearch> => {
  const conversation = textOf(metadata["conversationId"])
  const name = sourceRef ?? scenario
  const field = sourceRef === undefined ? "scenarioRef" : "sourceRef"
  return [
    ...(conversation === undefined
      ? []
      : [{ title: "Same conversation", q: `conversation:${queryValue(conversation)}` }]),
    ...(name === undefined ? [] : [{ title: "Same scenario", q: `${field}:${queryValue(name)}` }])
  ]
}
