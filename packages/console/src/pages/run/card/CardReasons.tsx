import { committedWords, type DecisionCard } from "@runplane/domain"
import { UserText } from "../../../ui/basics.tsx"
import { percent } from "../../../view/format/Format.ts"
import { DecisionProof } from "../decision/DecisionProof.tsx"
import type { ShownRun } from "../useShown.ts"
import { ToneParagraph } from "./ToneParagraph.tsx"

/** Sentences that are shown at once. */
const MOST_SENTENCES = 8

/** Why it was decided so, or why it was not; who committed it, and the proof. */
export const CardReasons = ({ card, shown }: { readonly card: DecisionCard; readonly shown: ShownRun }) => {
  const { action, by, confidence, sentences, verdict } = card
  const { current } = shown.state.decision
  // The verdict says what a standard action says.
  const isStandard = committedWords(action, verdict === "decided" ? null : verdict === "for") !== undefined
  return (
    <div className="flex flex-col gap-2">
      {sentences.slice(0, MOST_SENTENCES).map(({ text, tone }) => (
        <ToneParagraph key={text} text={text} tone={tone} />
      ))}
      {sentences.length > MOST_SENTENCES ? (
        <details>
          <summary className="w-fit cursor-pointer text-accent underline">
            {sentences.length - MOST_SENTENCES} more
          </summary>
          {sentences.slice(MOST_SENTENCES).map(({ text, tone }) => (
            <ToneParagraph key={text} text={text} tone={tone} />
          ))}
        </details>
      ) : null}
      {action === undefined ? null : (
        <div className="text-[12.5px] text-muted">
          <p>
            Committed
            {by === undefined ? null : (
              <>
                {" "}
                by <UserText text={by} />
              </>
            )}
            {isStandard ? null : (
              <>
                : <UserText text={action} />
              </>
            )}
            {confidence === undefined ? null : `, with a stated confidence of ${percent(confidence)}`}
          </p>
          <DecisionProof commitmentHash={current?.commitmentHash} receipt={current?.receipt} />
        </div>
      )}
    </div>
  )
}
