import type { InboxItem } from "@runplane/api"
import { MAX_QUESTION } from "@runplane/domain"
import { useId, useState } from "react"
import { problemOf } from "../../client/Problem.ts"
import { Time, UserText } from "../../ui/basics.tsx"
import { refusedQuestion } from "../../view/inbox/AnswerResult.ts"
import { RefusedAnswer } from "./RefusedAnswer.tsx"
import { useQuestion } from "./useAnswer.ts"

/** The questions to the agents, and the form for another one while the item is open. */
export const QuestionPart = ({ item }: { readonly item: InboxItem }) => {
  const [text, setText] = useState("")
  const send = useQuestion(item)
  const fieldId = useId()
  const press = () => {
    if (text.trim() !== "") send.mutate(text.trim(), { onSuccess: () => setText("") })
  }
  return (
    <>
      {(item.questions ?? []).map((one) => (
        <div key={`${one.at} ${one.by}`} className="mb-2 border-l-2 border-line-strong pl-3">
          <UserText text={one.by} className="font-medium" />{" "}
          <span className="text-muted">
            <Time at={one.at} />
          </span>
          <p className="whitespace-pre-wrap text-soft">
            <UserText text={one.text} />
          </p>
        </div>
      ))}
      {item.state === "open" && item.mayAnswer ? (
        <form onSubmit={(event) => event.preventDefault()}>
          <p className="text-soft">
            A question decides nothing: it is stored with the run, for agents that read it there. The agents of the kit
            do not read it.
          </p>
          <label htmlFor={fieldId} className="label mt-2 block">
            Question
          </label>
          <textarea
            id={fieldId}
            rows={2}
            maxLength={MAX_QUESTION}
            className="field mt-1 w-full text-[16px]"
            value={text}
            onChange={({ target: { value } }) => setText(value)}
          />
          <div role="alert">
            {send.error === null ? null : (
              <RefusedAnswer itemId={item.id} refused={refusedQuestion(problemOf(send.error, ""))} />
            )}
          </div>
          <button
            type="button"
            className="btn mt-2 h-10 px-4 text-[14px]"
            disabled={send.isPending || text.trim() === ""}
            onClick={press}
          >
            {send.isPending ? "Sending…" : "Send the question"}
          </button>
        </form>
      ) : null}
    </>
  )
}
