import { useId, useState } from "react"
import { useLocation } from "wouter"
import { useUrlState } from "../ui/hooks.ts"
import { useRead } from "../ui/useRead.ts"
import { exactTime } from "../view/format/Format.ts"
import { setTimeSetting, type TimeSetting, timeSetting } from "../view/format/TimeSetting.ts"
import { scopeParams, WINDOWS } from "../view/query/Scope.ts"

/** Pages with an environment and a time range. */
const NARROWED = /^\/(overview|runs|events)$/

const TIMES = [["", "Default time"], ...WINDOWS] as const

/** Environment and time, which are kept from page to page, and the form of all times, which the browser keeps. */
export default function ScopeFields() {
  return (
    <>
      <Narrowing />
      <Times />
    </>
  )
}

const ZONES = Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")

/** How all pages show times. */
const Times = () => {
  const setting = timeSetting.get()
  const choose = (next: TimeSetting) => {
    setTimeSetting(next)
    // Texts of times are all over the page, and its address has its state.
    window.location.reload()
  }
  return (
    <div className="flex flex-col gap-1.5 px-3 py-2">
      <label>
        <span className="label">Time zone</span>
        <select
          className="field mt-0.5 w-full pr-1"
          title={`Now: ${exactTime(Date.now())}`}
          value={setting.zone}
          onChange={({ target }) => choose({ ...setting, zone: target.value })}
        >
          <option value="">Local</option>
          <option value="UTC">UTC</option>
          {ZONES.map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </label>
      <label className="flex items-center gap-2 text-[12px] text-soft">
        <input
          type="checkbox"
          checked={setting.isAbsolute}
          onChange={({ target }) => choose({ ...setting, isAbsolute: target.checked })}
        />
        Dates instead of ages
      </label>
    </div>
  )
}

/** Environment and time of the pages that have them. */
const Narrowing = () => {
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
