import type { LinkedItem } from "@runplane/api"
import { useId, useState } from "react"
import { problemOf } from "../../client/Problem.ts"
import { Time, UserText } from "../../ui/basics.tsx"
import { useTitle } from "../../ui/hooks.ts"
import { Failure, Skeleton } from "../../ui/States.tsx"
import { sentence } from "../../view/inbox/AnswerResult.ts"
import { ShownItem } from "./ItemPage.tsx"
import { useCode, useLinkAnswer, useLinked } from "./useLink.ts"

const CODE = /^[0-9]{6}$/

/** What the link has behind `#`: browsers send that part to no server, and name it to no other page. */
const tokenInAddress = (): string => window.location.hash.slice(1)

/** The question of a personal link, for a person without a sign-in. */
export const LinkPage = () => {
  const [token] = useState(tokenInAddress)
  const [code, setCode] = useState("")
  const [isSent, setSent] = useState(false)
  const read = useLinked(token, isSent)
  const linked = read.data
  const send = useLinkAnswer(token, linked, code)
  useTitle(linked?.item.title ?? "Question")
  const { data: answered } = send
  if (answered !== undefined && !isSent) setSent(true)
  const retry = () => void read.refetch()
  if (read.error !== null && answered === undefined) {
    const { messages, status } = problemOf(read.error, "")
    return status === 404 || status === 410 || status === 403 || status === 400 ? (
      <Over lines={status === 400 ? ["open it as it is in the mail"] : messages} />
    ) : (
      <Failure isPage what="The question cannot be read" error={read.error} retry={retry} />
    )
  }
  if (linked === undefined) return <Skeleton rows={6} height={56} />
  const item =
    answered === undefined ? linked.item : { ...linked.item, state: answered.state, given: answered.given, acts: [] }
  const missing = CODE.test(code) ? undefined : "Write the six digits of the code first."
  return (
    <ShownItem
      item={item}
      send={send}
      link={{
        head: <Owner linked={linked} />,
        code: <CodePart token={token} linked={linked} code={code} onCode={setCode} />,
        missing
      }}
    />
  )
}

/** A link that does nothing, and why. */
const Over = ({ lines }: { readonly lines: ReadonlyArray<string> }) => (
  <section className="panel m-4 p-6 text-center" role="status">
    <h1 className="text-[18px] font-semibold">This link takes no answer</h1>
    {lines.map((line) => (
      <p key={line} className="mt-1 text-soft">
        {sentence(line)}
      </p>
    ))}
  </section>
)

/** Whose link it is, and until when it takes an answer. */
const Owner = ({ linked: { expiresAt, person } }: { readonly linked: LinkedItem }) => (
  <p className="text-muted">
    The link of <UserText text={person} className="font-medium" />, until <Time at={expiresAt} />. Do not forward it:
    who has it can read the question.
  </p>
)

/** The code that comes by another way: it is sent on demand, and typed here. */
const CodePart = ({
  code,
  linked: { codeTo, codesLeft },
  onCode,
  token
}: {
  readonly token: string
  readonly linked: LinkedItem
  readonly code: string
  readonly onCode: (code: string) => void
}) => {
  const sending = useCode(token)
  const fieldId = useId()
  const left = sending.data?.codesLeft ?? codesLeft
  return (
    <div className="mt-2 rounded-md border border-line p-3">
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2">
        <label htmlFor={fieldId} className="label block">
          Code, six digits
          <input
            id={fieldId}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={6}
            className="field num mt-1 h-11 w-full text-[18px] tracking-[0.3em]"
            value={code}
            onChange={({ target: { value } }) => onCode(value.replace(/[^0-9]/g, ""))}
          />
        </label>
        <button
          type="button"
          className="btn h-11 px-3 text-[15px]"
          disabled={sending.isPending || left === 0}
          onClick={() => sending.mutate()}
        >
          {sending.isPending ? "Sending…" : sending.data === undefined ? "Send me a code" : "Send another one"}
        </button>
      </div>
      <p role="status" className="mt-1 text-soft">
        {sending.error !== null
          ? sentence(problemOf(sending.error, "").messages.join("; "))
          : sending.data === undefined
            ? `A code is sent to ${codeTo}, and counts for ten minutes.`
            : `A code was sent to ${codeTo}. It counts for ten minutes; ${left} more can be sent.`}
      </p>
    </div>
  )
}
