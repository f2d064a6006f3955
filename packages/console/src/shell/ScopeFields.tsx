import { useId, useState } from "react"
import { useLocation } from "wouter"
import { useUrlState } from "../ui/hooks.ts"
import { useRead } from "../ui/useRead.ts"
import { scopeParams, WINDOWS } from "../view/Scope.ts"

/** Pages with an environment and a time range. */
const NARROWED = /^\/(overview|runs|events)$/

const TIMES = [["", "Default time"], ...WINDOWS] as const

/** Environment and time, which are kept from page to page. */
export default function ScopeFields() {
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
              const found = TIMES.find(([window]) => window === target.value)
              if (found !== undefined) set({ window: found[0] })
            }}
          >
            {TIMES.map(([window, title]) => (
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
