import { isTerminal, type RunStatus, runDuration, unreadSpansText } from "@runplane/domain"
import { ArrowLeft } from "lucide-react"
import { Suspense } from "react"
import { Link } from "wouter"
import { isOffline } from "../../client/Offline.ts"
import { Chip, Id, StatusBadge, Time, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { useNow } from "../../ui/hooks.ts"
import { InlineFact } from "../../ui/InlineFact.tsx"
import { lazily } from "../../ui/lazily.ts"
import { useMay } from "../../ui/useMe.ts"
import { stateVerdict } from "../../view/decision/StateVerdict.ts"
import { costIn, counted, cut, duration, modeLabel, TITLE_LENGTH, whole } from "../../view/format/Format.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import { timeLeftOf } from "../../view/run/TimeLeft.ts"
import type { ShownRun } from "./useShown.ts"

const AlertChip = lazily(() => import("./AlertChip.tsx"))
const ExportButton = lazily(() => import("./ExportButton.tsx"))
const RunActions = lazily(() => import("./RunActions.tsx"))

/** Statuses in which the session is open. */
const HAS_SESSION: ReadonlySet<RunStatus> = new Set(["running", "suspended"])

/** Reserves the space of the button until it is loaded. */
const ExportPlaceholder = () => (
  <span aria-hidden className="btn invisible px-2">
    <span className="size-[14px]" />
    <span className="max-2xl:sr-only">Export</span>
  </span>
)

/** Title, status, facts and actions of the run. */
export const Header = ({ shown }: { readonly shown: ShownRun }) => {
  const { isNow, run, state } = shown
  const now = useNow(1_000)
  const may = useMay()
  const facts = runFacts(run, state.run.intent)
  const verdict = stateVerdict(state)
  const elapsed = runDuration(run, now)
  const left = HAS_SESSION.has(state.run.status) ? timeLeftOf(shown.events, run, now) : undefined
  const mode = state.run.modeName ?? facts.modeName
  const unread = unreadSpansText(run.metadata)
  const { totals } = state.llm
  const { callCount, callsWithoutUsage = 0, totalTokens } = totals
  return (
    <header className="shrink-0 bg-panel px-4 pt-2.5 pb-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        {isOffline ? null : (
          <Link href="/runs" aria-label="All runs" className="no-print btn btn-quiet -ml-2 px-1.5 text-soft">
            <ArrowLeft size={16} aria-hidden />
          </Link>
        )}
        <h1 className="min-w-0 truncate text-[16px] font-semibold tracking-tight">
          <span title={facts.title}>
            <UserText text={cut(facts.title, TITLE_LENGTH)} />
          </span>
        </h1>
        <span aria-live="polite">
          <StatusBadge status={state.run.status} chip />
        </span>
        {verdict === undefined ? null : <Chip tone={verdict.tone}>{verdict.word}</Chip>}
        {isOffline ? null : (
          <Suspense fallback={null}>
            <AlertChip runId={run.id} status={run.status} />
          </Suspense>
        )}
        {isNow ? null : <Chip tone="warn">earlier state</Chip>}
        {run.storage === "archive" ? <Chip>read-only</Chip> : null}
        <span className="no-print ml-auto flex gap-1">
          <Suspense fallback={null}>
            <RunActions shown={shown} />
          </Suspense>
          {may("operator") ? (
            <Suspense fallback={<ExportPlaceholder />}>
              <ExportButton runId={run.id} />
            </Suspense>
          ) : null}
        </span>
      </div>
      <dl className="mt-1.5 flex flex-wrap items-baseline gap-x-5 gap-y-0.5">
        <InlineFact title="Run">
          <Id id={run.id} label="run id" />
        </InlineFact>
        {facts.subtitle === undefined ? null : (
          <InlineFact title="Scenario">
            <UserText text={facts.subtitle} />
          </InlineFact>
        )}
        {mode === undefined ? null : <InlineFact title="Mode">{modeLabel(mode)}</InlineFact>}
        {state.policy.policyVersion === "" ? null : (
          <InlineFact title="Policy">
            <UserText text={state.policy.policyVersion} />
          </InlineFact>
        )}
        <InlineFact title="Started">
          <Time at={run.startedAt ?? run.createdAt} />
        </InlineFact>
        {elapsed === undefined ? null : (
          <InlineFact title={isTerminal(run.status) ? "Duration" : "Elapsed"}>
            <span className="num">{duration(elapsed)}</span>
          </InlineFact>
        )}
        {left === undefined ? null : (
          <InlineFact title="Time left">
            <span className={`num ${left.ms < 30_000 ? "text-warn" : ""}`}>
              {duration(left.ms)}
              {left.isPaused ? ", paused" : ""}
            </span>
          </InlineFact>
        )}
        <InlineFact title="Events">
          <span className="num">{whole(state.timeline.totalEvents)}</span>
        </InlineFact>
        {callCount === 0 ? null : (
          <InlineFact title="Cost">
            <span className="num">
              <CostText cost={costIn(totals)} />
              {callsWithoutUsage < callCount ? ` · ${whole(totalTokens)} tokens` : null}
              {callsWithoutUsage === 0 ? null : ` · ${counted(callsWithoutUsage, "call")} without usage`}
            </span>
          </InlineFact>
        )}
      </dl>
      {run.errorMessage === undefined ? null : (
        <p className="mt-1.5 text-bad">
          <code className="font-mono text-[12px]">{run.errorCode}</code> <UserText text={run.errorMessage} />
        </p>
      )}
      {run.historyGap === true ? (
        <p className="mt-1.5 text-warn">The log has a gap: the runtime dropped messages before they were read.</p>
      ) : null}
      {unread === undefined ? null : (
        <p className="mt-1.5 text-warn">
          <UserText text={unread} />: the agents, calls and costs that they report are not in this run.
        </p>
      )}
    </header>
  )
}
