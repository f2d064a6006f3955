import type { AlertRuleState } from "@runplane/api"
import {
  ALERT_MEASURES,
  type AlertAction,
  AlertFormat,
  AlertPer,
  AlertSeverity,
  type AlertTelemetry,
  AlertWindow,
  mayRefuse,
  measureOf
} from "@runplane/domain"
import { Plus, Trash2, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { call } from "../../client/Client.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Select } from "../../ui/kit.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { actionText, changedRule, type LevelFields, levelsLegend, withTarget } from "../../view/alerts/RuleTargets.ts"

const NEW_LEVELS: ReadonlyArray<LevelFields> = [
  { at: "80", severity: "info", actions: [] },
  { at: "95", severity: "warning", actions: [] },
  { at: "100", severity: "critical", actions: [] }
]
const MOST_LEVELS = 8

const TELEMETRY_OPTIONS: ReadonlyArray<readonly [AlertTelemetry, string]> = [
  ["count", "is counted apart, and only notifies"],
  ["act", "counts in full, and can stop runs"]
]

const options = <Word extends string>(words: ReadonlyArray<Word>) => words.map((word) => [word, word] as const)

const localZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Adds a rule, or changes one. A new target is added to all levels, beside the actions that each has. */
export const RuleForm = ({ onClose, rule }: { readonly rule?: AlertRuleState; readonly onClose: () => void }) => {
  const [id, setId] = useState(rule?.id ?? "")
  const [name, setName] = useState(rule?.name ?? "")
  const [match, setMatch] = useState(rule?.match ?? "")
  const [measure, setMeasure] = useState(rule?.measure ?? "costUsd")
  const [per, setPer] = useState(rule?.per ?? "all")
  const [window, setWindow] = useState(rule?.window ?? "month")
  const [zone, setZone] = useState(rule?.zone ?? localZone())
  const [levels, setLevels] = useState<ReadonlyArray<LevelFields>>(
    rule?.levels.map(({ actions, at, severity }) => ({ at: String(at), severity, actions })) ?? NEW_LEVELS
  )
  const [telemetry, setTelemetry] = useState<AlertTelemetry>(rule?.telemetry ?? "count")
  const [target, setTarget] = useState("")
  const [format, setFormat] = useState<(typeof AlertFormat.literals)[number]>("generic")
  const [routingKey, setRoutingKey] = useState("")
  const [admission, setAdmission] = useState(rule?.admission ?? false)
  const [expected, setExpected] = useState(rule?.expectedCostUsd === undefined ? "" : String(rule.expectedCostUsd))

  const added: AlertAction | undefined =
    target.trim() === ""
      ? undefined
      : {
          type: "webhook",
          ...(/^https?:/i.test(target.trim()) ? { url: target.trim() } : { subscription: target.trim() }),
          format,
          ...(format === "pagerduty" && { routingKey })
        }
  const isAdmission = admission && mayRefuse(measure)
  const fields = changedRule(rule, { name, match, per, window, zone, measure, telemetry }, withTarget(levels, added), {
    ...(isAdmission && { admission, ...(expected !== "" && { expectedCostUsd: Number(expected) }) })
  })
  const save = useChange(
    () =>
      rule === undefined
        ? call((api) => api.alerts.addRule({ payload: { id, ...fields } }))
        : call((api) => api.alerts.putRule({ params: { id: rule.id }, payload: fields })),
    [["alerts"]],
    onClose
  )
  const setLevel = (number: number, patch: Partial<LevelFields>) =>
    setLevels(levels.map((level, at) => (at === number ? { ...level, ...patch } : level)))

  return (
    <FormDialog
      title={rule === undefined ? "Add a rule" : `Change the rule ${rule.id}`}
      button={rule === undefined ? "Add" : "Save"}
      fault="The rule was not saved"
      change={save}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        {rule === undefined ? (
          <Text label="Id" value={id} onChange={setId} isRequired placeholder="support-budget" hasFocus />
        ) : null}
        <Text label="Name" value={name} onChange={setName} isRequired placeholder="Budget of support" />
      </div>
      <div>
        <span className="label">Runs that count (empty: all)</span>
        <div className="mt-1">
          <QueryBar
            resource="runs"
            label="Runs that count"
            placeholder="environment:production"
            value={match}
            onChange={setMatch}
          />
        </div>
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        <label className="block">
          <span className="label">Measure</span>
          <input
            required
            list="alert-measures"
            className="field mt-1 w-full"
            value={measure}
            onChange={({ target }) => setMeasure(target.value)}
          />
          <datalist id="alert-measures">
            {ALERT_MEASURES.map((word) => (
              <option key={word} value={word} label={measureOf(word).words} />
            ))}
          </datalist>
        </label>
        <Choice label="One counter for each">
          <Select className="w-full" label="Per" value={per} options={options(AlertPer.literals)} onChange={setPer} />
        </Choice>
        <Choice label="Window">
          <Select
            className="w-full"
            label="Window"
            value={window}
            options={options(AlertWindow.literals)}
            onChange={setWindow}
          />
        </Choice>
        <Text label="Zone" value={zone} onChange={setZone} isRequired />
        <Choice label="What telemetry reports">
          <Select
            className="w-full"
            label="What telemetry reports"
            value={telemetry}
            options={TELEMETRY_OPTIONS}
            onChange={setTelemetry}
          />
        </Choice>
      </div>
      <fieldset className="flex flex-col gap-1.5">
        <legend className="label">{levelsLegend(measure)}</legend>
        {levels.map((level, number) => (
          <div key={number} className="flex flex-wrap items-center gap-2">
            <input
              required
              type="number"
              min={0}
              step="any"
              aria-label={`Threshold of level ${number + 1}`}
              className="field min-w-0 flex-1"
              value={level.at}
              onChange={({ target }) => setLevel(number, { at: target.value })}
            />
            <Select
              className="w-28 shrink-0"
              label={`Severity of level ${number + 1}`}
              value={level.severity}
              options={options(AlertSeverity.literals)}
              onChange={(severity) => setLevel(number, { severity })}
            />
            <button
              type="button"
              className="btn"
              aria-label={`Remove level ${number + 1}`}
              disabled={levels.length === 1}
              onClick={() => setLevels(levels.filter((_, at) => at !== number))}
            >
              <Trash2 size={14} aria-hidden />
            </button>
            <LevelActions
              level={number + 1}
              actions={level.actions}
              onRemove={(index) => setLevel(number, { actions: level.actions.filter((_, at) => at !== index) })}
            />
          </div>
        ))}
        <button
          type="button"
          className="btn self-start"
          disabled={levels.length >= MOST_LEVELS}
          onClick={() => setLevels([...levels, { at: "", severity: "critical", actions: [] }])}
        >
          <Plus size={14} aria-hidden /> Add a level
        </button>
      </fieldset>
      <div className="grid gap-3 sm:grid-cols-[1fr_auto]">
        <Text
          label={`${rule === undefined ? "Notify" : "Also notify at every level"} (URL, or id of a webhook endpoint)`}
          value={target}
          onChange={setTarget}
          placeholder="https://hooks.slack.com/services/..."
        />
        <Choice label="Format">
          <Select label="Format" value={format} options={options(AlertFormat.literals)} onChange={setFormat} />
        </Choice>
      </div>
      {format === "pagerduty" ? (
        <Text label="Routing key" value={routingKey} onChange={setRoutingKey} isRequired />
      ) : null}
      {mayRefuse(measure) ? (
        <div className="grid items-end gap-3 sm:grid-cols-2">
          <label className="flex items-center gap-2 py-1">
            <input type="checkbox" checked={admission} onChange={({ target }) => setAdmission(target.checked)} />
            Refuse runs that would reach the limit
          </label>
          {admission ? (
            <Text
              label="Dollars of a run (empty: its usual cost)"
              value={expected}
              onChange={setExpected}
              placeholder="0.25"
            />
          ) : null}
        </div>
      ) : null}
    </FormDialog>
  )
}

/** The actions of a level, each with its removal. */
const LevelActions = ({
  actions,
  level,
  onRemove
}: {
  readonly level: number
  readonly actions: ReadonlyArray<AlertAction>
  readonly onRemove: (index: number) => void
}) =>
  actions.length === 0 ? null : (
    <ul className="flex w-full flex-wrap gap-1.5" aria-label={`Actions of level ${level}`}>
      {actions.map((action, index) => (
        <li key={`${index} ${actionText(action)}`} className="flex max-w-full items-center gap-0.5">
          <Chip>
            <UserText text={actionText(action)} />
          </Chip>
          <button
            type="button"
            className="btn"
            aria-label={`Remove ${actionText(action)} from level ${level}`}
            onClick={() => onRemove(index)}
          >
            <X size={12} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  )

interface TextProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly isRequired?: boolean
  readonly hasFocus?: boolean
  readonly placeholder?: string
}

const Text = ({ hasFocus = false, isRequired = false, label, onChange, placeholder, value }: TextProps) => (
  <label className="block">
    <span className="label">{label}</span>
    <input
      autoFocus={hasFocus}
      required={isRequired}
      spellCheck={false}
      className="field mt-1 w-full"
      placeholder={placeholder}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
)

const Choice = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div>
    <span className="label">{label}</span>
    <div className="mt-1">{children}</div>
  </div>
)
