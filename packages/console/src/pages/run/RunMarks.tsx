import { COMMENT, MAX_MARK_CATEGORY, type MarkTarget } from "@runplane/domain"
import { Flag, MessageSquare } from "lucide-react"
import { Suspense, useEffect, useState } from "react"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { useShortcuts } from "../../ui/Keys.ts"
import { lazily } from "../../ui/lazily.ts"
import { MarkChip } from "../../ui/marks/MarkChip.tsx"
import type { ShownMarks } from "../../ui/marks/MarksHere.ts"
import { all, useShownMarks } from "../../ui/marks/useMarks.ts"
import { useMay } from "../../ui/useMe.ts"
import { counted, cut, LINES_LENGTH } from "../../view/format/Format.ts"
import { authorText, commentsOf } from "../../view/marks/Marks.ts"
import type { ShownRun } from "./useShown.ts"

const AddMarkDialog = lazily(() => import("../../ui/marks/AddMarkDialog.tsx"))
const CommentDialog = lazily(() => import("../../ui/marks/CommentDialog.tsx"))
const AllMarks = lazily(() => import("./AllMarks.tsx"))

/** Chips of the header, and participants that the dialog offers. */
const MOST = 4
/** The latest comments; the list of all marks has the others. */
const MOST_COMMENTS = 3
const MOST_PARTICIPANTS = 100

interface RunMarksProps {
  readonly shown: ShownRun
  /** Gives the marks to the other views. */
  readonly setMarks: (marks: ShownMarks) => void
}

/** The comments and marks of the run and of its decision, and the dialogs that add them and list all. */
export default function RunMarks({ setMarks, shown: { run, state } }: RunMarksProps) {
  const isReadOnly = run.storage === "archive"
  const shown = useShownMarks(run.id, all, isReadOnly)
  useEffect(() => setMarks(shown), [setMarks, shown])
  const mayAdd = useMay()("operator") && !isReadOnly
  const [open, setOpen] = useState<"add" | "all" | "comment">()
  const close = () => setOpen(undefined)
  useShortcuts(
    mayAdd
      ? [
          { keys: "m", says: "Add a mark", group: "Run", run: () => setOpen("add") },
          { keys: "c", says: "Comment on the run", group: "Run", run: () => setOpen("comment") }
        ]
      : []
  )
  const { marks, placed, total } = shown
  const comments = commentsOf(placed.ofRun)
  const others = placed.ofRun.filter(({ name }) => name !== COMMENT)
  const hasDecision = state.decision.current?.finalized === true
  return (
    <div className="border-b border-line bg-panel px-4 pb-1.5">
      {comments.length === 0 ? null : (
        <ul className="flex flex-col gap-0.5 py-1.5" aria-label="Comments on the run">
          {comments.slice(-MOST_COMMENTS).map((mark) => (
            <li key={mark.id} className="flex min-w-0 flex-wrap items-baseline gap-x-1.5" data-mark={mark.id}>
              <MessageSquare size={12} aria-hidden className="shrink-0 self-center text-muted" />
              <UserText text={cut(authorText(mark), MAX_MARK_CATEGORY)} className="font-medium" />
              <Time at={mark.createdAt} className="text-[12px] text-muted" />
              <span dir="auto" className="line-clamp-2 min-w-0 wrap-anywhere">
                {cut(mark.comment ?? "", LINES_LENGTH)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {isReadOnly ? (
        <p role="note" className="py-1 text-soft">
          This run has left the database and cannot be changed. The archive has its events and marks, and lacks its raw
          frames, its received spans and the contents of its artifacts.
        </p>
      ) : null}
      <div className="no-print flex flex-wrap items-center gap-x-3 gap-y-1">
        {others.slice(0, MOST).map((mark, at) => (
          <span key={mark.id} className={at === 0 ? "max-w-full" : "max-w-full max-lg:hidden"}>
            <MarkChip mark={mark} shown={shown} />
          </span>
        ))}
        {marks.length === 0 ? null : (
          <button type="button" className="text-[12px] text-accent underline" onClick={() => setOpen("all")}>
            {counted(total, "mark")}
          </button>
        )}
        {placed.indexes.length === 0 ? null : (
          <span className="max-sm:hidden">
            <Chip>{counted(placed.indexes.length, "marked event")}</Chip>
          </span>
        )}
        {mayAdd ? (
          <button
            type="button"
            className="btn btn-quiet h-6 px-1.5 text-[12px] text-soft"
            onClick={() => setOpen("comment")}
          >
            <MessageSquare size={13} aria-hidden /> Comment
          </button>
        ) : null}
        {mayAdd ? (
          <button
            type="button"
            className="btn btn-quiet h-6 px-1.5 text-[12px] text-soft"
            onClick={() => setOpen("add")}
          >
            <Flag size={13} aria-hidden /> Add a mark
          </button>
        ) : null}
        <Suspense fallback={null}>
          {open === "add" ? (
            <AddMarkDialog
              runId={run.id}
              targets={[
                ...(hasDecision ? [[{ kind: "decision" }, "The decision"] as const] : []),
                [{ kind: "run" }, "The run"],
                ...state.participants
                  .slice(0, MOST_PARTICIPANTS)
                  .map(
                    ({ participantId: id }) =>
                      [{ kind: "participant", id } satisfies MarkTarget, cut(id, MAX_MARK_CATEGORY)] as const
                  )
              ]}
              onClose={close}
            />
          ) : open === "comment" ? (
            <CommentDialog runId={run.id} target={{ kind: "run" }} about="the run" onClose={close} />
          ) : open === "all" ? (
            <AllMarks shown={shown} onClose={close} />
          ) : null}
        </Suspense>
      </div>
    </div>
  )
}
