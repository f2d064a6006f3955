import { mayChangeView, type View } from "@runplane/api"
import { BookmarkPlus, House, Lock } from "lucide-react"
import { Suspense, useEffect, useRef, useState } from "react"
import { useStore } from "../../ui/hooks.ts"
import { lazily } from "../../ui/lazily.ts"
import { useMay, useMe } from "../../ui/useMe.ts"
import { useRead } from "../../ui/useRead.ts"
import { countsRefusals, REFUSALS_SEEN } from "../../view/policies/Refusals.ts"
import { defaultView, setDefaultView } from "../../view/runs/DefaultView.ts"
import { isFiltered, type RunFilters, type SetRunFilters, sortOfText } from "./RunQuery.ts"

const RemoveView = lazily(() => import("./RemoveView.tsx"))
const SaveViewDialog = lazily(() => import("./SaveViewDialog.tsx"))

const NO_VIEWS: ReadonlyArray<View> = []

interface ViewsProps {
  readonly filters: RunFilters
  readonly set: SetRunFilters
}

/** What the list shows when a view is chosen. */
const stateOf = ({ columns, q, sort }: View): Partial<RunFilters> => ({
  q,
  columns,
  sort: sortOfText(sort),
  search: "",
  status: "any",
  window: ""
})

const chip = (isOn: boolean) =>
  `h-6 rounded-full px-2.5 text-[12px] font-medium ${isOn ? "bg-accent-soft text-accent" : "text-soft hover:bg-sunken"}`

/** The views of the list: the built-in ones, and those that users have saved. */
export const Views = ({ filters, set }: ViewsProps) => {
  const [isSaving, setSaving] = useState(false)
  const me = useMe()
  const mayOperate = useMay()("operator")
  const standard = useStore(defaultView)
  const { data = NO_VIEWS } = useRead(["views", "runs"], (api) => api.views.list({ query: { resource: "runs" } }))
  const isOn = (view: View) => filters.q === view.q && filters.sort === sortOfText(view.sort) && filters.window === ""
  const isLastHour = filters.q === "" && filters.window === "1h"
  const isNew = filters.q !== "" && !data.some(isOn)
  const isAll = filters.q === "" && filters.window === "" && filters.sort === "newest"
  const shown = isAll ? "" : data.find(isOn)?.id
  // A visit without a search opens the default view. A view that was removed is none.
  const opens = useRef(isAll && standard !== "" && filters.columns.length === 0 && !isFiltered(filters))
  useEffect(() => {
    if (!opens.current || data.length === 0) return
    opens.current = false
    const view = data.find(({ id }) => id === standard)
    if (view !== undefined) set(stateOf(view))
  }, [data, set, standard])
  return (
    <>
      <button
        type="button"
        aria-pressed={isAll}
        className={chip(isAll)}
        onClick={() => set({ q: "", window: "", sort: "newest", status: "any", search: "" })}
      >
        All
      </button>
      {data.map((view) => (
        <span key={view.id} className="inline-flex items-center">
          <button
            type="button"
            aria-pressed={isOn(view)}
            title={countsRefusals(view.q) ? `${view.q}\n${REFUSALS_SEEN}` : view.q}
            className={chip(isOn(view))}
            onClick={() => set(stateOf(view))}
          >
            {view.private === true ? (
              <>
                <Lock size={11} aria-hidden className="mr-1 inline" />
                <span className="sr-only">private: </span>
              </>
            ) : null}
            {view.name}
          </button>
          {me !== undefined && mayChangeView(me.id, me.role, view) ? (
            <Suspense fallback={null}>
              <RemoveView view={view} />
            </Suspense>
          ) : null}
        </span>
      ))}
      <button
        type="button"
        aria-pressed={isLastHour}
        className={chip(isLastHour)}
        onClick={() => set({ q: "", window: "1h", status: "any", search: "" })}
      >
        Last hour
      </button>
      {shown === undefined || shown === standard ? null : (
        <button
          type="button"
          className="btn btn-quiet h-6 px-1.5 text-[12px] text-soft"
          title="In this browser, the page Runs opens with this view"
          onClick={() => setDefaultView(shown)}
        >
          <House size={13} aria-hidden /> Open with this view
        </button>
      )}
      {isNew && mayOperate ? (
        <button
          type="button"
          className="btn btn-quiet h-6 px-1.5 text-[12px] text-accent"
          onClick={() => setSaving(true)}
        >
          <BookmarkPlus size={13} aria-hidden /> Save this view
        </button>
      ) : null}
      {countsRefusals(filters.q) ? (
        <p role="note" className="w-full text-[12px] text-muted">
          These are refusals on record; {REFUSALS_SEEN}.
        </p>
      ) : null}
      {isSaving ? (
        <Suspense fallback={null}>
          <SaveViewDialog filters={filters} onClose={() => setSaving(false)} />
        </Suspense>
      ) : null}
    </>
  )
}
