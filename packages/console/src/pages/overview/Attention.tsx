import type { DashboardOverview } from "@runplane/api"
import { AlertTriangle, CheckCircle2, HelpCircle, OctagonAlert } from "lucide-react"
import { Link } from "wouter"
import { toneText, UserText } from "../../ui/basics.tsx"
import { useNow } from "../../ui/hooks.ts"
import { useIsOld } from "../../ui/kit.tsx"
import { Failure, Stale } from "../../ui/States.tsx"
import { whole } from "../../view/format/Format.ts"
import type { Tone } from "../../view/format/Status.ts"
import { attentionSentence, SILENT_MINUTES } from "../../view/overview/Concerns.ts"
import type { OverviewRange } from "./OverviewQuery.ts"
import { useAttention } from "./useAttention.ts"

const LOOKS: Readonly<Partial<Record<Tone, string>>> = {
  good: "border-good/40 bg-good-soft",
  bad: "border-bad/40 bg-bad-soft",
  warn: "border-warn/40 bg-warn-soft"
}
const ICONS = { good: CheckCircle2, bad: OctagonAlert, warn: AlertTriangle, calm: HelpCircle, accent: HelpCircle }

/** Whether something needs a person: one sentence in colour, then the problems, each with a link. */
export const Attention = ({
  overview,
  range
}: {
  readonly overview: DashboardOverview
  readonly range: OverviewRange
}) => {
  const { concerns, forecasts, isPending, old, since } = useAttention(overview, range)
  const isOld = useIsOld()
  const now = useNow(1_000)
  const unread = [...(isOld ? ["the figures of this page"] : []), ...old.map(({ name }) => name)]
  const { age, text, tone } = attentionSentence({ concerns, unread, isPending, since, now })
  const Icon = ICONS[tone]
  const [failed] = old.map(({ read }) => read)
  const retry = () => {
    for (const { read } of old) void read.refetch()
  }
  return (
    <section
      aria-label="Needs attention"
      className={`min-w-0 overflow-hidden rounded-lg border ${LOOKS[tone] ?? "border-line bg-panel"}`}
      data-attention={tone}
    >
      <h2 className={`flex items-start gap-2 px-3 py-2.5 text-[17px] leading-6 font-semibold ${toneText[tone]}`}>
        <Icon size={18} aria-hidden className={`mt-[3px] shrink-0 ${toneText[tone]}`} />
        <span className="min-w-0 wrap-anywhere">
          <span role="status">{text}</span>
          {age === undefined ? null : <span className="num">, {age}</span>}
        </span>
      </h2>
      {failed === undefined ? null : failed.dataUpdatedAt > 0 ? (
        <Stale
          since={Math.min(...old.map(({ read }) => read.dataUpdatedAt))}
          error={failed.error ?? failed.failureReason}
          retry={retry}
        />
      ) : (
        <Failure what="Some checks failed" error={failed.error ?? failed.failureReason} retry={retry} />
      )}
      {concerns.length === 0 ? null : (
        <ul className="border-t border-line bg-panel">
          {concerns.map(({ href, id, text: what, tone: how }) => {
            const Mark = how === "bad" ? OctagonAlert : AlertTriangle
            return (
              <li key={id} className="border-b border-line last:border-0" data-concern={id}>
                <Link href={href} className="flex items-start gap-2 px-3 py-2 hover:bg-sunken">
                  <Mark
                    size={15}
                    aria-label={how === "bad" ? "Broken" : "Warning"}
                    className={`mt-0.5 shrink-0 ${how === "bad" ? "text-bad" : "text-warn"}`}
                  />
                  <UserText text={what} className="min-w-0" />
                </Link>
              </li>
            )
          })}
        </ul>
      )}
      <details className="border-t border-line bg-panel px-3 py-1.5 text-soft">
        <summary className="w-fit cursor-pointer">What is checked</summary>
        <p className="py-1">
          The state of the service, the circuit breaker, sessions of the runtime, runs without an event for{" "}
          {SILENT_MINUTES} minutes, suspended runs, open alerts, failed runs, lost sessions, refusals by policy on
          record, the dearest run, and webhooks.{" "}
          {forecasts === undefined
            ? "Forecasts of running runs are not read yet."
            : forecasts.looked < forecasts.of
              ? `Of ${whole(forecasts.of)} running runs, the forecasts of the ${whole(forecasts.looked)} with the latest events are read.`
              : "The forecasts of all running runs are read."}
        </p>
      </details>
    </section>
  )
}
