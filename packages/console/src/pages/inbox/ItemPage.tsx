import type { InboxItem } from "@runplane/api"
import { unreachedPersons } from "@runplane/domain"
import { ArrowLeft } from "lucide-react"
import { type ReactNode, useMemo } from "react"
import { Link } from "wouter"
import { needsSignIn } from "../../client/Inbox.ts"
import { Time, toneText, UserText } from "../../ui/basics.tsx"
import { CardRings } from "../../ui/decision/CardRings.tsx"
import { useNow, useTitle } from "../../ui/hooks.ts"
import { Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { isOld } from "../../ui/useRead.ts"
import { exactTime } from "../../view/format/Format.ts"
import { bindingOf } from "../../view/inbox/Binding.ts"
import {
  ACTS,
  consequenceText,
  escalatedLines,
  noConsequences,
  shortHash,
  timeLeft,
  withheldText
} from "../../view/inbox/InboxWords.ts"
import { itemCard } from "../../view/inbox/ItemCard.ts"
import { assigneeText, differenceOf, returnText } from "../../view/inbox/ItemChanges.ts"
import { subjectOf } from "../../view/inbox/PayloadText.ts"
import { AnswerBar, type LinkParts } from "./AnswerBar.tsx"
import { Outcome } from "./Outcome.tsx"
import { QuestionPart } from "./QuestionPart.tsx"
import { SignInFirst } from "./SignInFirst.tsx"
import { refusedBy, type SentAnswer, useAnswer } from "./useAnswer.ts"
import { useItem } from "./useInbox.ts"

/** One question on one screen. */
export const ItemPage = ({ id }: { readonly id: string }) => {
  const read = useItem(id)
  const retry = () => void read.refetch()
  useTitle(read.data?.title === undefined ? "Question" : `${read.data.title} · Inbox`)
  const { data } = read
  if (needsSignIn(read.error) && data === undefined) return <SignInFirst itemId={id} />
  if (data === undefined) {
    return read.error === null ? (
      <Skeleton rows={6} height={56} />
    ) : (
      <Failure isPage what="The question cannot be read" error={read.error} retry={retry} />
    )
  }
  const old = isOld(read)
  return (
    <>
      {old ? <Stale since={read.dataUpdatedAt} error={read.error ?? read.failureReason} retry={retry} /> : null}
      <Item item={data} />
    </>
  )
}

/** A question of a person who has signed in. */
const Item = ({ item }: { readonly item: InboxItem }) => {
  const send = useAnswer(item)
  return <ShownItem item={item} send={send} />
}

interface ShownItemProps {
  readonly item: InboxItem
  readonly send: SentAnswer
  /** What the page of a personal link has beside it: its person has no sign-in, and no other page. */
  readonly link?: LinkParts
}

/** A question with everything that its answer rests on, and the answer. */
export const ShownItem = ({ item, link, send }: ShownItemProps) => {
  const { hashed, payload, proposalHash, sessionId } = item
  // A poll gives the same item as another object.
  const bound = JSON.stringify([hashed, payload, proposalHash, sessionId])
  const binding = useMemo(() => bindingOf(item), [bound])
  const card = useMemo(() => itemCard(item), [item])
  const fields = binding.isBound ? binding.fields : undefined
  const { others, question, text } = subjectOf(fields ?? [])
  const shown = question ?? item.title ?? "A question without a title"
  const withheld = withheldText(item)
  return (
    <>
      <div className="flex flex-1 flex-col gap-4 px-4 pt-3 pb-5">
        {link === undefined ? (
          <Link href="/" className="inline-flex w-fit items-center gap-1 py-1 text-accent">
            <ArrowLeft size={15} aria-hidden /> All questions
          </Link>
        ) : (
          link.head
        )}
        <div>
          <h1 className="text-[21px] leading-tight font-semibold tracking-tight">
            <UserText text={shown} />
          </h1>
          <p className="mt-1.5 text-soft">
            <UserText text={item.scenarioRef} /> · from <UserText text={hashed.subject.sender} /> · you act as{" "}
            <UserText text={item.seat} />
          </p>
          <Deadline item={item} />
          {item.suspension === undefined ? null : (
            <p className="mt-1 text-muted first-letter:uppercase">{item.suspension}.</p>
          )}
          <Unreached item={item} />
          <Escalated item={item} />
          {text === undefined ? null : (
            <p className="mt-2 text-[14px] whitespace-pre-wrap">
              <UserText text={text} />
            </p>
          )}
        </div>
        {link === undefined ? <Replaced item={item} /> : null}
        <section
          aria-label="Decision card"
          className="panel grid grid-cols-1 items-center gap-x-6 gap-y-3 p-4 sm:grid-cols-[minmax(0,300px)_minmax(0,1fr)]"
        >
          <div className="mx-auto w-full max-w-[310px]">
            <CardRings
              card={card}
              word={card.word}
              tone={item.state === "open" ? "accent" : "calm"}
              counts={card.counts}
            />
          </div>
          <div className="min-w-0">
            {withheld === undefined ? null : <p className="mb-2 text-soft">{withheld}</p>}
            <Leads item={item} />
          </div>
        </section>
        <Messages item={item} />
        <WhoMay item={item} />
        {link === undefined ? (
          <More title="Questions to the agents" isOpen={(item.questions?.length ?? 0) > 0}>
            <QuestionPart item={item} />
          </More>
        ) : null}
        <More title="Policy" isOpen={false}>
          <p>
            <UserText text={item.policy.version} className="font-medium" />
          </p>
          {item.policy.lines.length === 0 ? (
            <p className="text-soft">Its rules could not be read.</p>
          ) : (
            <ul className="mt-1 list-disc pl-5 text-soft">
              {item.policy.lines.map((line) => (
                <li key={line}>
                  <UserText text={line} />
                </li>
              ))}
            </ul>
          )}
        </More>
        <More title={`Bound to ${shortHash(proposalHash)}`} isOpen={!binding.isBound}>
          {binding.isBound ? (
            <p className="text-soft">
              This browser computed the hash from the bytes of the proposal, and it is the one that your answer names.
            </p>
          ) : (
            <p role="alert" className="text-bad">
              {binding.why} No answer is sent.
            </p>
          )}
          <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
            <dt className="text-muted">SHA-256</dt>
            <dd className="font-mono text-[12px] wrap-anywhere">{proposalHash}</dd>
            <dt className="text-muted">Session</dt>
            <dd className="font-mono text-[12px] wrap-anywhere">{sessionId}</dd>
            {others.map(({ name, text: value }) => (
              <Pair key={name} name={name} text={value} />
            ))}
            {item.run === undefined ? null : (
              <>
                <dt className="text-muted">Run</dt>
                <dd>
                  <a className="text-accent underline" href={item.run.page}>
                    Open it in the console
                  </a>
                </dd>
              </>
            )}
          </dl>
        </More>
      </div>
      {item.state === "open" ? (
        <AnswerBar item={item} isBound={binding.isBound} send={send} link={link} />
      ) : (
        <Outcome item={item} refused={send.error === null ? undefined : refusedBy(send.error)} />
      )}
    </>
  )
}

const Pair = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <>
    <dt className="text-muted">{name}</dt>
    <dd className="wrap-anywhere whitespace-pre-wrap">
      <UserText text={text} />
    </dd>
  </>
)

