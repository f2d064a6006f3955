import { AlertTriangle, CheckCircle2, OctagonAlert } from "lucide-react"
import { Link } from "wouter"
import { Said } from "../../ui/basics.tsx"
import { Part } from "../../ui/kit.tsx"
import { Failure, Skeleton } from "../../ui/States.tsx"
import { counted } from "../../view/Format.ts"
import type { Look } from "./OverviewQuery.ts"
import { SILENT_MINUTES, useAttention } from "./useAttention.ts"

/** What somebody should look at now, each with the way there. */
export const Attention = ({ look }: { readonly look: Look }) => {
  const { concerns, failure, isPending } = useAttention(look)
  return (
    <Part title="Needs attention" {...(concerns.length > 0 && { note: counted(concerns.length, "thing") })}>
      {failure === undefined ? null : <Failure what="Not everything could be asked" error={failure} />}
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
                  <Said text={text} className="min-w-0" />
                </Link>
              </li>
            )
          })}
        </ul>
      ) : isPending ? (
        <Skeleton rows={3} height={36} />
      ) : failure === undefined ? (
        <p className="flex items-start gap-2 px-3 py-3 text-soft">
          <CheckCircle2 size={15} aria-hidden className="mt-0.5 shrink-0 text-good" />
          <span>
            Nothing. Looked at: readiness, breaker, drift, runs silent for {SILENT_MINUTES} minutes, decisions out of
            reach, denials by policy, webhooks.
          </span>
        </p>
      ) : null}
    </Part>
  )
}
