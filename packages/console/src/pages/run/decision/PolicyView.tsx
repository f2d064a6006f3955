import { type Denial, forecast, isTerminal, type OutcomeForecast, stepText } from "@runplane/domain"
import { CheckCircle2, CircleDashed, CircleDot, type LucideIcon, XCircle } from "lucide-react"
import { Suspense, useMemo } from "react"
import { Avatar, Chip, Time, UserText } from "../../../ui/basics.tsx"
import { useNow } from "../../../ui/hooks.ts"
import { Reasons } from "../../../ui/kit.tsx"
import { lazily } from "../../../ui/lazily.ts"
import { Empty } from "../../../ui/States.tsx"
import { counted, whole } from "../../../view/format/Format.ts"
import { policyWords } from "../../../view/policies/PolicyWords.ts"
import { proposalsOf } from "../../../view/run/Decision.ts"
import { hasRuntime } from "../../../view/run/RunFacts.ts"
import { type Mark, type TallyRow, tallyMarks, tallyOf } from "../../../view/run/Tally.ts"
import type { RunViewProps, ShownRun } from "../useShown.ts"
import { useActivePolicy } from "./useActivePolicy.ts"

const WhatIfPanel = lazily(() => import("./WhatIfPanel.tsx"))

const NAMED = 24
const MOST_TALLIES = 20

/** The rules of the run, the tally of the votes, and the forecast. */
export default function PolicyView(props: RunViewProps) {
  if (props.shown.start === 0) return <Rules {...props} />
  return (
    <Empty title="This run is too long for this view">
      The first {whole(props.shown.start)} events are not loaded, and their votes count. The command line and the API
      evaluate all events: <code>forecast</code>, <code>decision/why</code> and <code>what-if</code>.
    </Empty>
  )
}

