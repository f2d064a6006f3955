import type { RunComparison } from "@runplane/api"
import type { ListedDecision, RunState } from "@runplane/domain"
import type { ReactNode } from "react"
import { Chip, toneText, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { Glyph } from "../../ui/decision/Glyph.tsx"
import { Panel } from "../../ui/kit.tsx"
import type { Cause } from "../../view/compare/Causes.ts"
import { type Side, verdictOf } from "../../view/compare/Verdict.ts"
import { stateVerdict, verdictLabel } from "../../view/decision/StateVerdict.ts"
import { type Cost, costIn, dollars, duration, modeLabel, percent, points, whole } from "../../view/format/Format.ts"
import { Causes } from "./Causes.tsx"

interface SideBySideProps {
  readonly comparison: RunComparison
  /** What the runs were given; undefined until their logs are read. */
  readonly causes: ReadonlyArray<Cause> | undefined
  /** The decisions by run; undefined until they are read. */
  readonly decisions: ReadonlyMap<string, ListedDecision> | undefined
  readonly left: RunState
  readonly right: RunState
  readonly onGoTo: (leftIndex: number) => void
}

const sideOf = ({ decision: { current }, llm }: RunState): Side => ({
  action: current?.finalized === true ? current.action : undefined,
  positive: current?.outcomePositive,
  costUsd: llm.totals.callsWithoutUsage === undefined ? llm.totals.estimatedCostUsd : undefined,
  isGuessed: llm.totals.guessedCostUsd !== undefined
})

/** The verdict in a sentence, then the decisions and the figures of both. */
export const SideBySide = ({ causes, comparison, decisions, left, onGoTo, right }: SideBySideProps) => {
  const { divergence, participantsDiff, signalsDiff } = comparison
  return (
    <>
      <section aria-label="Verdict" className="panel border-accent/40 bg-accent-soft p-4">
        <h2 className="label">Verdict</h2>
        <p className="mt-1 text-[16px] leading-6 font-medium" data-verdict>
          <UserText text={verdictOf(sideOf(left), sideOf(right), comparison)} />
        </p>
        {divergence === null ? null : (
          <p className="mt-2 text-soft">
            {divergence.leftText === null ? null : (
              <>
                Left: <UserText text={divergence.leftText} />.{" "}
              </>
            )}
            {divergence.rightText === null ? null : (
              <>
                Right: <UserText text={divergence.rightText} />.{" "}
              </>
            )}
            <button type="button" className="text-accent underline" onClick={() => onGoTo(divergence.left.index)}>
              Show it below
            </button>
          </p>
        )}
      </section>
      <div className="grid gap-3 md:grid-cols-2">
        <Decision title="Decision, left" state={left} listed={decisions?.get(left.run.runId)} />
        <Decision title="Decision, right" state={right} listed={decisions?.get(right.run.runId)} />
      </div>
      {causes === undefined ? null : <Causes causes={causes} />}
      <Panel title="Figures">
        <Figures comparison={comparison} left={left} right={right} />
      </Panel>
      {participantsDiff.added.length +
        participantsDiff.removed.length +
        signalsDiff.added.length +
        signalsDiff.removed.length ===
      0 ? null : (
        <Panel title="Participants and signals of one run only">
          <div className="grid gap-x-6 gap-y-2 p-3 md:grid-cols-2">
            <Names title="Participants, only left" names={participantsDiff.removed} />
            <Names title="Participants, only right" names={participantsDiff.added} />
            <Names title="Signals, only left" names={signalsDiff.removed} />
            <Names title="Signals, only right" names={signalsDiff.added} />
          </div>
        </Panel>
      )}
    </>
  )
}

const Names = ({ names, title }: { readonly title: string; readonly names: ReadonlyArray<string> }) =>
  names.length === 0 ? null : (
    <p>
      <span className="label">{title}: </span>
      <UserText text={names.join(", ")} />
    </p>
  )

const Decision = ({
  listed,
  state,
  title
}: {
  readonly title: string
  readonly state: RunState
  readonly listed: ListedDecision | undefined
}) => {
  const { decision, policy, run } = state
  const { current } = decision
  const tally = policy.voteTally ?? []
  return (
    <Panel title={title}>
      <div className="flex flex-col gap-1.5 p-3">
        <VerdictLine state={state} listed={listed} />
        {current === undefined ? (
          <p className="text-muted">Nothing was proposed.</p>
        ) : (
          <>
            <p className="flex flex-wrap items-center gap-2 text-soft">
              {current.finalized ? null : <span>Nothing is decided yet.</span>}
              {current.resolvedBy === undefined ? null : (
                <span>
                  by <UserText text={current.resolvedBy} />
                </span>
              )}
              {current.confidence === undefined ? null : (
                <span className="num text-muted">{percent(current.confidence)} confidence</span>
              )}
              {current.commitments === undefined ? null : (
                <Chip tone="warn">last of {whole(current.commitments)} commitments</Chip>
              )}
            </p>
            {current.reasons.map((reason) => (
              <UserText key={reason} text={reason} className="text-soft" />
            ))}
          </>
        )}
        <p className="text-soft">
          <span className="label">Mode </span>
          {run.modeName === undefined ? "–" : modeLabel(run.modeName)}
          <span className="label"> · Policy </span>
          <UserText text={policy.policyVersion} />
        </p>
        {tally.map(({ allow, commitmentId, deny, voters }) => (
          <p key={commitmentId} className="num text-soft">
            <UserText text={commitmentId} />: {whole(voters?.allow ?? allow)} for, {whole(voters?.deny ?? deny)} against
          </p>
        ))}
      </div>
    </Panel>
  )
}

/** The verdict of one side: glyph, word in its colour, votes. */
const VerdictLine = ({ listed, state }: { readonly state: RunState; readonly listed: ListedDecision | undefined }) => {
  const verdict = listed === undefined ? stateVerdict(state) : verdictLabel(listed.verdict, state.run.modeName)
  if (verdict === undefined) return null
  return (
    <p className="flex items-center gap-2.5" data-side-verdict={verdict.verdict}>
      {listed?.seats === undefined ? null : (
        <Glyph voters={listed.seats.map(([, vote, weight]) => [vote, weight] as const)} size={44} />
      )}
      <span className={`text-[17px] font-semibold ${toneText[verdict.tone]}`}>{verdict.word}</span>
      {listed === undefined ? null : <span className="num text-soft">{listed.counts}</span>}
    </p>
  )
}

interface Figure {
  readonly title: string
  /** Of the left run, of the right one, and the difference. */
  readonly cells: readonly [ReactNode, ReactNode, ReactNode]
}

const figure = (
  title: string,
  [left, right]: readonly [number | undefined, number | undefined],
  say: (value: number) => string,
  sayDelta = say
): Figure => {
  const text = (value: number | undefined) => (value === undefined ? "–" : say(value))
  const delta = left === undefined || right === undefined ? "–" : difference(right - left, sayDelta)
  return { title, cells: [text(left), text(right), delta] }
}

/** The difference is unknown when calls lack their usage, and not exact when a part of either cost is a guess. */
const costFigure = (left: Cost, right: Cost): Figure => {
  const isGuess = (left.guessedCostUsd ?? 0) + (right.guessedCostUsd ?? 0) > 0
  const delta =
    (left.callsWithoutUsage ?? 0) + (right.callsWithoutUsage ?? 0) > 0
      ? "unknown"
      : `${isGuess ? "≈ " : ""}${difference(right.costUsd - left.costUsd, dollars)}`
  return { title: "Cost", cells: [<CostText key="left" cost={left} />, <CostText key="right" cost={right} />, delta] }
}

const Figures = ({ comparison, left, right }: Pick<SideBySideProps, "comparison" | "left" | "right">) => {
  const of = (title: string, value: (state: RunState) => number | undefined, say: (value: number) => string) =>
    figure(title, [value(left), value(right)], say)
  const figures: ReadonlyArray<Figure> = [
    figure("Duration", [comparison.left.durationMs, comparison.right.durationMs], duration),
    of("Events", ({ timeline }) => timeline.totalEvents, whole),
    of("Participants", ({ participants }) => participants.length, whole),
    of("Proposals and votes", ({ decision }) => decision.current?.proposals.length, whole),
    of("LLM calls", ({ llm }) => llm.totals.callCount, whole),
    of("LLM calls without usage", ({ llm }) => llm.totals.callsWithoutUsage ?? 0, whole),
    of("Tokens", ({ llm }) => llm.totals.totalTokens, whole),
    costFigure(costIn(left.llm.totals), costIn(right.llm.totals)),
    figure(
      "Confidence",
      [left.decision.current?.confidence, right.decision.current?.confidence],
      percent,
      // The difference of two shares.
      points
    )
  ]
  return (
    <table className="w-full">
      <thead>
        <tr className="h-8 border-b border-line">
          {["", "Left", "Right", "Difference"].map((title) => (
            <th key={title} scope="col" className="label px-3 text-right first:text-left">
              {title === "" ? <span className="sr-only">Figure</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {figures.map(({ cells: [one, other, delta], title }) => (
          <tr key={title} className="border-b border-line last:border-0">
            <th scope="row" className="px-3 py-1.5 text-left font-normal text-soft">
              {title}
            </th>
            <Value>{one}</Value>
            <Value>{other}</Value>
            <Value>{delta}</Value>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Value = ({ children }: { readonly children: ReactNode }) => (
  <td className="num px-3 py-1.5 text-right whitespace-nowrap">{children}</td>
)

const difference = (delta: number, say: (value: number) => string) =>
  delta === 0 ? "=" : `${delta > 0 ? "+" : "−"}${say(Math.abs(delta))}`
