import type { InboxItem } from "@runplane/api"
import { type AnswerAct, MAX_REASON } from "@runplane/domain"
import { type ReactNode, useEffect, useId, useRef, useState } from "react"
import { signInAddress } from "../../client/Inbox.ts"
import { hasPasskeys } from "../../client/Passkeys.ts"
import { ACTS, CONFIDENT, confidenceIn, consequenceText, REFUSING, shortHash } from "../../view/inbox/InboxWords.ts"
import { shownPart } from "../../view/inbox/ItemChanges.ts"
import { readDraft, writeDraft } from "./Drafts.ts"
import { RefusedAnswer } from "./RefusedAnswer.tsx"
import { ReturnForm } from "./ReturnForm.tsx"
import { SteadyButton } from "./SteadyButton.tsx"
import { refusedBy, type SentAnswer } from "./useAnswer.ts"
import { useChanges, useSteady } from "./useSteady.ts"

interface AnswerBarProps {
  readonly item: InboxItem
  /** Whether this browser computed the hash of the item. */
  readonly isBound: boolean
  readonly send: SentAnswer
  readonly link?: LinkParts | undefined
}

/** What a personal link adds to the page of its question. */
export interface LinkParts {
  /** Above the question: whose link it is. */
  readonly head: ReactNode
  /** Before the last press: the code. */
  readonly code: ReactNode
  /** Why the code is not complete; undefined for one that is. */
  readonly missing: string | undefined
}

/** Choose, then confirm. Nothing can be pressed in the first moment after a change. */
export const AnswerBar = ({ isBound, item, link, send }: AnswerBarProps) => {
  const [chosen, setChosen] = useState<AnswerAct>()
  const [isReturning, setReturning] = useState(false)
  const changes = useChanges(item)
  const act = chosen !== undefined && item.acts.includes(chosen) ? chosen : undefined
  const isSteady = useSteady(`${isReturning ? "return" : (act ?? "choose")} ${shownPart(item)}`)
  const obstacle = obstacleOf(item, isBound)
  return (
    <section
      aria-label="Your answer"
      className="sticky bottom-0 border-t border-line bg-panel px-4 pt-3 pb-[max(1rem,env(safe-area-inset-bottom))]"
      data-steady={isSteady}
    >
      <div role="status">
        {changes.length === 0 ? null : (
          <div className="mb-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
            {changes.map((line) => (
              <p key={line}>{line}</p>
            ))}
          </div>
        )}
      </div>
      {isReturning ? (
        <ReturnForm item={item} isSteady={isSteady} onBack={() => setReturning(false)} />
      ) : obstacle !== undefined ? (
        obstacle
      ) : act === undefined ? (
        <Choose item={item} isSteady={isSteady} onChoose={setChosen} />
      ) : (
        <ConfirmAct
          key={act}
          item={item}
          act={act}
          isSteady={isSteady}
          send={send}
          link={link}
          onBack={() => setChosen(undefined)}
        />
      )}
      {item.mayAnswer && act === undefined && !isReturning && link === undefined ? (
        <button
          type="button"
          className="btn btn-quiet mt-2 h-10 w-full justify-center text-[14px]"
          onClick={() => setReturning(true)}
        >
          Return it to the group or a colleague
        </button>
      ) : null}
    </section>
  )
}

/** Why this person cannot answer now; undefined if it can. */
const obstacleOf = (item: InboxItem, isBound: boolean): ReactNode => {
  const { acts, id, mayAnswer, mayNotBecause, proof, unavailable } = item
  if (!isBound) return <p className="text-bad">The hash of this question could not be confirmed: no answer is sent.</p>
  if (!mayAnswer) return <p>You may not answer{mayNotBecause === undefined ? "" : `: ${mayNotBecause}`}.</p>
  if (unavailable !== undefined) return <p>It takes no answer now: {unavailable}.</p>
  if (proof.needed === "fresh" && proof.given !== "fresh") {
    return (
      <>
        <p>This question requires a sign-in of the last five minutes.</p>
        <a className="btn btn-main mt-2 h-11 w-full justify-center text-[15px]" href={signInAddress(id, true)}>
          Sign in again
        </a>
      </>
    )
  }
  if (proof.needed === "passkey" && !hasPasskeys()) {
    return <p>This question requires a passkey, and this browser has none: open it in another one.</p>
  }
  return acts.length === 0 ? <p>No answer is possible now.</p> : undefined
}

const looks: Readonly<Partial<Record<AnswerAct, string>>> = {
  approve: "btn-for",
  accept: "btn-for",
  reject: "btn-against",
  decline: "btn-against"
}

const Choose = ({
  isSteady,
  item,
  onChoose
}: {
  readonly item: InboxItem
  readonly isSteady: boolean
  readonly onChoose: (act: AnswerAct) => void
}) => (
  <>
    {item.closedActs === undefined ? null : <p className="mb-2 text-muted">Not any more: {item.closedActs}.</p>}
    <div className="grid grid-cols-[repeat(auto-fit,minmax(5.5rem,1fr))] gap-2">
      {item.acts.map((act) => (
        <SteadyButton key={act} className={looks[act] ?? ""} isSteady={isSteady} onPress={() => onChoose(act)}>
          {ACTS[act]}
        </SteadyButton>
      ))}
    </div>
  </>
)

