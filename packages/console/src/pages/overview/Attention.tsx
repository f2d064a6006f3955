import type { DashboardOverview } from "@runplane/api"
import { AlertTriangle, CheckCircle2, OctagonAlert } from "lucide-react"
import { Link } from "wouter"
import { UserText } from "../../ui/basics.tsx"
import { Panel, useIsOld } from "../../ui/kit.tsx"
import { Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { counted } from "../../view/format/Format.ts"
import type { OverviewRange } from "./OverviewQuery.ts"
import { SILENT_MINUTES, useAttention } from "./useAttention.ts"

/** Problems that need a check, each with a link. */
export const Attention = ({
  overview,
  range
}: {
  readonly overview: DashboardOverview
  readonly range: OverviewRange
}) => {
  const { concerns, isPending, old } = useAttention(overview, range)
  const isOld = useIsOld()
  const [failed] = old
  const since = Math.min(...old.map(({ dataUpdatedAt }) => dataUpdatedAt))
  const retry = () => {
    for (const { refetch } of old) void refetch()
  }
  return (
    <Panel title="Needs attention" {...(concerns.length > 0 && { note: counted(concerns.length, "item") })}>
      {failed === undefined ? null : since > 0 ? (
        <Stale since={since} error={failed.error ?? failed.failureReason} retry={retry} />
      ) : (
        <Failure what="Some checks failed" error={failed.error ?? failed.failureReason} retry={retry} />
      )}
      {concerns.length > 0 ? (
        <ul aria-live="polite">
          {concerns.map(({ href, id, text, tone }) => {
            const Icon = tone === "bad" ? OctagonAlert : AlertTriangle
            return (
              <li key={id} className="border-b border-line last:border-0" data-concern={id}>
                <Link href={href} className="flex items-start gap-2 px-3 py-2 hover:bg-sunken">
                  <Icon
                    size={15}
                    aria-label={tone === "bad" ? "Broken" : "Warning"}
                    className={`mt-0.5 shrink-0 ${tone === "bad" ? "text-bad" : "text-warn"}`}
                  />
                  <UserText text={text} className="min-w-0" />
                </Link>
              </li>
            )
          })}
        </ul>
      ) : isPending ? (
        <Skeleton rows={3} height={36} />
      ) : failed === undefined && !isOld ? (
        <p className="flex items-start gap-2 px-3 py-3 text-soft">
          <CheckCircle2 size={15} aria-hidden className="mt-0.5 shrink-0 text-good" />
          <span>
            No problems. Checks: readiness, circuit breaker, drift, runs without an event for {SILENT_MINUTES} minutes,
            open alerts, failed runs, lost sessions, impossible outcomes, denials by policy, cost, webhooks.
          </span>
        </p>
      ) : null}
    </Panel>
  )
}
