import { type ReactNode, useMemo } from "react"
import { Avatar, UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import GuessBanner, { HowToFix } from "../../../ui/GuessBanner.tsx"
import { Empty } from "../../../ui/States.tsx"
import { byModel, byParticipant, callsOf, spendingBy } from "../../../view/format/Cost.ts"
import { alignedDollars, costIn, counted, cut, dollars, NAME_LENGTH, whole } from "../../../view/format/Format.ts"
import { guessedModels, guessedShare, isMuchGuessed } from "../../../view/format/Guesses.ts"
import { columnsOf, isLlmCall } from "../../../view/run/Spending.ts"
import type { RunViewProps } from "../useShown.ts"
import { CallTable } from "./CallTable.tsx"
import { Conversation } from "./Conversation.tsx"
import { SpendingChart } from "./SpendingChart.tsx"
import { PricedModel, SpendingTable } from "./SpendingTable.tsx"

/** Calls of the table, the latest ones. */
const MOST = 500
const MOST_COLUMNS = 60

/** What the language models cost, by model, by participant and by call. */
export default function CostView({ page, set, shown }: RunViewProps) {
  const calls = useMemo(() => callsOf(shown.events), [shown.events])
  const models = useMemo(() => spendingBy(calls, byModel), [calls])
  const participants = useMemo(() => spendingBy(calls, byParticipant), [calls])
  const say = useMemo(
    () =>
      alignedDollars(
        [...calls.map(({ data }) => data), ...models, ...participants].map(
          ({ estimatedCostUsd = 0 }) => estimatedCostUsd
        )
      ),
    [calls, models, participants]
  )
  const columns = useMemo(() => columnsOf(calls, MOST_COLUMNS), [calls])
  const selected = page.event === undefined ? undefined : shown.all[page.event - shown.start - 1]
  const { totals: sums } = shown.state.llm
  const { callCount, callsWithoutUsage = 0, guessedCostUsd = 0, totalTokens, uncountedCostUsd } = sums
  const totals = { ...sums, calls: callCount }
  const isKnown = callsWithoutUsage < callCount
  const loaded = calls.reduce((sum, { data }) => sum + data.calls, 0)
  if (callCount === 0) {
    return <Empty title="No calls of language models">Agents report their calls as signals.</Empty>
  }
  const guessed = guessedModels(models)
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      <div className="mx-auto flex max-w-[1200px] flex-col gap-5 p-4">
        <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
          <Figure title="Cost, estimated">
            <CostText cost={costIn(sums)} />
          </Figure>
          <Figure title="Calls">{whole(callCount)}</Figure>
          <Figure title="Tokens">{isKnown ? whole(totalTokens) : "unknown"}</Figure>
          <Figure title="Input + output">
            {isKnown ? `${whole(sums.promptTokens)} + ${whole(sums.completionTokens)}` : "unknown"}
          </Figure>
        </dl>
        {callsWithoutUsage === 0 ? null : (
          <p className="text-warn">
            Usage missing: {counted(callsWithoutUsage, "call")} without token counts. Tokens and cost do not include
            them, so the run cost more than this.
          </p>
        )}
        {uncountedCostUsd === undefined ? null : (
          <p className="text-warn">
            Spans state {dollars(uncountedCostUsd)} for calls that cannot cost as much each. No cost and no budget
            includes them as stated.
          </p>
        )}
        {guessedCostUsd === 0 ? null : isMuchGuessed(sums.estimatedCostUsd, guessedCostUsd) ? (
          <GuessBanner costUsd={sums.estimatedCostUsd} guessedCostUsd={guessedCostUsd} models={guessed} />
        ) : (
          <div className="text-soft">
            {guessedShare(sums.estimatedCostUsd, guessedCostUsd)} of the cost is a guess: {dollars(guessedCostUsd)}.
            <HowToFix models={guessed} />
          </div>
        )}
        <SpendingTable
          title="By model"
          of="Model"
          rows={models}
          say={say}
          totals={totals}
          nameOf={({ first, prices }) => <PricedModel model={first} prices={prices} />}
        />
        <SpendingTable
          title="By participant"
          of="Participant"
          rows={participants}
          say={say}
          totals={totals}
          nameOf={({ first: { sender: who } }) => (
            <span className="flex min-w-0 items-start gap-2" title={who}>
              <Avatar name={who} index={shown.participantIndex(who)} size={20} />
              <UserText text={cut(who, NAME_LENGTH)} className="line-clamp-3 min-w-0 font-medium" />
            </span>
          )}
        />
        {loaded < callCount ? (
          <p className="text-muted">
            {counted(callCount - loaded, "call")} are not loaded: only the rows “All calls” include them.
          </p>
        ) : null}
        <section className="panel p-4" aria-label="Spending">
          <h2 className="mb-3 font-semibold">Call by call</h2>
          <SpendingChart
            columns={columns}
            participantIndex={shown.participantIndex}
            onSelect={(event) => set({ event })}
          />
        </section>
        {isLlmCall(selected) ? (
          <Conversation event={selected} />
        ) : (
          <p className="text-muted">Select a call to read its prompt and response.</p>
        )}
        <CallTable calls={calls.slice(-MOST)} say={say} onSelect={(event) => set({ event })} />
      </div>
    </div>
  )
}

const Figure = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="bg-panel p-3">
    <dt className="label">{title}</dt>
    <dd className="num mt-0.5 text-[17px] font-semibold tracking-tight">{children}</dd>
  </div>
)
