import { type FacetField, facetFields, type RunFacets } from "@runplane/api"
import { valuesIn, withValues } from "../query/QueryEdit.ts"

/** The fields with a column. The source of a run is its scenario, or not worth one. */
const columns = facetFields.filter((field) => field !== "sourceRef")

export const facetTitles: Readonly<Record<FacetField, string>> = {
  status: "Status",
  scenario: "Scenario",
  sourceRef: "Source",
  environment: "Environment",
  policyVersion: "Policy",
  errorCode: "Error",
  tags: "Tags"
}

/** One count of the service: these fields, over the runs of this search. */
export interface FacetRequest {
  readonly fields: ReadonlyArray<FacetField>
  readonly q: string
}

/**
 * The counts that show what each value would find: a field that the search filters is counted without its own filter,
 * so that its other values stay in the list.
 */
export const facetRequests = (q: string): ReadonlyArray<FacetRequest> => {
  const filtered = columns.filter((field) => valuesIn(q, field).length > 0)
  const others = columns.filter((field) => !filtered.includes(field))
  return [{ fields: others, q }, ...filtered.map((field) => ({ fields: [field], q: withValues(q, field, []) }))]
}

/** A value of a facet; `isOn` when the search names it. */
export interface FacetValue {
  readonly value: string
  readonly count: number
  readonly isOn: boolean
}

/** The facets of all answers in the order of the fields; a named value that no run has is there with 0. */
export const facetsOf = (
  q: string,
  answers: ReadonlyArray<Pick<RunFacets, "facets">>
): ReadonlyArray<readonly [field: FacetField, values: ReadonlyArray<FacetValue>]> => {
  const counted = new Map(answers.flatMap(({ facets }) => facets.map(({ field, values }) => [field, values] as const)))
  return columns.flatMap((field) => {
    const on = valuesIn(q, field)
    const values = counted.get(field) ?? []
    const absent = on.filter((value) => !values.some((one) => one.value === value))
    const all = [
      ...values.map((one) => ({ ...one, isOn: on.includes(one.value) })),
      ...absent.map((value) => ({ value, count: 0, isOn: true }))
    ]
    return all.length === 0 ? [] : [[field, all] as const]
  })
}

/** The search with a value of a field added, or removed when it has it. */
export const withFacet = (q: string, field: FacetField, value: string): string => {
  const on = valuesIn(q, field)
  return withValues(q, field, on.includes(value) ? on.filter((other) => other !== value) : [...on, value])
}
