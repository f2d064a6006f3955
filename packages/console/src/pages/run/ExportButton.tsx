import { useMutation } from "@tanstack/react-query"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Download } from "lucide-react"
import { useState } from "react"
import { AS_SENT, asSent } from "../../client/AsSent.ts"
import { CONSOLE_PATH } from "../../client/Base.ts"
import { call, callRuns } from "../../client/Client.ts"
import { EXPORTED_RUN } from "../../client/Offline.ts"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { download } from "../../ui/download.ts"
import { Failure } from "../../ui/States.tsx"
import { offlinePage } from "../../view/offline/OfflinePage.ts"

/** Events of the file; a longer run is exported by the API as lines of JSON. */
const MOST_EVENTS = 50_000

const query = {
  includeCanonical: true,
  includeRaw: false,
  includeMarks: true,
  eventLimit: MOST_EVENTS,
  format: "json"
} as const

const evidenceQuery = { includeRaw: true, includeMarks: true } as const

type Form = "json" | "page" | "evidence"

const saveEvidence = async (runId: string): Promise<void> => {
  const request = { params: { id: runId }, query: evidenceQuery }
  const parts = await call((api) => Effect.flatMap(api.evidence.ofRun(request), Stream.runCollect))
  // A chunk may be a view of a buffer that its reader shares, which a Blob does not take.
  download(
    `run-${runId}.evidence.zip`,
    "application/zip",
    parts.map((part) => new Uint8Array(part))
  )
}

const exportAs = async (runId: string, form: Form): Promise<void> => {
  if (form === "evidence") return saveEvidence(runId)
  const params = { id: runId }
  const bundle = await call((api) => asSent(api.exports.export({ params, query, responseMode: AS_SENT })))
  if (form === "json") return download(`run-${runId}.json`, "application/json", bundle)
  const [run, template] = await Promise.all([
    callRuns((api) => api.runs.get({ params, query: {} })),
    fetch(`${CONSOLE_PATH}offline.html`).then((answer) => answer.text())
  ])
  download(`run-${runId}.html`, "text/html", offlinePage(template, EXPORTED_RUN, JSON.stringify(run), bundle))
}

/** Saves the run with its events as a file. By the client, since a link has no key. */
export default function ExportButton({ runId }: { readonly runId: string }) {
  const [isOpen, setOpen] = useState(false)
  const save = useMutation({
    mutationFn: (form: Form) => exportAs(runId, form),
    onSuccess: () => setOpen(false)
  })
  const choice = (form: Form, title: string, about: string) => (
    <button
      type="button"
      className="panel flex flex-col items-start p-3 text-left hover:border-accent"
      disabled={save.isPending}
      onClick={() => save.mutate(form)}
    >
      <span className="font-semibold">{save.isPending && save.variables === form ? "Exporting…" : title}</span>
      <span className="text-soft">{about}</span>
    </button>
  )
  return (
    <>
      <button type="button" className="btn px-2" title="Save the run with its events" onClick={() => setOpen(true)}>
        <Download size={14} aria-hidden />
        <span className="max-2xl:sr-only">Export</span>
      </button>
      <Overlay
        open={isOpen}
        onClose={() => {
          setOpen(false)
          save.reset()
        }}
        title="Export"
      >
        <div className="flex flex-col gap-2 p-4">
          {choice("json", "JSON", "The record, the state, all events, comments and marks, with their proof.")}
          {choice(
            "page",
            "Page",
            "One HTML file with all views of the run. It opens in a browser without the service."
          )}
          {choice(
            "evidence",
            "Evidence",
            "One zip for an auditor: events with their proof, policy, oversight, audit lines, and what is left out."
          )}
          {save.isError ? <Failure what="The run could not be exported" error={save.error} /> : null}
        </div>
      </Overlay>
    </>
  )
}
