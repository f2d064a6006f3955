import type { Run } from "@runplane/api"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { CheckCircle2, Undo2, XCircle } from "lucide-react"
import { useState } from "react"
import { UserText } from "../../ui/basics.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { ReasonField } from "../../ui/dialogs/ReasonField.tsx"
import { download } from "../../ui/download.ts"
import { Failure } from "../../ui/States.tsx"
import { useMe } from "../../ui/useMe.ts"
import { counted, whole } from "../../view/format/Format.ts"
import { pastOf } from "../../view/run/Actions.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import { applyToAll, type BulkAction, bulkRefusal, MOST_RUNS, type Outcome, readMatching } from "./BulkActions.ts"
import type { MatchingRuns } from "./RunQuery.ts"

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
  unarchive: {
    title: "Unarchive these runs?",
    says: "Lists show the runs again.",
    button: "Unarchive them",
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

/** Listed runs; the others are counted. */
const MOST_LISTED = 200

interface BulkDialogProps {
  readonly action: BulkAction
  readonly runs: ReadonlyArray<Run>
  /** All runs of this search instead of `runs`. */
  readonly all: MatchingRuns | undefined
  readonly onClose: () => void
}

/** Applies one action to several runs, and shows the result of each. */
export default function BulkDialog({ action, all, onClose, runs }: BulkDialogProps) {
  const [reason, setReason] = useState("")
  const [typed, setTyped] = useState("")
  const [finished, setFinished] = useState(0)
  const queries = useQueryClient()
  const me = useMe()
  const { button, says, takesReason, title } = words[action]
  const possible = runs.filter((run) => bulkRefusal(action, run) === undefined)
  const most = Math.min(MOST_RUNS, all?.total ?? runs.length)
  const apply = async (what: BulkAction, wanted: ReadonlyArray<Run>) => {
    setFinished(0)
    const { bundles, outcomes } = await applyToAll(what, wanted, reason.trim(), setFinished)
    if (bundles.length > 0)
      download("runs.jsonl", "application/x-ndjson", bundles.map((bundle) => `${bundle}\n`).join(""))
    return { what, outcomes }
  }
  const renew = () => void queries.invalidateQueries({ queryKey: ["runs"] })
  const change = useMutation({
    mutationFn: async () => apply(action, all === undefined ? runs : await readMatching(all)),
    onSettled: renew
  })
  const undo = useMutation({
    mutationFn: (done: ReadonlyArray<Outcome>) =>
      apply(
        "unarchive",
        // The records are of the time before the archival.
        done.flatMap(({ refusal, run }) => (refusal === undefined ? [{ ...run, archivedAt: run.updatedAt }] : []))
      ),
    onSettled: renew
  })
  const result = undo.data ?? change.data
  const isBusy = change.isPending || undo.isPending
  const isConfirmed = all === undefined || typed.replace(/\D/g, "") === String(all.total)
  const isReady =
    !(action === "cancel" && reason.trim() === "") && isConfirmed && (all !== undefined || possible.length > 0)
  const failure = undo.error ?? change.error
  const listed: ReadonlyArray<Outcome> =
    result?.outcomes ?? (all === undefined ? runs.map((run) => ({ run, refusal: bulkRefusal(action, run) })) : [])
  return (
    <Overlay open onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) change.mutate()
        }}
      >
        {result === undefined ? (
          <>
            <p className="text-soft">{says}</p>
            {takesReason ? (
              <ReasonField required={action === "cancel"} rows={2} value={reason} onChange={setReason} />
            ) : null}
            {all === undefined ? (
              <p className="text-muted">
                {counted(possible.length, "run")} of {runs.length}
                {possible.length < runs.length ? "; the others do not allow it" : ""}. Done as{" "}
                {me === undefined ? "…" : `${me.name} (${me.role})`}
              </p>
            ) : (
              <label className="block">
                <span className="text-soft">
                  All {counted(all.total, "run")} that match the search
                  {all.total > MOST_RUNS ? `, the first ${whole(MOST_RUNS)} of them` : ""}, also those that are not
                  loaded. Runs that do not allow it stay as they are. Type {whole(all.total)} to confirm:
                </span>
                <input
                  inputMode="numeric"
                  autoComplete="off"
                  aria-label="Number of runs, to confirm"
                  className="field mt-1 w-full"
                  value={typed}
                  onChange={({ target }) => setTyped(target.value)}
                />
              </label>
            )}
          </>
        ) : (
          <p role="status" className="font-medium">
            {resultText(result.what, result.outcomes)}
          </p>
        )}
        {failure === null ? null : <Failure what="The runs could not be changed" error={failure} />}
        {isBusy ? (
          <p role="status" className="num text-muted">
            {whole(finished)} of {whole(most)}
          </p>
        ) : null}
        <ul className="max-h-[40vh] overflow-auto" aria-label="Runs">
          {listed.slice(0, MOST_LISTED).map((outcome) => (
            <Row key={outcome.run.id} outcome={outcome} isDone={result !== undefined} />
          ))}
          {listed.length > MOST_LISTED ? (
            <li className="py-1.5 text-muted">and {counted(listed.length - MOST_LISTED, "other")}</li>
          ) : null}
        </ul>
        <div className="flex justify-end gap-2">
          {change.data === undefined || action !== "archive" || undo.data !== undefined ? null : (
            <button
              type="button"
              className="btn mr-auto"
              disabled={isBusy}
              onClick={() => undo.mutate(change.data.outcomes)}
            >
              <Undo2 size={14} aria-hidden /> Undo
            </button>
          )}
          <button type="button" className="btn" onClick={onClose}>
            {result === undefined ? "Dismiss" : "Close"}
          </button>
          {result === undefined ? (
            <button
              type="submit"
              className={`btn ${action === "delete" || action === "cancel" ? "btn-bad" : "btn-main"}`}
              disabled={isBusy || !isReady}
            >
              {isBusy ? "Working…" : button}
            </button>
          ) : null}
        </div>
      </form>
    </Overlay>
  )
}

/** `2 runs archived, 1 not`. */
const resultText = (action: BulkAction, outcomes: ReadonlyArray<Outcome>): string => {
  const done = outcomes.filter(({ refusal }) => refusal === undefined).length
  return `${counted(done, "run")} ${action === "export" ? "exported" : pastOf[action]}, ${whole(outcomes.length - done)} not`
}

const Row = ({ isDone, outcome: { refusal, run } }: { readonly outcome: Outcome; readonly isDone: boolean }) => (
  <li className="flex items-start gap-2 border-b border-line py-1.5 last:border-0">
    {refusal === undefined ? (
      <CheckCircle2
        size={14}
        aria-label={isDone ? "done" : "possible"}
        className={`mt-0.5 shrink-0 ${isDone ? "text-good" : "text-muted"}`}
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
)
