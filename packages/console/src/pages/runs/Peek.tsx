import type { Run } from "@runplane/api"
import { runDuration } from "@runplane/domain"
import { X } from "lucide-react"
import { StatusBadge, Time, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { CardRings } from "../../ui/decision/CardRings.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { Facts, Loaded, TextLink } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { verdictTone } from "../../view/decision/VerdictTone.ts"
import { cut, duration, TITLE_LENGTH, whole } from "../../view/format/Format.ts"
import { serviceNow } from "../../view/live/ServerClock.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import Bulk from "./Bulk.tsx"

/** Sentences of the preview; the page of the run has all. */
const MOST_SENTENCES = 4

/** A run beside the list: decision, facts and actions. */
export default function Peek({
  isBeside,
  onClose,
  run
}: {
  readonly run: Run
  /** Whether the list stays usable beside it; else it covers the list as a dialog. */
  readonly isBeside: boolean
  readonly onClose: () => void
}) {
  const facts = runFacts(run)
  const card = useRead(["card", run.id], (api) => api.decisions.card({ params: { id: run.id }, query: {} }))
  const state = useRead(["run state", run.id], (api) => api.runs.state({ params: { id: run.id } }))
  const elapsed = runDuration(run, serviceNow())
  const content = (
    <>
      <div className="flex flex-wrap items-center gap-3 px-3 pt-3">
        <StatusBadge status={run.status} chip />
        <TextLink href={`/runs/${run.id}`}>Open the run</TextLink>
        <TextLink href={`/compare?left=${run.id}`}>Compare with…</TextLink>
      </div>
      <Loaded read={card} what="The decision of the run cannot be read" rows={6}>
        {(card) => (
          <div className="flex flex-col gap-2 px-4 pt-3">
            {card.question === undefined || card.question === facts.title ? null : (
              <p className="font-semibold">
                <UserText text={cut(card.question, TITLE_LENGTH)} />
              </p>
            )}
            {card.rings.length === 0 ? null : (
              <div className="mx-auto w-full max-w-[340px]">
                <CardRings card={card} word={card.word} tone={verdictTone(card.verdict)} counts={card.counts} />
              </div>
            )}
            {card.sentences.slice(0, MOST_SENTENCES).map(({ text, tone }) => (
              <p key={text} className={tone === "warn" ? "text-warn" : ""}>
                <UserText text={text} />
              </p>
            ))}
          </div>
        )}
      </Loaded>
      <Loaded read={state} what="The state of the run cannot be read" rows={6}>
        {({ participants }) => (
          <Facts
            facts={[
              ...(run.errorMessage === undefined
                ? []
                : [
                    [
                      "Error",
                      <UserText key="error" text={`${run.errorCode ?? ""} ${run.errorMessage}`} className="text-bad" />
                    ] as const
                  ]),
              [
                "Participants",
                <UserText key="who" text={participants.map(({ participantId }) => participantId).join(", ")} />
              ],
              ["Scenario", facts.scenario ?? "–"],
              ["Policy", facts.policy ?? "–"],
              ["Started", run.startedAt === undefined ? "–" : <Time key="started" at={run.startedAt} />],
              ["Duration", elapsed === undefined ? "–" : duration(elapsed)],
              ["Events", whole(run.lastEventIndex)],
              ["Tokens", facts.tokens === undefined ? "–" : whole(facts.tokens)],
              ["Cost", facts.cost === undefined ? "–" : <CostText key="cost" cost={facts.cost} />],
              ["Tags", run.tags.length === 0 ? "–" : run.tags.join(", ")]
            ]}
          />
        )}
      </Loaded>
      <Bulk runs={[run]} onClear={onClose} />
    </>
  )
  if (!isBeside) {
    return (
      <Overlay open onClose={onClose} title={facts.title} form="side">
        {content}
      </Overlay>
    )
  }
  return (
    <aside
      aria-label={`Preview of ${facts.title}`}
      className="flex w-[clamp(320px,32vw,440px)] shrink-0 flex-col border-l border-line bg-raised"
    >
      <div className="flex items-center justify-between gap-3 border-b border-line px-3 py-1.5">
        <h2 className="flex min-w-0 font-semibold">
          <UserText text={cut(facts.title, TITLE_LENGTH)} className="truncate" />
        </h2>
        <button type="button" aria-label="Close the preview" className="btn btn-quiet -mr-2 px-1.5" onClick={onClose}>
          <X size={16} aria-hidden />
        </button>
      </div>
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="region" aria-label="Previewed run">
        {content}
      </div>
    </aside>
  )
}
