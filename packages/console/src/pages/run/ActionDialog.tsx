import type { Run } from "@runplane/api"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import * as Effect from "effect/Effect"
import { useState } from "react"
import { useLocation } from "wouter"
import { call } from "../../client/Client.ts"
import { Id, UserText } from "../../ui/basics.tsx"
import { FormDialog } from "../../ui/dialogs/Confirm.tsx"
import { ReasonField } from "../../ui/dialogs/ReasonField.tsx"
import { useMe } from "../../ui/useMe.ts"
import { pastOf, type RunAction } from "../../view/run/Actions.ts"

interface ActionText {
  readonly title: string
  readonly says: string
  readonly button: string
  readonly takesReason: boolean
}

const texts: Readonly<Record<RunAction, ActionText>> = {
  cancel: {
    title: "Cancel this run?",
    says: "The session ends for all participants, without a decision.",
    button: "Cancel the run",
    takesReason: true
  },
  suspend: {
    title: "Suspend this run?",
    says: "The participants wait. The session keeps its remaining time until the run is resumed.",
    button: "Suspend the run",
    takesReason: true
  },
  resume: {
    title: "Resume this run?",
    says: "The participants continue with the remaining time.",
    button: "Resume the run",
    takesReason: true
  },
  archive: {
    title: "Archive this run?",
    says: "Lists show the run only with the filter for archived runs. Nothing is deleted.",
    button: "Archive the run",
    takesReason: false
  },
  unarchive: {
    title: "Unarchive this run?",
    says: "Lists show the run again.",
    button: "Unarchive the run",
    takesReason: false
  },
  delete: {
    title: "Delete this run?",
    says: "Its events, state and artifacts are deleted permanently. The audit log keeps a record of the deletion.",
    button: "Delete the run",
    takesReason: false
  }
}

interface ActionDialogProps {
  readonly action: RunAction
  readonly run: Run
  readonly onClose: () => void
}

/** Confirms an action on a run: its effect, its reason and the caller. */
export default function ActionDialog({ action, onClose, run }: ActionDialogProps) {
  const [reason, setReason] = useState("")
  const queries = useQueryClient()
  const caller = useMe()
  const [, go] = useLocation()
  const { button, says, takesReason, title } = texts[action]
  const change = useMutation({
    mutationFn: () => {
      const params = { id: run.id }
      const payload = reason.trim() === "" ? {} : { reason: reason.trim() }
      if (action === "delete") return call((api) => Effect.as(api.management.remove({ params }), undefined))
      return call((api) =>
        action === "archive" || action === "unarchive"
          ? api.management[action]({ params })
          : api.runs[action]({ params, payload })
      )
    },
    onSuccess: (changed) => {
      void queries.invalidateQueries({ queryKey: ["runs"] })
      if (changed === undefined) go("/runs")
      else queries.setQueryData(["run", run.id], changed)
      onClose()
    }
  })
  const needsReason = action === "cancel" && reason.trim() === ""
  return (
    <FormDialog
      title={title}
      button={button}
      fault={`The run could not be ${pastOf[action]}`}
      change={change}
      isReady={!needsReason}
      isHarmful={action === "cancel" || action === "delete"}
      onClose={onClose}
    >
      <p className="text-soft">{says}</p>
      {takesReason ? <ReasonField required={action === "cancel"} rows={3} value={reason} onChange={setReason} /> : null}
      <p className="text-muted">
        Run <Id id={run.id} label="run id" />, as{" "}
        {caller === undefined ? (
          "…"
        ) : (
          <>
            <UserText text={caller.name} className="font-medium" /> ({caller.role})
          </>
        )}
      </p>
    </FormDialog>
  )
}
