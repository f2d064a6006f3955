import type { Run } from "@runplane/api"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { callRuns } from "../../client/Client.ts"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { download, downloadLines } from "../../ui/download.ts"
import { SaveButtons } from "../../ui/SaveButtons.tsx"
import { Failure } from "../../ui/States.tsx"
import { type CsvColumns, csvOf } from "../../view/format/Csv.ts"
import { counted, whole } from "../../view/format/Format.ts"
import { type RunFacts, runFacts } from "../../view/run/RunFacts.ts"
import { listQuery, type RunFilters } from "./RunQuery.ts"

/** Runs of an exported file. */
const MOST = 10_000

interface ExportedRun {
  readonly run: Run
  readonly facts: RunFacts
}

const COLUMNS: CsvColumns<ExportedRun> = {
  id: ({ run }) => run.id,
  status: ({ run }) => run.status,
  title: ({ facts }) => facts.title,
  scenario: ({ facts }) => facts.scenario,
  environment: ({ facts }) => facts.environment,
  mode: ({ facts }) => facts.modeName,
  policy: ({ facts }) => facts.policy,
  createdAt: ({ run }) => run.createdAt,
  startedAt: ({ run }) => run.startedAt,
  endedAt: ({ run }) => run.endedAt,
  durationMs: ({ facts }) => facts.durationMs,
  events: ({ run }) => run.lastEventIndex,
  verdict: ({ run }) => run.decision?.word,
  votes: ({ run }) => run.decision?.counts,
  action: ({ facts }) => facts.action,
  tokens: ({ facts }) => facts.tokens,
  costUsd: ({ facts }) => facts.cost?.costUsd,
  guessedCostUsd: ({ facts }) => facts.cost?.guessedCostUsd,
  callsWithoutUsage: ({ facts }) => facts.cost?.callsWithoutUsage,
  tags: ({ run }) => run.tags.join(" "),
  errorCode: ({ run }) => run.errorCode
}

interface ExportDialogProps {
  readonly filters: RunFilters
  readonly total: number | undefined
  readonly onClose: () => void
}

/** Saves the records of the runs that fit the filters, page by page, as one file. */
export default function ExportDialog({ filters, onClose, total }: ExportDialogProps) {
  const [count, setCount] = useState(0)
  const save = useMutation({
    mutationFn: async (form: "csv" | "jsonl") => {
      const runs: Array<Run> = []
      const anchor = new Date()
      let cursor: string | undefined = ""
      while (cursor !== undefined && runs.length < MOST) {
        const query = listQuery(filters, anchor, cursor)
        const page = await callRuns((api) => api.runs.list({ query }))
        runs.push(...page.data)
        setCount(runs.length)
        cursor = page.nextCursor
      }
      const kept = runs.slice(0, MOST)
      if (form === "csv")
        download(
          "runs.csv",
          "text/csv",
          csvOf(
            COLUMNS,
            kept.map((run) => ({ run, facts: runFacts(run) }))
          )
        )
      else downloadLines("runs.jsonl", kept)
      return kept.length
    }
  })
  return (
    <Overlay open onClose={onClose} title="Export the list">
      <div className="flex flex-col gap-3 p-4">
        <p className="text-soft">
          The records of {total === undefined ? "the runs" : counted(total, "run")} that fit the filters
          {total !== undefined && total > MOST ? `, the first ${whole(MOST)} of them` : ""}. The events of a run are
          exported with the run itself.
        </p>
        <p className="text-soft">
          Cost columns: <code className="font-mono text-[12px]">costUsd</code>,{" "}
          <code className="font-mono text-[12px]">guessedCostUsd</code> (the part of it that is a guess) and{" "}
          <code className="font-mono text-[12px]">callsWithoutUsage</code> (calls that it does not include).
        </p>
        {save.isError ? <Failure what="The list could not be exported" error={save.error} /> : null}
        <p role="status" className="num text-muted">
          {save.isPending ? `${whole(count)} read…` : save.isSuccess ? `${counted(save.data, "run")} saved` : ""}
        </p>
        <div className="flex justify-end gap-2">
          <SaveButtons busy={save.isPending} onSave={(form) => save.mutate(form)} />
        </div>
      </div>
    </Overlay>
  )
}
