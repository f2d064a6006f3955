import type { InboxItem } from "@runplane/api"
import type { ItemState } from "@runplane/domain"
import { Check } from "lucide-react"
import { Link } from "wouter"
import { Time, toneText, UserText } from "../../ui/basics.tsx"
import type { Refused } from "../../view/inbox/AnswerResult.ts"
import { closedText, DONE, STATES } from "../../view/inbox/InboxWords.ts"
import { RefusedAnswer } from "./RefusedAnswer.tsx"

/** What an answer by a link does not prove. */
const LINK_PROOF = "by a personal link, the weakest proof: without a sign-in"

const STEPS: ReadonlyArray<ItemState> = ["answered", "sent", "accepted"]

/** What became of a question: the answer on its way, or why it takes none. */
export const Outcome = ({
  item,
  refused
}: {
  readonly item: InboxItem
  /** Why the answer that this page sent was not taken. */
  readonly refused: Refused | undefined
}) => {
  const { given, newItem, state } = item
  const { tone, word } = STATES[state]
  const step = STEPS.indexOf(state)
  return (
    <section aria-label="Outcome" className="sticky bottom-0 border-t border-line bg-panel p-4" data-state={state}>
      {refused === undefined ? null : (
        <div role="alert" className="mb-3">
          <RefusedAnswer itemId={item.id} refused={refused} />
        </div>
      )}
      {step < 0 ? null : (
        <ol className="mb-2 flex gap-2">
          {STEPS.map((one, at) => (
            <li
              key={one}
              aria-current={at === step ? "step" : undefined}
              className={`flex flex-1 items-center gap-1 border-t-2 pt-1 font-medium ${at <= step ? "border-good text-good" : "border-line text-muted"}`}
            >
              {at <= step ? <Check size={14} aria-hidden /> : null}
              {STATES[one].word}
            </li>
          ))}
        </ol>
      )}
      <p role="status">
        {step < 0 ? <strong className={toneText[tone]}>{word}. </strong> : null}
        {closedText(item) ??
          (state === "waiting"
            ? "The other participants come first. The question opens by itself."
            : "The answer is stored, and on its way into the session.")}
      </p>
      {given === undefined ? null : (
        <p className="mt-1 text-soft">
          {given.by === undefined ? (
            "No answer came by the deadline, and its act was made: the seat "
          ) : (
            <>
              <UserText text={given.by} className="font-medium" />
              {given.onBehalfOf === undefined ? null : (
                <>
                  {" on behalf of "}
                  <UserText text={given.onBehalfOf} />
                </>
              )}
            </>
          )}{" "}
          {given.content === undefined ? "has answered" : DONE[given.content.act]} <Time at={given.at} />
          {given.proof === "link" ? `, ${LINK_PROOF}` : null}
          {given.content === undefined || given.content.reason === "" ? null : (
            <>
              : <UserText text={given.content.reason} />
            </>
          )}
        </p>
      )}
      {newItem === undefined ? null : (
        <Link href={`/${newItem}`} className="btn btn-main mt-3 h-11 w-full justify-center text-[15px]">
          Open the question that follows
        </Link>
      )}
    </section>
  )
}
