import { mayChangeView, type View } from "@runplane/api"
import { BookmarkPlus, X } from "lucide-react"
import { Suspense, useState } from "react"
import { call } from "../../client/Client.ts"
import { useChange } from "../../ui/Confirm.tsx"
import { lazily } from "../../ui/lazily.ts"
import { useMay, useMe } from "../../ui/useMe.ts"
import { useRead } from "../../ui/useRead.ts"
import { type RunFilters, type SetRunFilters, sortOfText } from "./RunQuery.ts"

const SaveViewDialog = lazily(() => import("./SaveViewDialog.tsx"))

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
  const { data = [] } = useRead(["views", "runs"], (api) => api.views.list({ query: { resource: "runs" } }))
  const isOn = (view: View) => filters.q === view.q && filters.sort === sortOfText(view.sort) && filters.window === ""
  const isLastHour = filters.q === "" && filters.window === "1h"
  const isNew = filters.q !== "" && !data.some(isOn)
  return (
    <>
      <button
        type="button"
        aria-pressed={filters.q === "" && filters.window === "" && filters.sort === "newest"}
        className={chip(filters.q === "" && filters.window === "" && filters.sort === "newest")}
        onClick={() => set({ q: "", window: "", sort: "newest", status: "any", search: "" })}
      >
        All
      </button>
      {data.map((view) => (
        <span key={view.id} className="inline-flex items-center">
          <button
            type="button"
            aria-pressed={isOn(view)}
            title={view.q}
            className={chip(isOn(view))}
            onClick={() => set(stateOf(view))}
          >
            {view.name}
          </button>
          {me !== undefined && mayChangeView(me.id, me.role, view) ? <RemoveView view={view} /> : null}
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
      {isNew && mayOperate ? (
        <button
          type="button"
          className="btn btn-quiet h-6 px-1.5 text-[12px] text-accent"
          onClick={() => setSaving(true)}
        >
          <BookmarkPlus size={13} aria-hidden /> Save this view
        </button>
      ) : null}
      {isSaving ? (
        <Suspense fallback={null}>
          <SaveViewDialog filters={filters} onClose={() => setSaving(false)} />
        </Suspense>
      ) : null}
    </>
  )
}

const RemoveView = ({ view: { id, name } }: { readonly view: View }) => {
  const remove = useChange(
    () => call((api) => api.views.remove({ params: { id } })),
    [["views"]],
    () => {}
  )
  return (
    <button
      type="button"
      aria-label={`Remove the view ${name}`}
      title={remove.isError ? remove.error.message : `Remove the view ${name}`}
      className={`-ml-1 rounded p-0.5 ${remove.isError ? "text-bad" : "text-muted hover:text-bad"}`}
      onClick={() => remove.mutate()}
    >
      <X size={12} aria-hidden />
    </button>
  )
}