const Rules = ({ page, set, shown }: RunViewProps) => {
  const { by, run } = useActivePolicy(shown.events)
  const { policy } = shown.state
  const { sessionRules } = by
  const now = useNow(10_000)
  const last = shown.events.at(-1)
  const at = shown.isNow && !isTerminal(shown.state.run.status) ? now : Date.parse(last?.ts ?? "")
  const ahead = useMemo(() => forecast(run, by, Number.isFinite(at) ? { nowUnixMs: at } : {}), [run, by, at])
  const rows = useMemo(() => proposalsOf(shown.events), [shown.events])
  const tallies = useMemo(() => tallyOf(rows, run), [rows, run])
  const titles = useMemo(() => new Map(rows.map(({ id, title }) => [id, title])), [rows])
  const hasVotes = run.mode === "decision" || run.mode === "quorum"
  if (run.policyVersion === undefined) {
    return hasRuntime(shown.run) ? (
      <Empty title="The policy of the session is not known yet">The policy is known when the session is bound.</Empty>
    ) : (
      <Empty title="The run names no policy">A span with runplane.policy names a registered policy.</Empty>
    )
  }
  const source = { recorded: "recorded in the log", registry: "from the registry", unknown: "" }
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      <div className="mx-auto flex max-w-[1000px] flex-col gap-4 p-4">
        <section className="panel p-4" aria-label="Rules">
          <h2 className="text-[15px] font-semibold tracking-tight">
            <UserText text={run.policyVersion} />{" "}
            <span className="text-[12px] font-normal text-muted">{source[by.policySource]}</span>
          </h2>
          {policy.policyDescription === undefined ? null : (
            <p className="mt-0.5 text-soft">
              <UserText text={policy.policyDescription} />
            </p>
          )}
          {sessionRules === undefined ? (
            <p className="mt-2 text-warn">
              <UserText text={by.fault ?? "No rules are known."} />
            </p>
          ) : (
            <ul className="mt-2.5 flex flex-col gap-1">
              {policyWords(sessionRules.mode, sessionRules.terms.policy.rules).map(({ rule, text }) => (
                <li key={rule} className="grid gap-x-3 sm:grid-cols-[1fr_auto]">
                  <UserText text={text} />
                  <code className="font-mono text-[11px] text-muted">{rule}</code>
                </li>
              ))}
            </ul>
          )}
        </section>
        {hasVotes && tallies.length > 0 ? (
          <section className="panel p-4" aria-label="Tally">
            <h2 className="font-semibold">Tally</h2>
            <ul className="mt-2 flex flex-col gap-4">
              {tallies.slice(0, MOST_TALLIES).map((row) => (
                <Tally
                  key={row.id}
                  row={row}
                  marks={sessionRules === undefined ? [] : tallyMarks(sessionRules)}
                  shown={shown}
                  onSelect={() => set({ event: row.index })}
                />
              ))}
            </ul>
            {tallies.length > MOST_TALLIES ? (
              <p className="mt-3 text-muted">
                The {MOST_TALLIES} proposals with most votes of {tallies.length}; the view Decision lists more.
              </p>
            ) : null}
          </section>
        ) : null}
        <section className="panel p-4" aria-label="Forecast">
          <h2 className="font-semibold">Forecast</h2>
          {ahead.outcomes.length === 0 ? null : (
            <ul className="mt-2 grid gap-3 sm:grid-cols-2">
              {ahead.outcomes.map((outcome) => (
                <Outcome
                  key={`${outcome.outcome} ${outcome.proposalId ?? ""}`}
                  outcome={outcome}
                  titleOf={(id) => titles.get(id) ?? id}
                />
              ))}
            </ul>
          )}
          {ahead.outstanding.length === 0 ? null : (
            <p className="mt-2.5 text-soft">
              Can still act: <Names names={ahead.outstanding.map(({ participantId }) => participantId)} />
            </p>
          )}
          {ahead.pivotal.length === 0 ? null : (
            <p className="mt-1 text-soft">
              Can decide alone: <Names names={[...new Set(ahead.pivotal.map(({ participantId }) => participantId))]} />
            </p>
          )}
          {ahead.note === undefined ? null : (
            <p className="mt-1.5 text-muted">
              <UserText text={ahead.note} />
            </p>
          )}
        </section>
        <section className="panel p-4" aria-label="Evaluations">
          <h2 className="font-semibold">Evaluations of commitments</h2>
          {policy.commitmentEvaluations.length === 0 && run.denials.length === 0 && run.commitment === undefined ? (
            <p className="mt-1 text-muted">The log has no evaluation of a commitment.</p>
          ) : (
            <ul className="mt-2 flex flex-col gap-2">
              {run.commitment === undefined ? null : (
                <li>
                  <Chip tone="good">accepted</Chip> <EventLink index={run.commitment.index} set={set} />{" "}
                  <UserText
                    text={`${run.commitment.by || "an unnamed participant"}: ${run.commitment.action}`}
                    className="text-soft"
                  />
                </li>
              )}
              {policy.commitmentEvaluations.map(({ commitmentId, decision, reasons, ts }, index) => (
                <li key={index}>
                  <Chip tone={decision === "allow" ? "good" : "bad"}>
                    {decision === "allow" ? "allowed" : "denied"}
                  </Chip>{" "}
                  <UserText text={commitmentId} className="font-mono text-[12px]" />{" "}
                  <Time at={ts} className="text-[12px] text-muted" />
                  <Reasons texts={reasons} className="" />
                </li>
              ))}
              {run.denials.map((denial) => (
                <Refusal key={denial.index} denial={denial} set={set} />
              ))}
            </ul>
          )}
          {hasRuntime(shown.run) ? (
            <p className="mt-2 text-[12px] text-muted">
              The log may lack refusals: the runtime reports a refused commitment only to its sender. An agent can
              report it with the signal <code>message.refused</code> and the code <code>POLICY_DENIED</code>.
            </p>
          ) : null}
        </section>
        {hasVotes && tallies.length > 0 ? (
          <Suspense fallback={<div className="skeleton h-24" />}>
            <WhatIfPanel run={run} by={by} rows={tallies} page={page} set={set} shown={shown} />
          </Suspense>
        ) : null}
      </div>
    </div>
  )
}

