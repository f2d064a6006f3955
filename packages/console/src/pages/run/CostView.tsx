import { useMemo } from "react"
import { Avatar, hue, UserText } from "../../ui/basics.tsx"
import { Empty } from "../../ui/States.tsx"
import { type Call, callsOf, spendersOf } from "../../view/Cost.ts"
import { clockTime, costOf, counted, dollars, duration, whole } from "../../view/Format.ts"
import { columnsOf, isLlmCall } from "../../view/Spending.ts"
import { Conversation } from "./Conversation.tsx"
import { SpendingChart } from "./SpendingChart.tsx"
import type { RunViewProps } from "./useShown.ts"

/** Calls of the table, the latest ones. */
const MOST = 500
const MOST_COLUMNS = 60

/** What the language models cost, by participant and by call. */
export default function CostView({ page, set, shown }: RunViewProps) {
  const calls = useMemo(() => callsOf(shown.events), [shown.events])
  const spenders = useMemo(() => spendersOf(calls), [calls])
  const columns = useMemo(() => columnsOf(calls, MOST_COLUMNS), [calls])
  const selected = page.event === undefined ? undefined : shown.all[page.event - shown.start - 1]
  const { callCount, callsWithoutUsage = 0, completionTokens, ...totals } = shown.state.llm.totals
  const { estimatedCostUsd, guessedCostUsd = 0, promptTokens, totalTokens } = totals
  if (callCount === 0) {
    return <Empty title="No calls of language models">Agents report their calls as signals.</Empty>
  }
  const most = Math.max(1, ...spenders.map((spender) => spender.promptTokens + spender.completionTokens))
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      <div className="mx-auto flex max-w-[1000px] flex-col gap-5 p-4">
        <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4">
          <Figure title="Cost, estimated" value={costOf(estimatedCostUsd, callsWithoutUsage, guessedCostUsd)} />
          <Figure title="Calls" value={whole(callCount)} />
          <Figure title="Tokens" value={whole(totalTokens)} />
          <Figure title="Input + output" value={`${whole(promptTokens)} + ${whole(completionTokens)}`} />
        </dl>
        {callsWithoutUsage === 0 ? null : (
          <p className="text-warn">
            {counted(callsWithoutUsage, "call")} without token counts: tokens and cost do not include them.
          </p>
        )}
        {guessedCostUsd === 0 ? null : (
          <p className="text-warn">
            {dollars(guessedCostUsd)} of the cost is a guess: no price of these models is known. The setting
            PROTO_TOKEN_PRICING_FILE gives them one.
          </p>
        )}
        <section className="panel p-4">
          <h2 className="font-semibold">By participant</h2>
          <ul className="mt-3 flex flex-col gap-3">
            {spenders.map((spender) => {
              const index = shown.participantIndex(spender.who)
              return (
                <li key={spender.who} className="grid grid-cols-[minmax(110px,200px)_1fr_auto] items-center gap-3">
                  <span className="flex min-w-0 items-center gap-2">
                    <Avatar name={spender.who} index={index} size={22} />
                    <UserText text={spender.who} className="truncate font-medium" />
                  </span>
                  <span
                    className="flex h-3 overflow-hidden rounded-sm bg-sunken"
                    title={`${whole(spender.promptTokens)} input and ${whole(spender.completionTokens)} output tokens`}
                  >
                    <span style={{ width: `${(spender.promptTokens / most) * 100}%`, background: hue(index) }} />
                    <span
                      className="opacity-50"
                      style={{ width: `${(spender.completionTokens / most) * 100}%`, background: hue(index) }}
                    />
                  </span>
                  <span className="num text-right whitespace-nowrap">
                    <span className="font-medium">{costOf(spender.costUsd, spender.callsWithoutUsage)}</span>{" "}
                    <span className="text-muted">{whole(spender.totalTokens)} tokens</span>
                  </span>
                </li>
              )
            })}
          </ul>
          <p className="mt-3 text-[12px] text-muted">Solid: input tokens. Pale: output tokens.</p>
        </section>
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
        <section className="panel overflow-x-auto" tabIndex={0} aria-label="Calls">
          <table className="w-full border-collapse text-left">
            <caption className="sr-only">Calls of language models, the latest last</caption>
            <thead>
              <tr className="border-b border-line">
                {["Event", "Time", "Participant", "Model", "Input", "Output", "Duration", "Cost"].map(
                  (title, column) => (
                    <th key={title} scope="col" className={`label px-3 py-2 ${column > 3 ? "text-right" : ""}`}>
                      {title}
                    </th>
                  )
                )}
              </tr>
            </thead>
            <tbody>
              {calls.slice(-MOST).map((call) => (
                <tr key={call.index} className="border-b border-line last:border-0 hover:bg-sunken">
                  <td className="px-3 py-1.5">
                    <button
                      type="button"
                      className="num text-accent underline"
                      onClick={() => set({ event: call.index })}
                    >
                      {call.index}
                    </button>
                  </td>
                  <td className="num px-3 whitespace-nowrap text-soft">{clockTime(call.at)}</td>
                  <td className="px-3">
                    <UserText text={call.who} />
                  </td>
                  <td className="px-3 font-mono text-[12px]">
                    <UserText text={call.model || "not reported"} />
                  </td>
                  <td className="num px-3 text-right">{countIn(call, call.promptTokens)}</td>
                  <td className="num px-3 text-right">{countIn(call, call.completionTokens)}</td>
                  <td className="num px-3 text-right whitespace-nowrap">
                    {call.latencyMs === undefined ? "–" : duration(call.latencyMs)}
                  </td>
                  <td className="num px-3 text-right">{call.costUsd === undefined ? "–" : dollars(call.costUsd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        {calls.length < callCount ? (
          <p className="text-muted">{whole(callCount - calls.length)} calls are not loaded yet.</p>
        ) : null}
      </div>
    </div>
  )
}

/** A count of a call, which is unknown where the agent stated none. */
const countIn = ({ callsWithoutUsage }: Call, tokens: number) => (callsWithoutUsage > 0 ? "missing" : whole(tokens))

const Figure = ({ title, value }: { readonly title: string; readonly value: string }) => (
  <div className="bg-panel p-3">
    <dt className="label">{title}</dt>
    <dd className="num mt-0.5 text-[17px] font-semibold tracking-tight">{value}</dd>
  </div>
)
