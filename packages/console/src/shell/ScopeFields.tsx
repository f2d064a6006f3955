import { useId, useState } from "react"
import { useLocation } from "wouter"
import { useUrlState } from "../ui/hooks.ts"
import { useRead } from "../ui/useRead.ts"
import { scopeParams } from "../view/Scope.ts"
import { readParams, writeParams } from "../view/UrlState.ts"

/** Pages that look at runs of many: those of the others would not know what to do with it. */
const NARROWED = /^\/(overview|runs|events)$/

const WINDOWS = [
  ["", "Usual time"],
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"]
] as const

/** What a link to another page takes along of an address: environment and time. */
export const carried = (search: string): string => writeParams(scopeParams, "", readParams(scopeParams, search))

/** Environment and time, which go along from page to page. */
export const ScopeFields = () => {
  const [location] = useLocation()
  const [scope, set] = useUrlState(scopeParams)
  const [isAsked, setAsked] = useState(false)
  const listId = useId()
  const recent = useRead(["environments"], (api) => api.dashboard.overview({ query: { window: "30d" } }), {
    enabled: isAsked
  })
  const environments = [
    ...new Set((recent.data?.recentRuns ?? []).flatMap(({ metadata: { environment } }) => environment ?? []))
  ]
  if (!NARROWED.test(location)) return null
  return (
    <div className="flex flex-col gap-1.5 px-3 py-2">
      <label>
        <span className="label">Environment</span>
        <input
          list={listId}
          className="field mt-0.5 w-full"
          placeholder="All"
          defaultValue={scope.environment}
          key={scope.environment}
          onFocus={() => setAsked(true)}
          onChange={({ target }) => {
            if (target.value === "" || environments.includes(target.value)) set({ environment: target.value })
          }}
          onBlur={({ target }) => set({ environment: target.value.trim() })}
          onKeyDown={({ currentTarget, key }) => {
            if (key === "Enter") set({ environment: currentTarget.value.trim() })
          }}
        />
        <datalist id={listId}>
          {environments.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      {location === "/events" ? null : (
        <label>
          <span className="label">Time</span>
          <select
            className="field mt-0.5 w-full pr-1"
            value={scope.window}
            onChange={({ target }) => {
              const found = WINDOWS.find(([window]) => window === target.value)
              if (found !== undefined) set({ window: found[0] })
            }}
          >
            {WINDOWS.map(([window, title]) => (
              <option key={window} value={window}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}