const RECOMMENDATIONS = ["APPROVE", "REVIEW", "BLOCK", "REJECT"] as const
const SEVERITIES = ["low", "medium", "high", "critical"] as const
const WORDS: Readonly<Record<(typeof RECOMMENDATIONS)[number], string>> = {
  APPROVE: "Approve",
  REVIEW: "Review",
  BLOCK: "Block",
  REJECT: "Reject"
}

const ConfirmAct = ({
  act,
  isSteady,
  item,
  link,
  onBack,
  send
}: {
  readonly item: InboxItem
  readonly act: AnswerAct
  readonly isSteady: boolean
  readonly send: SentAnswer
  readonly link: LinkParts | undefined
  readonly onBack: () => void
}) => {
  const [reason, setReason] = useState(() => readDraft(item.id))
  const [recommendation, setRecommendation] = useState<(typeof RECOMMENDATIONS)[number]>()
  const [severity, setSeverity] = useState<(typeof SEVERITIES)[number]>()
  const [confidence, setConfidence] = useState("")
  const [missing, setMissing] = useState("")
  const reasonField = useRef<HTMLTextAreaElement>(null)
  const first = useRef<HTMLDivElement>(null)
  const reasonId = useId()
  useEffect(() => {
    // A refusal begins with its reason.
    if (REFUSING.has(act)) reasonField.current?.focus()
    else first.current?.querySelector("button")?.focus()
  }, [act])
  const isRequired = item.reasonRule === "required"
  const confirm = () => {
    if (isRequired && reason.trim() === "") {
      setMissing("Write a reason first.")
      reasonField.current?.focus()
      return
    }
    if (act === "evaluate" && recommendation === undefined) return setMissing("Choose what you recommend.")
    if (act === "object" && severity === undefined) return setMissing("Choose how severe it is.")
    const sure = CONFIDENT.has(act) ? confidenceIn(confidence) : undefined
    if (sure === "invalid") return setMissing("Write a confidence from 0 to 1, such as 0.8, or none.")
    if (link?.missing !== undefined) return setMissing(link.missing)
    setMissing("")
    send.mutate({
      act,
      reason: reason.trim(),
      ...(act === "evaluate" && recommendation !== undefined && { recommendation }),
      ...(sure !== undefined && { confidence: sure }),
      ...(act === "object" && severity !== undefined && { severity })
    })
  }
  const consequence = item.consequences?.find((one) => one.act === act)
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      {consequence === undefined ? null : <p className="mb-2 text-soft">{consequenceText(consequence)}</p>}
      {act === "evaluate" ? (
        <Options
          name="You recommend"
          chosen={recommendation}
          of={RECOMMENDATIONS}
          words={WORDS}
          onChoose={setRecommendation}
        />
      ) : null}
      {act === "object" ? <Options name="Severity" chosen={severity} of={SEVERITIES} onChoose={setSeverity} /> : null}
      <label htmlFor={reasonId} className="label">
        Reason, {isRequired ? "required" : "optional"}: the participants of the session read it
      </label>
      <textarea
        ref={reasonField}
        id={reasonId}
        rows={2}
        maxLength={MAX_REASON}
        className="field mt-1 w-full text-[16px]"
        value={reason}
        aria-required={isRequired}
        onChange={({ target: { value } }) => {
          setReason(value)
          writeDraft(item.id, value)
        }}
      />
      {CONFIDENT.has(act) ? (
        <label htmlFor={`${reasonId}sure`} className="label mt-2 flex flex-wrap items-center gap-x-2">
          Confidence, optional
          <input
            id={`${reasonId}sure`}
            inputMode="decimal"
            placeholder="0 to 1"
            autoComplete="off"
            className="field h-9 w-20 text-[16px]"
            value={confidence}
            onChange={({ target: { value } }) => setConfidence(value)}
          />
          {act === "evaluate" ? null : "A vote has none in the session: it is in the record of the run alone."}
        </label>
      ) : null}
      {link?.code}
      <div role="alert">
        {missing === "" ? null : <p className="mt-1 text-bad">{missing}</p>}
        {send.error === null ? null : <RefusedAnswer itemId={item.id} refused={refusedBy(send.error)} />}
      </div>
      {item.proof.needed === "passkey" ? (
        <p className="mt-1 text-soft">Your passkey signs this answer: confirm it on your device next.</p>
      ) : null}
      <div ref={first} className="mt-2 grid grid-cols-[minmax(0,1fr)_auto] gap-2">
        <SteadyButton
          className={looks[act] ?? "btn-main"}
          isSteady={isSteady}
          isBusy={send.isPending}
          onPress={confirm}
        >
          {send.isPending ? "Sending…" : `${ACTS[act]} ${shortHash(item.proposalHash)}`}
        </SteadyButton>
        <button type="button" className="btn h-12 px-4 text-[15px]" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  )
}

function Options<A extends string>({
  chosen,
  name,
  of,
  onChoose,
  words
}: {
  readonly name: string
  readonly of: ReadonlyArray<A>
  readonly words?: Readonly<Record<A, string>>
  readonly chosen: A | undefined
  readonly onChoose: (one: A) => void
}) {
  const group = useId()
  return (
    <fieldset className="mb-2">
      <legend className="label">{name}</legend>
      <div className="mt-1 flex flex-wrap gap-x-4 gap-y-1">
        {of.map((one) => (
          <label key={one} className="inline-flex min-h-8 items-center gap-1.5 text-[15px]">
            <input type="radio" name={group} checked={chosen === one} onChange={() => onChoose(one)} />
            {words?.[one] ?? one}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
