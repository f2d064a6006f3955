import type { AlertRuleState } from "@runplane/api"
import { amountText } from "@runplane/domain"
import { FlaskConical, Pencil, Trash2 } from "lucide-react"
import { call } from "../../client/Client.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { Confirm, DialogButton, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Loaded, Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { Failure } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { severityTone } from "../../view/alerts/Budgets.ts"
import { hasZone, ruleSentence } from "../../view/alerts/RuleSentence.ts"
import { counted, dateTime, whole } from "../../view/format/Format.ts"
import { firingColumns } from "./FiringColumns.tsx"
import { RuleForm } from "./RuleForm.tsx"

const columns: ReadonlyArray<TableColumn<AlertRuleState>> = [
  {
    title: "Rule",
    cell: (rule) => {
      const { enabled, error, id, name } = rule
      return (
        <>
          <UserText text={name} className="font-medium" /> {enabled ? null : <Chip>disabled</Chip>}
          {error === undefined ? null : (
            <Chip tone="bad" title={error}>
              not evaluated
            </Chip>
          )}
          <span className="block text-[12px] text-soft md:hidden">{ruleSentence(rule)}</span>
          <span className="block font-mono text-[12px] text-muted">{id}</span>
        </>
      )
    }
  },
  {
    title: "Runs",
    from: "lg",
    className: "max-w-[260px]",
    cell: ({ match }) => (match === "" ? "all" : <UserText text={match} className="font-mono text-[12px]" />)
  },
  {
    title: "Alerts when",
    from: "md",
    cell: (rule) => (
      <>
        {ruleSentence(rule)}
        {hasZone(rule.window) ? (
          <span className="block text-[12px] text-muted">by the clock of {rule.zone}</span>
        ) : null}
      </>
    )
  },
  {
    title: "Levels",
    cell: ({ admission, levels, measure, telemetry }) => (
      <span className="flex flex-wrap gap-1">
        {levels.map(({ at, severity }) => (
          <Chip key={at} tone={severityTone[severity]} title={severity}>
            {amountText(
              measure,
              at,
              levels.map((level) => level.at)
            )}
          </Chip>
        ))}
        {telemetry === "act" ? <Chip title="Telemetry counts as what a runtime reports">acts on telemetry</Chip> : null}
        {admission === true ? <Chip title="Refuses runs that would reach the limit">admission</Chip> : null}
      </span>
    )
  }
]

/** The rules; the chosen one with its actions and its preview. */
export const Rules = ({
  chosen,
  mayTest,
  mayWrite,
  onChoose,
  rules
}: {
  readonly rules: ReadonlyArray<AlertRuleState>
  readonly chosen: string
  readonly mayTest: boolean
  readonly mayWrite: boolean
  readonly onChoose: (id: string) => void
}) => {
  const rule = rules.find(({ id }) => id === chosen)
  const open: TableColumn<AlertRuleState> = {
    title: "Preview",
    align: "right",
    cell: ({ id, name }) => (
      <button type="button" className="btn" aria-label={`7 days: preview of ${name}`} onClick={() => onChoose(id)}>
        <FlaskConical size={14} aria-hidden /> 7 days
      </button>
    )
  }
  return (
    <>
      <Panel title="Rules" note={counted(rules.length, "rule")}>
        <Table
          label="Rules"
          columns={[...columns, open]}
          rows={rules}
          keyOf={({ id }) => id}
          isChosen={({ id }) => id === chosen}
          onOpen={({ id }) => onChoose(id)}
        />
      </Panel>
      {rule === undefined ? null : (
        <>
          {mayWrite ? <RuleActions key={rule.id} rule={rule} onGone={() => onChoose("")} /> : null}
          {mayTest ? <Preview key={`preview ${rule.id} ${rule.updatedAt}`} rule={rule} /> : null}
        </>
      )}
    </>
  )
}

const RuleActions = ({ onGone, rule }: { readonly rule: AlertRuleState; readonly onGone: () => void }) => {
  const toggle = useChange(
    () => {
      const { backfilling: _b, createdAt: _c, error: _e, id: _id, updatedAt: _u, ...fields } = rule
      return call((api) =>
        api.alerts.putRule({ params: { id: rule.id }, payload: { ...fields, enabled: !rule.enabled } })
      )
    },
    [["alerts"]],
    () => {}
  )
  return (
    <div className="flex flex-wrap items-center gap-2">
      <DialogButton dialog={(close) => <RuleForm rule={rule} onClose={close} />}>
        <Pencil size={14} aria-hidden /> Change
      </DialogButton>
      <button type="button" className="btn" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
        {rule.enabled ? "Disable" : "Enable"}
      </button>
      <DialogButton
        className="btn btn-bad"
        dialog={(close) => (
          <Confirm
            title="Remove this rule?"
            button="Remove the rule"
            fault="The rule could not be removed"
            isHarmful
            onClose={close}
            renews={[["alerts"]]}
            act={() => call((api) => api.alerts.removeRule({ params: { id: rule.id } })).then(onGone)}
          >
            <p className="text-soft">
              Its open alerts are resolved. They stay in the list of resolved alerts. A webhook that was made for this
              rule is removed, when no other rule uses it.
            </p>
          </Confirm>
        )}
      >
        <Trash2 size={14} aria-hidden /> Remove
      </DialogButton>
      {toggle.isError ? <Failure what="The rule was not changed" error={toggle.error} /> : null}
    </div>
  )
}

/** What the rule would have reported in the last days; nothing is sent. */
const Preview = ({ rule }: { readonly rule: AlertRuleState }) => {
  const tested = useRead(["alerts", "test", rule.id], (api) => api.alerts.testRule({ params: { id: rule.id } }))
  return (
    <Loaded read={tested} what="The rule cannot be tested" rows={3}>
      {({ complete, events, firings, since }) => (
        <Panel
          title={`Preview of ${rule.name}`}
          note={`${counted(firings.length, "alert")} since ${dateTime(Date.parse(since))}, of ${whole(events)} events`}
        >
          {complete ? null : (
            <p className="border-b border-line px-3 py-1.5 text-warn">
              The log of that time is longer than a preview reads.
            </p>
          )}
          {firings.length === 0 ? (
            <p className="p-3 text-muted">The rule would not have reported anything.</p>
          ) : (
            <Table label="Preview" columns={firingColumns} rows={firings} keyOf={({ id }) => id} />
          )}
        </Panel>
      )}
    </Loaded>
  )
}