const Deadline = ({ item: { deadlineAt, state } }: { readonly item: InboxItem }) => {
  const now = useNow(1_000)
  if (state !== "open" && state !== "waiting") return null
  if (deadlineAt === undefined) return <p className="num mt-1 text-muted">No deadline, while the session lives</p>
  const at = Date.parse(deadlineAt)
  const isSoon = at - now < 60_000
  return (
    <p className={`num mt-1 ${isSoon ? "font-medium text-warn" : "text-muted"}`}>
      <time dateTime={deadlineAt} title={exactTime(at)}>
        {timeLeft(at, now)}
      </time>
    </p>
  )
}

/** Who was not notified, and why. */
const Unreached = ({ item: { notices = [] } }: { readonly item: InboxItem }) => {
  const text = unreachedPersons(notices)
  return text === undefined ? null : (
    <p className="mt-1 text-warn">
      <UserText text={text} />
    </p>
  )
}

/** For whom the person answers, and who was added since the question opened: a line each. */
const Escalated = ({ item }: { readonly item: InboxItem }) => (
  <>
    {item.onBehalfOf === undefined ? null : (
      <p className="mt-1 font-medium">
        You answer for <UserText text={item.onBehalfOf} />
      </p>
    )}
    {escalatedLines(item).map(({ at, missing, step, text }) => (
      <p key={step} className={`mt-1 ${missing === undefined ? "text-muted" : "text-warn"}`}>
        <UserText text={text} /> at <Time at={at} />
        {missing === undefined ? null : `: ${missing}`}
      </p>
    ))}
  </>
)

