import { Plus } from "lucide-react"
import { DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { Loaded, Sheet } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { useMay } from "../../ui/useMe.ts"
import { useRead } from "../../ui/useRead.ts"
import { fineDuration } from "../../view/format/Format.ts"
import { LATER_MS, OFTEN_MS } from "../../view/live/Polls.ts"
import { textParam } from "../../view/query/UrlState.ts"
import { BudgetBars } from "./BudgetBars.tsx"
import { OpenAlerts } from "./OpenAlerts.tsx"
import { ResolvedAlerts } from "./ResolvedAlerts.tsx"
import { RuleForm } from "./RuleForm.tsx"
import { Rules } from "./Rules.tsx"
import { Silences } from "./Silences.tsx"

const params = { id: textParam, rule: textParam }

/** Alerts shown at a time. */
const SHOWN = 100
/** Resolved alerts that the page lists. */
const RECENT = 20

/** The open alerts, what silences them, budgets, the alerts that ended lately, and the rules behind them. */
export default function AlertsPage() {
  const [state, set] = useUrlState(params)
  const may = useMay()
  useTitle("Alerts")
  const open = useRead(
    ["alerts", "urgent"],
    (api) => api.alerts.list({ query: { status: "open", order: "urgent", limit: SHOWN, offset: 0 } }),
    { everyMs: OFTEN_MS }
  )
  const silences = useRead(["alerts", "silences"], (api) => api.alerts.silences(), { everyMs: LATER_MS })
  const budgets = useRead(["alerts", "budgets"], (api) => api.alerts.budgets({ query: {} }), { everyMs: LATER_MS })
  const resolved = useRead(
    ["alerts", "resolved"],
    (api) => api.alerts.list({ query: { status: "resolved", limit: RECENT, offset: 0 } }),
    { everyMs: LATER_MS }
  )
  const rules = useRead(["alerts", "rules"], (api) => api.alerts.rules(), { everyMs: LATER_MS })
  return (
    <Sheet
      title="Alerts"
      note={open.data === undefined ? undefined : `evaluated up to ${fineDuration(open.data.lagMs)} ago`}
      actions={
        may("admin") ? (
          <DialogButton
            className="btn btn-main"
            dialog={(close) => <RuleForm taken={new Set(rules.data?.map(({ id }) => id))} onClose={close} />}
          >
            <Plus size={14} aria-hidden /> Add a rule
          </DialogButton>
        ) : null
      }
    >
      <Loaded read={open} what="The alerts cannot be read" rows={3} height={44}>
        {(page) => <OpenAlerts page={page} chosen={state.id} mayWrite={may("operator")} />}
      </Loaded>
      <Loaded read={silences} what="The silences cannot be read" rows={1} height={44}>
        {(shown) => (shown.length === 0 ? null : <Silences silences={shown} mayWrite={may("operator")} />)}
      </Loaded>
      <Loaded read={budgets} what="The budgets cannot be read" rows={2} height={44}>
        {(shown) => (shown.length === 0 ? null : <BudgetBars budgets={shown} />)}
      </Loaded>
      <Loaded read={resolved} what="The resolved alerts cannot be read" rows={2} height={44}>
        {(page) => (page.data.length === 0 ? null : <ResolvedAlerts page={page} chosen={state.id} />)}
      </Loaded>
      <Loaded read={rules} what="The rules cannot be read" rows={3} height={44}>
        {(shown) =>
          shown.length === 0 ? (
            <Empty title="No rules yet">
              A rule watches what runs cost and do, and reports when a level is reached.
            </Empty>
          ) : (
            <Rules
              rules={shown}
              chosen={state.rule}
              mayTest={may("operator")}
              mayWrite={may("admin")}
              onChoose={(rule) => set({ rule })}
            />
          )
        }
      </Loaded>
    </Sheet>
  )
}
