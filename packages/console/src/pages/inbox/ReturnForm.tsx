import type { InboxItem } from "@runplane/api"
import { MAX_REASON } from "@runplane/domain"
import { useEffect, useId, useRef, useState } from "react"
import { problemOf } from "../../client/Problem.ts"
import { refusedReturn } from "../../view/inbox/AnswerResult.ts"
import { RefusedAnswer } from "./RefusedAnswer.tsx"
import { SteadyButton } from "./SteadyButton.tsx"
import { useReturn } from "./useAnswer.ts"

const TO = { all: "All who may answer", person: "A colleague", group: "A group" } as const
type To = keyof typeof TO
const isTo = (value: string): value is To => value in TO

/** Gives the question back, or to a colleague. The person that returns it may still answer. */
export const ReturnForm = ({
  isSteady,
  item,
  onBack
}: {
  readonly item: InboxItem
  readonly isSteady: boolean
  readonly onBack: () => void
}) => {
  const [to, setTo] = useState<To>("all")
  const [name, setName] = useState("")
  const [reason, setReason] = useState("")
  const [missing, setMissing] = useState("")
  const reasonField = useRef<HTMLTextAreaElement>(null)
  const nameField = useRef<HTMLInputElement>(null)
  const send = useReturn(item)
  const ids = useId()
  useEffect(() => reasonField.current?.focus(), [])
  const press = () => {
    if (to !== "all" && !/^\S+$/.test(name.trim())) {
      setMissing(to === "person" ? "Write the id of the colleague, without spaces." : "Write the id of the group.")
      nameField.current?.focus()
      return
    }
    if (reason.trim() === "") {
      setMissing("Write a reason first.")
      reasonField.current?.focus()
      return
    }
    setMissing("")
    send.mutate(
      { ...(to !== "all" && { to: `${to}:${name.trim()}` }), reason: reason.trim() },
      { onSuccess: () => onBack() }
    )
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <p className="mb-2 text-soft">
        A return makes no decision: all who may answer still may, you too, and they read your reason.
      </p>
      <div className="flex flex-wrap gap-2">
        <label className="label flex min-w-0 flex-1 flex-col gap-1" htmlFor={`${ids}to`}>
          Return to
          <select
            id={`${ids}to`}
            className="field h-10 w-full text-[16px]"
            value={to}
            onChange={({ target: { value } }) => isTo(value) && setTo(value)}
          >
            {Object.entries(TO).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {to === "all" ? null : (
          <label className="label flex min-w-0 flex-1 flex-col gap-1" htmlFor={`${ids}name`}>
            {to === "person" ? "Id of the colleague" : "Id of the group"}
            <input
              ref={nameField}
              id={`${ids}name`}
              className="field h-10 w-full text-[16px]"
              autoCapitalize="off"
              autoComplete="off"
              spellCheck={false}
              maxLength={MAX_NAME}
              value={name}
              onChange={({ target: { value } }) => setName(value)}
            />
          </label>
        )}
      </div>
      <label htmlFor={`${ids}reason`} className="label mt-2 block">
        Reason, required: all who may answer read it
      </label>
      <textarea
        ref={reasonField}
        id={`${ids}reason`}
        rows={2}
        maxLength={MAX_REASON}
        className="field mt-1 w-full text-[16px]"
        value={reason}
        aria-required
        onChange={({ target: { value } }) => setReason(value)}
      />
      <div role="alert">
        {missing === "" ? null : <p className="mt-1 text-bad">{missing}</p>}
        {send.error === null ? null : (
          <RefusedAnswer itemId={item.id} refused={refusedReturn(problemOf(send.error, ""))} />
        )}
      </div>
      <div className="mt-2 grid grid-cols-[minmax(0,1fr)_auto] gap-2">
        <SteadyButton className="btn-main" isSteady={isSteady} isBusy={send.isPending} onPress={press}>
          {send.isPending ? "Returning…" : "Return the question"}
        </SteadyButton>
        <button type="button" className="btn h-12 px-4 text-[15px]" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  )
}

/** Of an assignee at the service, without `person:`. */
const MAX_NAME = 290
