import type { AlertRuleState } from "@runplane/api"
import { type AlertAction, AlertFormat, type AlertTelemetry, mayRefuse } from "@runplane/domain"
import { type ReactNode, useState } from "react"
import { call } from "../../client/Client.ts"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Select } from "../../ui/kit.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import {
  hasZone,
  idOf,
  nameOf,
  ruleSentence,
  storedAmount,
  typedAmount,
  typedUnit
} from "../../view/alerts/RuleSentence.ts"
import { changedRule, type LevelFields, withTarget } from "../../view/alerts/RuleTargets.ts"
import { LevelRows } from "./LevelRows.tsx"
import { RuleTrial } from "./RuleTrial.tsx"
import { SentenceFields, type SentenceValues } from "./SentenceFields.tsx"

const NEW_LEVELS: ReadonlyArray<LevelFields> = [{ at: "1", severity: "warning", actions: [] }]
const NEW_COUNTS: SentenceValues = { measure: "costUsd", per: "run", window: "run" }

const TELEMETRY_OPTIONS: ReadonlyArray<readonly [AlertTelemetry, string]> = [
  ["count", "is counted apart, and only notifies"],
  ["act", "counts in full, and can stop runs"]
]

const FORMATS: Readonly<Record<(typeof AlertFormat.literals)[number], string>> = {
  generic: "JSON (Standard Webhooks)",
  slack: "Slack",
  teams: "Microsoft Teams",
  alertmanager: "Alertmanager",
  pagerduty: "PagerDuty",
  mail: "Mail relay"
}
const FORMAT_OPTIONS = AlertFormat.literals.map((format) => [format, FORMATS[format]] as const)

const localZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

interface RuleFormProps {
  readonly rule?: AlertRuleState
  /** The ids of the other rules: a new one gets its own. */
  readonly taken?: ReadonlySet<string>
  readonly onClose: () => void
}

/**
 * Adds a rule, or changes one: a sentence, how urgent it is, and who is notified. Without a name it has that of its
 * sentence. A new target is added to all levels, beside the actions that each has.
 */
export const RuleForm = ({ onClose, rule, taken = new Set() }: RuleFormProps) => {
  const [id, setId] = useState("")
  const [name, setName] = useState(rule?.name ?? "")
  const [match, setMatch] = useState(rule?.match ?? "")
  const [counts, setCounts] = useState<SentenceValues>(rule ?? NEW_COUNTS)
  const [zone, setZone] = useState(rule?.zone ?? localZone())
  const [levels, setLevels] = useState<ReadonlyArray<LevelFields>>(
    rule?.levels.map(({ actions, at, severity }) => ({ at: typedAmount(rule.measure, at), severity, actions })) ??
      NEW_LEVELS
  )
  const [telemetry, setTelemetry] = useState<AlertTelemetry>(rule?.telemetry ?? "count")
  const [target, setTarget] = useState("")
  const [format, setFormat] = useState<(typeof AlertFormat.literals)[number]>("generic")
  const [routingKey, setRoutingKey] = useState("")
  const [admission, setAdmission] = useState(rule?.admission ?? false)
  const [expected, setExpected] = useState(rule?.expectedCostUsd === undefined ? "" : String(rule.expectedCostUsd))

  const { measure, per, window } = counts
  const sentence = ruleSentence({
    ...{ measure, per, window },
    levels: levels.map(({ at }) => ({ at: storedAmount(measure, at) }))
  })
  const shownName = name.trim() === "" ? nameOf(sentence).slice(0, 100) : name
  const mayAdmit = mayRefuse(measure) && hasZone(window)
  const fieldsWith = (targets: ReadonlyArray<LevelFields>) =>
    changedRule(rule, { name: shownName, match, per, window, zone, measure, telemetry }, targets, {
      ...(admission && mayAdmit && { admission, ...(expected !== "" && { expectedCostUsd: Number(expected) }) })
    })
  const fields = fieldsWith(withTarget(levels, targetOf(target, format, routingKey)))
  const save = useChange(
    () =>
      rule === undefined
        ? call((api) => api.alerts.addRule({ payload: { id: id.trim() || idOf(shownName, taken), ...fields } }))
        : call((api) => api.alerts.putRule({ params: { id: rule.id }, payload: fields })),
    [["alerts"]],
    onClose
  )
  const setSentence = (next: SentenceValues) => {
    // A threshold of another unit is another amount.
    if (typedUnit(next.measure) !== typedUnit(measure)) {
      setLevels(levels.slice(0, 1).map((level) => ({ ...level, at: typedUnit(next.measure).usual })))
    }
    setCounts(next)
  }

  return (
    <FormDialog
      title={rule === undefined ? "Add a rule" : "Change the rule"}
      button={rule === undefined ? "Add" : "Save"}
      fault="The rule was not saved"
      change={save}
      onClose={onClose}
    >
      <SentenceFields
        values={counts}
        onChange={setSentence}
        amount={levels[0]?.at ?? ""}
        onAmount={(at) => setLevels(levels.map((level, number) => (number === 0 ? { ...level, at } : level)))}
      />
      <RuleTrial draft={fieldsWith(levels.map((level) => ({ ...level, actions: [] })))} />
      <div>
        <span className="label">Of runs that match (empty: all)</span>
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
      <LevelRows measure={measure} levels={levels} onChange={setLevels} />
      <div className="grid gap-3 sm:grid-cols-[1fr_auto]">
        <Text
          label={`${rule === undefined ? "Notify" : "Also notify at every level"} (URL, or id of a webhook endpoint)`}
          value={target}
          onChange={setTarget}
          placeholder="https://hooks.slack.com/services/..."
        />
        <Choice label="Format">
          <Select label="Format" value={format} options={FORMAT_OPTIONS} onChange={setFormat} />
        </Choice>
      </div>
      {format === "pagerduty" ? (
        <Text label="Routing key" value={routingKey} onChange={setRoutingKey} isRequired />
      ) : null}
      {mayAdmit ? (
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
      <details className="rounded-lg border border-line px-3 py-2" open={rule !== undefined}>
        <summary className="cursor-pointer text-soft">Name, {hasZone(window) ? "time zone, " : ""}telemetry</summary>
        <div className="mt-2 grid gap-3 sm:grid-cols-2">
          <Text label="Name" value={name} onChange={setName} placeholder={shownName} />
          {rule === undefined ? (
            <Text label="Id" value={id} onChange={setId} placeholder={idOf(shownName, taken)} />
          ) : null}
          {hasZone(window) ? <Text label="Time zone" value={zone} onChange={setZone} isRequired /> : null}
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
      </details>
    </FormDialog>
  )
}

const targetOf = (
  target: string,
  format: (typeof AlertFormat.literals)[number],
  routingKey: string
): AlertAction | undefined =>
  target.trim() === ""
    ? undefined
    : {
        type: "webhook",
        ...(/^https?:/i.test(target.trim()) ? { url: target.trim() } : { subscription: target.trim() }),
        format,
        ...(format === "pagerduty" && { routingKey })
      }

interface TextProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly isRequired?: boolean
  readonly placeholder?: string
}

const Text = ({ isRequired = false, label, onChange, placeholder, value }: TextProps) => (
  <label className="block">
    <span className="label">{label}</span>
    <input
      required={isRequired}
      spellCheck={false}
      className="field mt-1 w-full"
      placeholder={placeholder}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
)

const Choice = ({ children, label }: { readonly children: ReactNode; readonly label: string }) => (
  <div>
    <span className="label">{label}</span>
    <div className="mt-1">{children}</div>
  </div>
)
