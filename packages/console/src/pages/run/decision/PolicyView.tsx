import {
  committedWords,
  type Denial,
  forecast,
  isTerminal,
  type OutcomeForecast,
  refusalWords,
  stepText
} from "@runplane/domain"
import { CheckCircle2, CircleDashed, CircleDot, type LucideIcon, XCircle } from "lucide-react"
import { useMemo } from "react"
import { Chip, Time, UserText } from "../../../ui/basics.tsx"
import { useNow } from "../../../ui/hooks.ts"
import { Reasons } from "../../../ui/kit.tsx"
import { Empty } from "../../../ui/States.tsx"
import { counted, whole } from "../../../view/format/Format.ts"
import { policyWords } from "../../../view/policies/PolicyWords.ts"
import { proposalsOf } from "../../../view/run/Decision.ts"
import { hasRuntime } from "../../../view/run/RunFacts.ts"
import type { RunViewProps } from "../useShown.ts"
import { useActivePolicy } from "./useActivePolicy.ts"

const NAMED = 24

/** The rules of the run, the forecast, and the evaluations of commitments. */
export default function PolicyView(props: RunViewProps) {
  if (props.shown.start === 0) return <Rules {...props} />
  return (
    <Empty title="This run is too long for this view">
      The first {whole(props.shown.start)} events are not loaded, and their votes count. The command line and the API
      evaluate all events: <code>forecast</code>, <code>decision/why</code> and <code>what-if</code>.
    </Empty>
  )
}

const Rules = ({ set, shown }: RunViewProps) => {
  const { by, run } = useActivePolicy(shown.events)
  const { policy } = shown.state
  const { sessionRules } = by
  const now = useNow(10_000)
  const last = shown.events.at(-1)
  const at = shown.isNow && !isTerminal(shown.state.run.status) ? now : Date.parse(last?.ts ?? "")
  const ahead = useMemo(() => forecast(run, by, Number.isFinite(at) ? { nowUnixMs: at } : {}), [run, by, at])
  const rows = useMemo(() => proposalsOf(shown.events), [shown.events])
  const titles = useMemo(() => new Map(rows.map(({ id, title }) => [id, title])), [rows])
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
                    text={`${run.commitment.by || "an unnamed participant"} commits ${
                      committedWords(run.commitment.action, run.commitment.positive) ?? run.commitment.action
                    }`}
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
      <Reasons texts={blockers.map(({ text }) => refusalWords(text))} />
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
