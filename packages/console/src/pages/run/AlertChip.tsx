import { isTerminal, type RunStatus } from "@runplane/domain"
import { Bell } from "lucide-react"
import { Link } from "wouter"
import { Chip } from "../../ui/basics.tsx"
import { useRead } from "../../ui/useRead.ts"
import { severityTone } from "../../view/alerts/Budgets.ts"
import { firingText } from "../../view/alerts/RuleSentence.ts"
import { counted, cut, NAME_LENGTH } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"

/** Alerts that the title of the chip names. */
const NAMED = 5

/** The open alerts that the run has caused; nothing without one. */
export default function AlertChip({ runId, status }: { readonly runId: string; readonly status: RunStatus }) {
  const { data } = useRead(
    ["alerts", "run", runId, isTerminal(status)],
    (api) =>
      api.alerts.ofRun({
        params: { id: runId },
        query: { status: "open", order: "urgent", limit: NAMED, offset: 0 }
      }),
    isTerminal(status) ? {} : { everyMs: LATER_MS }
  )
  const [first] = data?.data ?? []
  if (data === undefined || first === undefined) return null
  const names = data.data.map(
    ({ at, measure, ruleName, value }) => `${cut(ruleName, NAME_LENGTH)}: ${firingText(measure, value, at)}`
  )
  return (
    <Link href={`/alerts?id=${first.id}`} className="no-print" data-alerts={data.total}>
      <Chip tone={severityTone[first.severity]} title={names.join("\n")}>
        <Bell size={12} aria-hidden className="shrink-0" />
        {data.total === 1 ? cut(first.ruleName, NAME_LENGTH) : counted(data.total, "open alert")}
      </Chip>
    </Link>
  )
}
