import { mayDeleteMark } from "@runplane/api"
import type { Mark } from "@runplane/domain"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import { call } from "../../client/Client.ts"
import { cut } from "../../view/format/Format.ts"
import { authorText, isCurrent } from "../../view/marks/Marks.ts"
import { Chip, Id, Time, UserText } from "../basics.tsx"
import { Confirm, DialogButton } from "../dialogs/Confirm.tsx"
import { useMe } from "../useMe.ts"
import { MarkChip, sourceWords } from "./MarkChip.tsx"
import type { ShownMarks } from "./MarksHere.ts"
import { MARKS_OF_ME, marksKey } from "./useMarks.ts"

/** Characters of a comment that are shown until the reader opens it. */
const SHORT = 400

/** A comment as its author wrote it: text, its lines kept, in the direction of its language. */
const Comment = ({ text }: { readonly text: string }) => {
  const [isWhole, setWhole] = useState(false)
  const short = cut(text, SHORT)
  return (
    <div className="mt-0.5">
      <p dir="auto" className="whitespace-pre-wrap wrap-anywhere" data-comment>
        {isWhole ? text : short}
      </p>
      {short === text ? null : (
        <button
          type="button"
          className="text-[12px] text-accent underline"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all of the comment"}
        </button>
      )}
    </div>
  )
}

/** What a mark judges, for readers. */
const targetText = ({ index, target: { id, kind } }: Mark): string => {
  const at = index === undefined ? "" : ` ${index}`
  if (kind === "participant") return id ?? kind
  return kind === "event" ? `event${at}` : kind === "llmCall" ? `model call${at}` : kind
}

/** Marks with all that is known of each; own ones can be deleted. */
export const MarkList = ({ marks, shown }: { readonly marks: ReadonlyArray<Mark>; readonly shown: ShownMarks }) => {
  const me = useMe()
  return (
    <ul className="flex flex-col">
      {marks.map((mark) => {
        const { comment, deletedAt, deletedBy, id, judge, replacedBy, source } = mark
        return (
          <li
            key={id}
            className={`border-b border-line py-2 last:border-0 ${isCurrent(mark) ? "" : "text-muted"}`}
            data-mark-row={id}
          >
            <div className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
              <MarkChip mark={mark} shown={shown} />
              <UserText text={targetText(mark)} className="text-[12px] text-muted" />
              {replacedBy === undefined ? null : <Chip>replaced</Chip>}
              {!shown.isReadOnly &&
              deletedAt === undefined &&
              me !== undefined &&
              mayDeleteMark(me.id, me.role, mark) ? (
                <span className="ml-auto">
                  <DialogButton
                    className="btn btn-quiet px-1.5 text-soft"
                    title="Delete the mark"
                    dialog={(close) => (
                      <Confirm
                        title="Delete the mark"
                        button="Delete"
                        fault="The mark was not deleted"
                        isHarmful
                        act={() =>
                          call((api) =>
                            api.marks.remove({ params: { id: mark.runId, markId: id }, query: { restore: false } })
                          )
                        }
                        renews={[marksKey(mark.runId), MARKS_OF_ME]}
                        onClose={close}
                      >
                        <p>Its value and its comment are erased. The history keeps that there was a mark.</p>
                      </Confirm>
                    )}
                  >
                    <Trash2 size={13} aria-hidden />
                    <span className="sr-only">Delete the mark</span>
                  </DialogButton>
                </span>
              ) : null}
            </div>
            {source !== "judge" || judge === undefined ? null : (
              <p className="flex flex-wrap items-baseline gap-x-2 text-[12px] text-muted">
                <UserText text={cut(`${sourceWords[source]} ${judge.name}`, 200)} />
                {judge.model === undefined ? null : <UserText text={judge.model} />}
                {judge.promptHash === undefined ? null : <Id id={judge.promptHash} label="hash of the prompt" />}
              </p>
            )}
            {comment === undefined ? null : <Comment text={comment} />}
            {deletedAt === undefined ? null : (
              <p className="text-[12px]">
                deleted by <UserText text={deletedBy ?? authorText(mark)} /> <Time at={deletedAt} />
              </p>
            )}
          </li>
        )
      })}
    </ul>
  )
}