/** A refused message: with codes, each reason has a line of its own. */
const Refusal = ({ denial, set }: { readonly denial: Denial; readonly set: RunViewProps["set"] }) => {
  const { by, denials, index, text } = denial
  const words = denials.length === 0 ? text : ""
  return (
    <li>
      <Chip tone="bad">refused</Chip> <EventLink index={index} set={set} />{" "}
      <UserText text={[by, words].filter((part) => part !== "").join(": ")} className="text-soft" />
      {denials.length === 0 ? null : (
        <ul className="mt-1 flex flex-col gap-1">
          {denials.map(({ code, message, participants = [], participantsOmitted = 0 }, at) => (
            <li key={at} className="grid gap-x-3 sm:grid-cols-[1fr_auto]">
              <span className="min-w-0">
                <UserText text={message} />
                {participants.length === 0 ? null : (
                  <span className="text-soft">
                    {" by "}
                    <Names names={participants} omitted={participantsOmitted} />
                  </span>
                )}
              </span>
              <code className="font-mono text-[11px] text-muted">
                <UserText text={code} />
              </code>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

const EventLink = ({ index, set }: { readonly index: number; readonly set: RunViewProps["set"] }) => (
  <button type="button" className="text-accent underline" onClick={() => set({ event: index })}>
    event {index}
  </button>
)

const Names = ({ names, omitted = 0 }: { readonly names: ReadonlyArray<string>; readonly omitted?: number }) => {
  const others = Math.max(0, names.length - NAMED) + omitted
  return (
    <>
      <UserText text={names.slice(0, NAMED).join(", ")} />
      {others > 0 ? ` and ${counted(others, "other")}` : ""}
    </>
  )
}

interface TallyProps {
  readonly row: TallyRow
  readonly marks: ReadonlyArray<Mark>
  readonly shown: ShownRun
  readonly onSelect: () => void
}

/** The votes on one proposal as a bar over all voters, with the thresholds as lines. */
const Tally = ({ marks, onSelect, row, shown }: TallyProps) => {
  const { abstain, approve, missing, reject, title } = row
  const all = Math.max(1, approve.length + reject.length + abstain.length + missing.length)
  const part = (count: number) => ({ width: `${(count / all) * 100}%` })
  return (
    <li>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <button type="button" className="text-left font-medium hover:underline" onClick={onSelect}>
          <UserText text={title} />
        </button>
        <span className="num text-good">{approve.length} for</span>
        <span className={`num ${reject.length === 0 ? "text-muted" : "text-bad"}`}>{reject.length} against</span>
        {abstain.length === 0 ? null : <span className="num text-muted">{abstain.length} abstained</span>}
        <span className="num text-muted">
          {approve.length + reject.length + abstain.length} of {all} have voted
        </span>
      </p>
      <div className="relative mt-1.5 mb-5">
        <div aria-hidden className="flex h-3 overflow-hidden rounded-sm bg-sunken">
          <span className="bg-good" style={part(approve.length)} />
          <span className="bg-bad" style={part(reject.length)} />
          <span className="bg-line-strong" style={part(abstain.length)} />
        </div>
        {marks.map(({ at, text }) => (
          <span
            key={text}
            className="absolute -top-1 h-5 border-l-2 border-text"
            style={{ left: `${Math.min(100, (at / all) * 100)}%` }}
          >
            <span
              className={`num absolute top-5 text-[11px] whitespace-nowrap text-soft ${at / all > 0.75 ? "right-0.5" : "left-0"}`}
            >
              {text}
            </span>
          </span>
        ))}
      </div>
      {missing.length === 0 ? null : (
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
          No vote yet:
          {missing.slice(0, NAMED).map((who) => (
            <span key={who} className="inline-flex items-center gap-1">
              <Avatar name={who} index={shown.participantIndex(who)} size={18} /> <UserText text={who} />
            </span>
          ))}
          {missing.length > NAMED ? `and ${counted(missing.length - NAMED, "other")}` : ""}
        </p>
      )}
    </li>
  )
}

const styles: Readonly<
  Record<OutcomeForecast["status"], { readonly icon: LucideIcon; readonly tone: string; readonly says: string }>
> = {
  met: { icon: CheckCircle2, tone: "text-good", says: "is allowed now" },
  certain: { icon: CheckCircle2, tone: "text-good", says: "is certain" },
  possible: { icon: CircleDot, tone: "text-accent", says: "is possible" },
  impossible: { icon: XCircle, tone: "text-muted", says: "is impossible" }
}

const Outcome = ({
  outcome: { blockers, needs, outcome, proposalId, status },
  titleOf
}: {
  readonly outcome: OutcomeForecast
  readonly titleOf: (proposalId: string) => string
}) => {
  const { icon: Icon, says, tone } = styles[status] ?? { icon: CircleDashed, tone: "", says: status }
  return (
    <li className="min-w-0 rounded-md border border-line p-3" data-outcome={outcome} data-status={status}>
      <p className="flex items-baseline gap-1.5 font-medium">
        <Icon size={14} aria-hidden className={`shrink-0 translate-y-0.5 ${tone}`} />
        <span className="min-w-0">
          {outcome === "positive" ? "A positive outcome" : "A negative outcome"}
          {proposalId === undefined ? "" : " for "}
          {proposalId === undefined ? null : <UserText text={titleOf(proposalId)} />} {says}
        </span>
      </p>
      <Reasons texts={blockers.map(({ text }) => text)} />
      {needs.length === 0 ? null : (
        <p className="mt-1 text-soft">
          Sufficient:{" "}
          <UserText
            text={needs
              .slice(0, 3)
              .map(({ steps }) =>
                steps
                  .map(({ proposalId: id, ...step }) =>
                    stepText({ ...step, ...(id !== undefined && { proposalId: titleOf(id) }) })
                  )
                  .join(", ")
              )
              .join("; or ")}
          />
          .
        </p>
      )}
    </li>
  )
}
