import { useMutation } from "@tanstack/react-query"
import { FileText } from "lucide-react"
import { SERVICE_PATH } from "../../../client/Base.ts"
import { callFor } from "../../../client/Client.ts"
import { session } from "../../../client/Session.ts"
import { Overlay } from "../../../ui/dialogs/Overlay.tsx"
import { download } from "../../../ui/download.ts"
import { useStore } from "../../../ui/hooks.ts"
import { Failure } from "../../../ui/States.tsx"

/**
 * The decision record of the service as one page. A link opens it; where the service requires a key, which a link
 * cannot send, the page is saved as a file.
 */
export const RecordButton = ({ runId }: { readonly runId: string }) => {
  const { key } = useStore(session)
  const save = useMutation({
    mutationFn: () => callFor("text/html", (api) => api.decisions.why({ params: { id: runId } })),
    onSuccess: (page) => {
      if (typeof page === "string") download(`decision-${runId}.html`, "text/html", page)
    }
  })
  if (key === undefined) {
    return (
      <a
        className="btn"
        href={`${SERVICE_PATH}/runs/${encodeURIComponent(runId)}/decision/why`}
        target="_blank"
        rel="noreferrer"
        title="The decision record as one page"
      >
        <FileText size={14} aria-hidden /> Decision record
      </a>
    )
  }
  return (
    <>
      <button type="button" className="btn" disabled={save.isPending} onClick={() => save.mutate()}>
        <FileText size={14} aria-hidden /> {save.isPending ? "Saving…" : "Decision record"}
      </button>
      <Overlay open={save.isError} onClose={() => save.reset()} title="Decision record">
        <Failure what="The decision record could not be read" error={save.error} />
      </Overlay>
    </>
  )
}
