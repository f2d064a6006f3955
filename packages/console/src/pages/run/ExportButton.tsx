import { useMutation } from "@tanstack/react-query"
import { Download } from "lucide-react"
import { call } from "../../client/Client.ts"
import { download } from "../../ui/download.ts"
import { Overlay } from "../../ui/Overlay.tsx"
import { Failure } from "../../ui/States.tsx"

/** Events of the file; a longer run is exported by the API as lines of JSON. */
const MOST_EVENTS = 50_000

const query = {
  includeCanonical: true,
  includeRaw: false,
  includeMarks: true,
  eventLimit: MOST_EVENTS,
  format: "json"
} as const

/** Saves the run with its events as a file. By the client, since a link has no key. */
export default function ExportButton({ runId }: { readonly runId: string }) {
  const save = useMutation({
    mutationFn: () => call((api) => api.insights.export({ params: { id: runId }, query })),
    onSuccess: (bundle) => {
      const text = typeof bundle === "string" ? bundle : JSON.stringify(bundle, undefined, 2)
      download(`run-${runId}.json`, "application/json", text)
    }
  })
  return (
    <>
      <button
        type="button"
        className="btn px-2"
        title="Save the run with its events as JSON"
        disabled={save.isPending}
        onClick={() => save.mutate()}
      >
        <Download size={14} aria-hidden />
        <span className="max-2xl:sr-only">{save.isPending ? "Exporting…" : "Export"}</span>
      </button>
      <Overlay open={save.isError} onClose={() => save.reset()} title="Export">
        <Failure what="The run could not be exported" error={save.error} />
      </Overlay>
    </>
  )
}
