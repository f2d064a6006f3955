import { useState } from "react"
import { call } from "../../client/Client.ts"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { type RunFilters, runParams, sortText } from "./RunQuery.ts"

const LONGEST_NAME = 200
const usualSort = runParams.sort.read(null)

/** Saves the search, the columns and the order under a name, for all users or for the caller alone. */
export default function SaveViewDialog({
  filters,
  onClose
}: {
  readonly filters: RunFilters
  readonly onClose: () => void
}) {
  const [name, setName] = useState("")
  const [isPrivate, setPrivate] = useState(false)
  const save = useChange(
    () =>
      call((api) =>
        api.views.create({
          payload: {
            name: name.trim(),
            resource: "runs",
            q: filters.q,
            columns: filters.columns,
            private: isPrivate,
            ...(filters.sort !== usualSort && { sort: sortText(filters.sort) })
          }
        })
      ),
    [["views"]],
    onClose
  )
  return (
    <FormDialog
      title="Save this view"
      button="Save"
      fault="The view was not saved"
      change={save}
      isReady={name.trim() !== ""}
      onClose={onClose}
    >
      <p className="text-soft">
        The view contains the search <code className="font-mono text-[12px]">{filters.q}</code>, the order and the
        columns.
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
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={isPrivate} onChange={({ target }) => setPrivate(target.checked)} />
        Private: other users do not see this view
      </label>
    </FormDialog>
  )
}
