import type { Run } from "@runplane/api"
import { useLocation } from "wouter"
import { call } from "../../client/Client.ts"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"

/** Confirms a clone of a run, and opens the new run. */
export default function CloneDialog({ onClose, run }: { readonly run: Run; readonly onClose: () => void }) {
  const [, go] = useLocation()
  const clone = useChange(
    () => call((api) => api.management.clone({ params: { id: run.id }, payload: {} })),
    [["runs"], ["related runs"]],
    ({ runId }) => {
      onClose()
      go(`/runs/${runId}`)
    }
  )
  return (
    <FormDialog
      title="Clone this run?"
      button="Clone the run"
      fault="The run could not be cloned"
      change={clone}
      onClose={onClose}
    >
      <p className="text-soft">
        A new run of the same descriptor waits for a session of its own, which its agents open. To start the agents of a
        scenario as well, use Run again.
      </p>
    </FormDialog>
  )
}
