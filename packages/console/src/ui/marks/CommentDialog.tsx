import { COMMENT, MAX_MARK_COMMENT, type MarkTarget } from "@runplane/domain"
import { useRef, useState } from "react"
import { call } from "../../client/Client.ts"
import { newId } from "../../view/format/NewId.ts"
import { FormDialog, useChange } from "../dialogs/Confirm.tsx"
import { marksKey } from "./useMarks.ts"

interface CommentDialogProps {
  readonly runId: string
  readonly target: MarkTarget
  /** What is commented, for readers. */
  readonly about: string
  readonly onClose: () => void
}

/** Adds a comment on a run, its decision or an event. */
export default function CommentDialog({ about, onClose, runId, target }: CommentDialogProps) {
  const [text, setText] = useState("")
  // A repeated attempt has the key of the first one, unless the text has changed.
  const sent = useRef({ comment: "", idempotencyKey: "" })
  const add = useChange(
    () => {
      const comment = text.trim()
      if (sent.current.comment !== comment) sent.current = { comment, idempotencyKey: newId() }
      const payload = { target, name: COMMENT, value: true, source: "human", ...sent.current } as const
      return call((api) => api.marks.add({ params: { id: runId }, payload }))
    },
    [marksKey(runId)],
    onClose
  )
  return (
    <FormDialog
      title={`Comment on ${about}`}
      button="Add the comment"
      fault="The comment was not stored"
      change={add}
      isReady={text.trim() !== ""}
      onClose={onClose}
    >
      <label className="block">
        <span className="label">Comment</span>
        <textarea
          autoFocus
          rows={5}
          dir="auto"
          maxLength={MAX_MARK_COMMENT}
          className="field mt-1 w-full"
          value={text}
          onChange={({ target: field }) => setText(field.value)}
        />
      </label>
      <p className="text-muted">
        All users see it, with your name and the time. It is stored beside the log, and exports have it.
      </p>
    </FormDialog>
  )
}
