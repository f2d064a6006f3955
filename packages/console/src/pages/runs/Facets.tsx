import type { FacetField } from "@runplane/api"
import { RunStatus } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { UserText } from "../../ui/basics.tsx"
import { useNow } from "../../ui/hooks.ts"
import { Loaded } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { whole } from "../../view/format/Format.ts"
import { runStatusLabel } from "../../view/format/Status.ts"
import { facetRequests, facetsOf, facetTitles, withFacet } from "../../view/runs/FacetCounts.ts"
import { facetsQuery, type RunFilters, type SetRunFilters } from "./RunQuery.ts"

/** A window of time moves by this step; each step counts again. Milliseconds. */
const STEP_MS = 60_000

const textOf = (field: FacetField, value: string) => {
  const status = field === "status" ? RunStatus.literals.find((word) => word === value) : undefined
  return status === undefined ? value : runStatusLabel(status).word
}

/** How many runs have each value of some fields; a click adds the value to the search, or removes it. */
export default function Facets({ filters, set }: { readonly filters: RunFilters; readonly set: SetRunFilters }) {
  const minute = Math.ceil(useNow(STEP_MS) / STEP_MS) * STEP_MS
  const { q } = filters
  const asked = facetRequests(q).map(({ fields, q: search }) =>
    facetsQuery({ ...filters, q: search }, fields, new Date(minute))
  )
  // The time is not part of the key, so that the counts stay while the next ones are read.
  const key = asked.map(({ createdAfter, ...query }) => query)
  const counts = useRead(["run facets", key, filters.window], (api) =>
    Effect.forEach(asked, (query) => api.query.facets({ query }), { concurrency: 3 })
  )
  return (
    <section aria-label="Facets" className="overflow-x-auto rounded-md border border-line" tabIndex={0}>
      <Loaded read={counts} what="The values cannot be counted" rows={3}>
        {(answers) => (
          <div className="flex min-w-max gap-4 px-3 py-2">
            {facetsOf(q, answers).map(([field, values]) => (
              <div key={field} className="w-[200px] max-sm:w-[150px]">
                <h2 className="label mb-1">{facetTitles[field]}</h2>
                <ul
                  className="flex max-h-[150px] flex-col overflow-y-auto"
                  tabIndex={0}
                  aria-label={facetTitles[field]}
                >
                  {values.map(({ count, isOn, value }) => (
                    <li key={value}>
                      <button
                        type="button"
                        aria-pressed={isOn}
                        title={value}
                        className={`flex min-h-6 w-full items-center gap-2 rounded px-1 py-0.5 text-left text-[12px] ${
                          isOn ? "bg-accent-soft text-accent" : "hover:bg-sunken"
                        }`}
                        onClick={() => set({ q: withFacet(q, field, value) }, { push: true })}
                      >
                        <UserText text={textOf(field, value)} className="min-w-0 flex-1 truncate" />{" "}
                        <span className="num text-muted">{whole(count)}</span>
                      </button>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </div>
        )}
      </Loaded>
    </section>
  )
}
