import { useState } from "react"
import { call } from "../../client/Client.ts"
import { useChange } from "../../ui/Confirm.tsx"
import { Overlay } from "../../ui/Overlay.tsx"
import { Failure } from "../../ui/States.tsx"
import { type RunFilters, runParams, sortText } from "./RunQuery.ts"

const LONGEST_NAME = 200
const usualSort = runParams.sort.read(null)

/** Saves the search, the columns and the order under a name, for all users. */
export default function SaveViewDialog({
  filters,
  onClose
}: {
  readonly filters: RunFilters
  readonly onClose: () => void
}) {
  const [name, setName] = useState("")
  const save = useChange(
    () =>
      call((api) =>
        api.views.create({
          payload: {
            name: name.trim(),
            resource: "runs",
            q: filters.q,
            columns: filters.columns,
            ...(filters.sort !== usualSort && { sort: sortText(filters.sort) })
          }
        })
      ),
    [["views"]],
    onClose
  )
  return (
    <Overlay open onClose={onClose} title="Save this view">
      <form
        className="flex flex-col gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (name.trim() !== "") save.mutate()
        }}
      >
        <p className="text-soft">
          All users can choose this view. It contains the search{" "}
          <code className="font-mono text-[12px]">{filters.q}</code>, the order and the columns.
        </p>
        <label className="block">
          <span className="label">Name</span>
          <input
            autoFocus
            maxLength={LONGEST_NAME}
            className="field mt-1 w-full"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        {save.isError ? <Failure what="The view was not saved" error={save.error} /> : null}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            Dismiss
          </button>
          <button type="submit" className="btn btn-main" disabled={name.trim() === "" || save.isPending}>
            Save
          </button>
        </div>
      </form>
    </Overlay>
  )
}
