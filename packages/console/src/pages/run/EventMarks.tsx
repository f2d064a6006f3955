import type { CanonicalEvent, MarkTarget } from "@runplane/domain"
import { Flag, MessageSquare } from "lucide-react"
import { Suspense } from "react"
import { DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { lazily } from "../../ui/lazily.ts"
import { MarkList } from "../../ui/marks/MarkList.tsx"
import { useMarksHere } from "../../ui/marks/MarksHere.ts"
import { useMay } from "../../ui/useMe.ts"

const CommentDialog = lazily(() => import("../../ui/marks/CommentDialog.tsx"))
const AddMarkDialog = lazily(() => import("../../ui/marks/AddMarkDialog.tsx"))

/** What a mark of an event judges, by its type. */
const targetOf = ({ id, type }: CanonicalEvent): readonly [target: MarkTarget, title: string] =>
  type === "llm.call.completed"
    ? [{ kind: "llmCall", id }, "This model call"]
    : type === "decision.finalized"
      ? [{ kind: "decision", id }, "This decision"]
      : [{ kind: "event", id }, "This event"]

/** The comments and marks of the selected event, and the dialogs that add them. */
export const EventMarks = ({ event }: { readonly event: CanonicalEvent }) => {
  const shown = useMarksHere()
  const may = useMay()
  if (shown === undefined) return null
  const marks = shown.placed.byIndex.get(event.index) ?? []
  return (
    <section aria-label="Comments and marks">
      <div className="mb-1 flex items-center justify-between gap-2">
        <h3 className="label">Comments and marks</h3>
        {may("operator") && !shown.isReadOnly ? (
          <span className="flex">
            <DialogButton
              className="btn btn-quiet px-1.5 text-soft"
              dialog={(close) => (
                <Suspense fallback={null}>
                  <CommentDialog
                    runId={shown.runId}
                    target={targetOf(event)[0]}
                    about={`event ${event.index}`}
                    onClose={close}
                  />
                </Suspense>
              )}
            >
              <MessageSquare size={13} aria-hidden /> Comment
            </DialogButton>
            <DialogButton
              className="btn btn-quiet px-1.5 text-soft"
              dialog={(close) => (
                <Suspense fallback={null}>
                  <AddMarkDialog runId={shown.runId} targets={[targetOf(event)]} onClose={close} />
                </Suspense>
              )}
            >
              <Flag size={13} aria-hidden /> Add a mark
            </DialogButton>
          </span>
        ) : null}
      </div>
      {marks.length === 0 ? <p className="text-muted">None.</p> : <MarkList marks={marks} shown={shown} />}
    </section>
  )
}