/** What each answer leads to, or why that is not shown. */
const Leads = ({ item }: { readonly item: InboxItem }) => {
  if (item.state !== "open") return null
  const { consequences } = item
  if (consequences === undefined) return <p className="text-soft">{noConsequences(item)}</p>
  return (
    <>
      <h2 className="font-semibold">What your answer leads to</h2>
      <dl className="mt-1 flex flex-col gap-1">
        {consequences.map((one) => (
          <div key={one.act}>
            <dt className="inline font-medium">{ACTS[one.act]}: </dt>
            <dd className="inline text-soft">{consequenceText(one)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const Messages = ({ item: { messages } }: { readonly item: InboxItem }) =>
  messages.length === 0 ? null : (
    <section aria-label="What the others say">
      <h2 className="font-semibold">What the others say</h2>
      <ul className="mt-1.5 flex flex-col gap-2">
        {messages.map((one) => (
          <li key={one.ordinal} className="border-l-2 border-line-strong pl-3">
            <UserText text={one.by} className="font-medium" />{" "}
            <span className="text-muted">
              {saidWords(one)}
              {one.confidence === undefined ? null : ` · confidence ${Math.round(one.confidence * 100)} %`}
            </span>
            {one.reason === undefined || one.reason === "" ? null : (
              <p className="text-soft">
                <UserText text={one.reason} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  )

/** Who may answer, and who returned it with which reason. */
const WhoMay = ({ item: { assigned, returns } }: { readonly item: InboxItem }) => (
  <More title="Who may answer" isOpen={returns.length > 0}>
    <p className="text-soft">
      <UserText text={assigned.map(({ to }) => assigneeText(to)).join(", ")} />
    </p>
    {returns.length === 0 ? null : (
      <ul className="mt-2 flex flex-col gap-2">
        {returns.map(({ at, by, reason, to }) => (
          <li key={`${at} ${by}`} className="border-l-2 border-line-strong pl-3">
            <UserText text={returnText(by, to)} className="font-medium" />{" "}
            <span className="text-muted">
              <Time at={at} />
            </span>
            <p className="text-soft">
              <UserText text={reason} />
            </p>
          </li>
        ))}
      </ul>
    )}
  </More>
)

const VERDICTS: Readonly<Record<string, string>> = {
  APPROVE: "approve",
  REJECT: "reject",
  ABSTAIN: "abstain",
  BLOCK: "block",
  REVIEW: "review"
}

const saidWords = ({ recommendation, severity, type, vote }: InboxItem["messages"][number]): string => {
  const word = (text: string) => VERDICTS[text] ?? text
  if (vote !== undefined) return `votes ${word(vote)}`
  if (recommendation !== undefined) return `recommends to ${word(recommendation)}`
  if (severity !== undefined) return `objects, severity ${severity}`
  return type === "HandoffContext" ? "adds a context" : type
}

const More = ({
  children,
  isOpen,
  title
}: {
  readonly title: string
  readonly isOpen: boolean
  readonly children: ReactNode
}) => (
  <details open={isOpen} className="panel px-3">
    <summary className="cursor-pointer py-2.5 font-medium">{title}</summary>
    <div className="pb-3">{children}</div>
  </details>
)

/** What is different from the question that this one replaces. */
const Replaced = ({ item }: { readonly item: InboxItem }) =>
  item.replaces === undefined ? null : <Difference item={item} before={item.replaces} />

const Difference = ({ before, item }: { readonly item: InboxItem; readonly before: string }) => {
  const was = useItem(before).data
  return (
    <section aria-label="What changed" className={`panel border-warn p-3 ${toneText.warn}`}>
      <h2 className="font-semibold">
        It replaces{" "}
        <Link href={`/${before}`} className="underline">
          an earlier question
        </Link>
      </h2>
      {was === undefined ? null : (
        <ul className="mt-1 list-disc pl-5">
          {differenceOf(was, item).map((line) => (
            <li key={line}>
              <UserText text={line} />
            </li>
          ))}
        </ul>
      )}
      <p className="mt-1">
        Asked <Time at={item.createdAt} />.
      </p>
    </section>
  )
}
