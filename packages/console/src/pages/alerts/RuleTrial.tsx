import { type ChangedAlertRule, TESTED_DAYS } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { FlaskConical } from "lucide-react"
import { call } from "../../client/Client.ts"
import { problemOf } from "../../client/Problem.ts"
import { UserText } from "../../ui/basics.tsx"
import { useSettled } from "../../ui/hooks.ts"
import { trialText } from "../../view/alerts/RuleSentence.ts"

/** The fields are at rest for this long before the service tries the rule. Milliseconds. */
const SETTLED_MS = 600

/** How often the rule would have fired lately, before it is saved. The answer of an earlier form is not shown. */
export const RuleTrial = ({ draft }: { readonly draft: ChangedAlertRule }) => {
  const text = JSON.stringify(draft)
  const settled = useSettled(text, SETTLED_MS)
  const isComplete = draft.levels.every(({ at }) => Number.isFinite(at))
  const trial = useQuery({
    queryKey: ["alerts", "trial", settled],
    queryFn: ({ signal }) => call((api) => api.alerts.tryRule({ payload: draft }), signal),
    enabled: isComplete && settled === text,
    gcTime: 0
  })
  const isCurrent = settled === text && trial.data !== undefined
  return (
    <p
      role="status"
      className={`flex items-start gap-1.5 ${isCurrent && trial.data.firings.length > 0 ? "text-text" : "text-soft"}`}
      data-trial={isCurrent ? trial.data.firings.length : ""}
    >
      <FlaskConical size={14} aria-hidden className="mt-0.5 shrink-0" />
      {isCurrent ? (
        trialText(trial.data, TESTED_DAYS)
      ) : settled === text && trial.error !== null ? (
        <UserText text={`It cannot be tried: ${problemOf(trial.error, "").messages.join("; ")}`} />
      ) : (
        "Trying the rule on the last days …"
      )}
    </p>
  )
}
