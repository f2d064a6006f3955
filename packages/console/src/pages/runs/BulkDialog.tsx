import type { Run, RunBundle } from "@runplane/api"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { CheckCircle2, XCircle } from "lucide-react"
import { useState } from "react"
import { call } from "../../client/Client.ts"
import { problemOf } from "../../client/Problem.ts"
import { UserText } from "../../ui/basics.tsx"
import { downloadLines } from "../../ui/download.ts"
import { Overlay } from "../../ui/Overlay.tsx"
import { ReasonField } from "../../ui/ReasonField.tsx"
import { useMe } from "../../ui/useMe.ts"
import { type RunAction, refusalOf } from "../../view/Actions.ts"
import { counted } from "../../view/Format.ts"
import { runFacts } from "../../view/RunFacts.ts"

export type BulkAction = RunAction | "export"

interface ActionWords {
  readonly title: string
  readonly says: string
  readonly button: string
  readonly takesReason: boolean
}

const words: Readonly<Record<BulkAction, ActionWords>> = {
  cancel: {
    title: "Cancel these runs?",
    says: "Their sessions end for all participants, without a decision.",
    button: "Cancel them",
    takesReason: true
  },
  suspend: {
    title: "Suspend these runs?",
    says: "The participants wait. The sessions keep their remaining time.",
    button: "Suspend them",
    takesReason: true
  },
  resume: {
    title: "Resume these runs?",
    says: "The participants continue with the remaining time.",
    button: "Resume them",
    takesReason: true
  },
  archive: {
    title: "Archive these runs?",
    says: "Lists show the runs only with the filter for archived runs. Nothing is deleted.",
    button: "Archive them",
    takesReason: false
  },
  delete: {
    title: "Delete these runs?",
    says: "Their events, state, messages and artifacts are deleted permanently.",
    button: "Delete them",
    takesReason: false
  },
  export: {
    title: "Export these runs",
    says: "One file of JSON lines: a line for each run, with its state and at most 10,000 events.",
    button: "Export them",
    takesReason: false
  }
}

/** The result for one run. */
interface Outcome {
  readonly run: Run
  /** Why the action was not done; undefined when it was. */
  readonly refusal: string | undefined
}

const AT_ONCE = 4

interface BulkDialogProps {
  readonly action: BulkAction
  readonly runs: ReadonlyArray<Run>
  readonly onClose: () => void
}

/** Applies one action to several runs, and shows the result of each. */
export default function BulkDialog({ action, onClose, runs }: BulkDialogProps) {
  const [reason, setReason] = useState("")
  const queries = useQueryClient()
  const me = useMe()
  const { button, says, takesReason, title } = words[action]
  const refused = (run: Run) => (action === "export" ? undefined : refusalOf(action, run.status, run))
  const possible = runs.filter((run) => refused(run) === undefined)
  const change = useMutation({
    mutationFn: async () => {
      const outcomes: Array<Outcome> = runs.flatMap((run) => {
        const refusal = refused(run)
        return refusal === undefined ? [] : [{ run, refusal }]
      })
      const bundles: Array<RunBundle> = []
      const rest = [...possible]
      const worker = async () => {
        for (let run = rest.shift(); run !== undefined; run = rest.shift()) {
          const one = run
          try {
            const answer = await act(action, one.id, reason.trim())
            if (answer !== undefined) bundles.push(answer)
            outcomes.push({ run: one, refusal: undefined })
          } catch (error) {
            const { code, messages } = problemOf(error, "")
            outcomes.push({ run: one, refusal: `${code}: ${messages.join("; ")}` })
          }
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
      if (bundles.length > 0) {
        downloadLines("runs.jsonl", bundles)
      }
      return outcomes
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["runs"] })
    }
  })
  const needsReason = action === "cancel" && reason.trim() === ""
  return (
    <Overlay open onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!needsReason && possible.length > 0) change.mutate()
        }}
      >
        {change.data === undefined ? (
          <>
            <p className="text-soft">{says}</p>
            {takesReason ? (
              <ReasonField required={action === "cancel"} rows={2} value={reason} onChange={setReason} />
            ) : null}
            <p className="text-muted">
              {counted(possible.length, "run")} of {runs.length}
              {possible.length < runs.length ? "; the status of the others does not allow it" : ""}. Done as{" "}
              {me === undefined ? "…" : `${me.name} (${me.role})`}
            </p>
          </>
        ) : (
          <p role="status" className="font-medium">
            {counted(change.data.filter(({ refusal }) => refusal === undefined).length, "run")} done,{" "}
            {change.data.filter(({ refusal }) => refusal !== undefined).length} not
          </p>
        )}
        <ul className="max-h-[40vh] overflow-auto" aria-label="Runs">
          {(change.data ?? runs.map((run) => ({ run, refusal: refused(run) }))).map(({ refusal, run }) => (
            <li key={run.id} className="flex items-start gap-2 border-b border-line py-1.5 last:border-0">
              {refusal === undefined ? (
                <CheckCircle2
                  size={14}
                  aria-label={change.data === undefined ? "possible" : "done"}
                  className={`mt-0.5 shrink-0 ${change.data === undefined ? "text-muted" : "text-good"}`}
                />
              ) : (
                <XCircle size={14} aria-label="not done" className="mt-0.5 shrink-0 text-bad" />
              )}
              <span className="min-w-0">
                <UserText text={runFacts(run).title} className="font-medium" />{" "}
                <span className="font-mono text-[11px] text-muted">{run.id.slice(0, 8)}</span>
                {refusal === undefined ? null : (
                  <span className="block text-[12px] text-bad">
                    <UserText text={refusal} />
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            {change.data === undefined ? "Dismiss" : "Close"}
          </button>
          {change.data === undefined ? (
            <button
              type="submit"
              className={`btn ${action === "delete" || action === "cancel" ? "btn-bad" : "btn-main"}`}
              disabled={change.isPending || needsReason || possible.length === 0}
            >
              {change.isPending ? "Working…" : button}
            </button>
          ) : null}
        </div>
      </form>
    </Overlay>
  )
}

const BUNDLE_EVENTS = 10_000

/** Answers a bundle for an export, nothing else. */
const act = async (action: BulkAction, id: string, reason: string): Promise<RunBundle | undefined> => {
  const params = { id }
  if (action === "export") {
    const query = {
      includeCanonical: true,
      includeRaw: false,
      includeMarks: true,
      eventLimit: BUNDLE_EVENTS,
      format: "json"
    } as const
    const bundle = await call((api) => api.insights.export({ params, query }))
    return typeof bundle === "string" ? undefined : bundle
  }
  if (action === "delete") await call((api) => api.management.remove({ params }))
  else if (action === "archive") await call((api) => api.management.archive({ params }))
  else await call((api) => api.runs[action]({ params, payload: reason === "" ? {} : { reason } }))
  return undefined
}
