import { type EventOf, wholeStart } from "@runplane/domain"
import { useMemo, useState } from "react"
import { Chip } from "../../../ui/basics.tsx"
import { counted, whole } from "../../../view/format/Format.ts"
import { conversationOf, redactedPieces } from "../../../view/run/Spending.ts"

const LETTERS_AT_ONCE = 6_000

/** The prompt and the response of a call of a language model, with marks at redactions. */
export const Conversation = ({ event }: { readonly event: EventOf<"llm.call.completed"> }) => {
  const { prompt, response } = useMemo(() => conversationOf(event), [event])
  return (
    <section className="panel p-4" aria-label="Prompt and response">
      <h2 className="font-semibold">Prompt and response of event {event.index}</h2>
      {prompt === undefined && response === undefined ? (
        <p className="mt-1 text-muted">
          The agent reported the call without its texts
          {event.data.artifactId === undefined ? "." : `; they are in the artifact ${event.data.artifactId}.`}
        </p>
      ) : (
        <div className="mt-2 grid gap-4 lg:grid-cols-2">
          <Words title="Prompt" text={prompt} />
          <Words title="Response" text={response} />
        </div>
      )}
    </section>
  )
}

const Words = ({ text, title }: { readonly title: string; readonly text: string | undefined }) => {
  const [shown, setShown] = useState(LETTERS_AT_ONCE)
  const pieces = useMemo(() => redactedPieces(wholeStart(text ?? "", shown)), [text, shown])
  const redacted = pieces.filter(({ isRedacted }) => isRedacted).length
  return (
    <div className="min-w-0">
      <h3 className="label flex items-center gap-2">
        {title} {text === undefined ? "" : `· ${counted(text.length, "character")}`}
        {redacted === 0 ? null : <Chip tone="warn">{counted(redacted, "redaction")}</Chip>}
      </h3>
      {text === undefined ? (
        <p className="text-muted">not reported</p>
      ) : (
        <pre
          role="region"
          tabIndex={0}
          aria-label={title}
          className="mt-1 max-h-[320px] overflow-auto rounded-md bg-sunken p-3 font-mono text-[12px] wrap-anywhere whitespace-pre-wrap"
        >
          <bdi>
            {pieces.map(({ isRedacted, text: piece }, at) =>
              isRedacted ? (
                <mark key={at} className="rounded bg-warn-soft px-1 font-semibold text-warn">
                  {piece}
                </mark>
              ) : (
                <span key={at}>{piece}</span>
              )
            )}
          </bdi>
        </pre>
      )}
      {text === undefined || text.length <= shown ? null : (
        <button type="button" className="text-accent underline" onClick={() => setShown(shown * 4)}>
          {whole(text.length - shown)} more characters
        </button>
      )}
    </div>
  )
}
