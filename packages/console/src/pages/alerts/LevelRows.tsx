import type { AlertAction } from "@runplane/domain"
import { Plus, Trash2, X } from "lucide-react"
import { Chip, UserText } from "../../ui/basics.tsx"
import { Select } from "../../ui/kit.tsx"
import { SEVERITIES } from "../../view/alerts/RuleSentence.ts"
import { actionText, type LevelFields } from "../../view/alerts/RuleTargets.ts"
import { Amount } from "./SentenceFields.tsx"

const MOST_LEVELS = 8

/** The levels of a rule: the first one has its threshold in the sentence. */
export const LevelRows = ({
  levels,
  measure,
  onChange
}: {
  readonly measure: string
  readonly levels: ReadonlyArray<LevelFields>
  readonly onChange: (levels: ReadonlyArray<LevelFields>) => void
}) => {
  const set = (number: number, patch: Partial<LevelFields>) =>
    onChange(levels.map((level, at) => (at === number ? { ...level, ...patch } : level)))
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="label">How urgent it is</legend>
      {levels.map((level, number) => (
        <div key={number} className="flex flex-wrap items-center gap-2">
          {number === 0 ? null : (
            <>
              <span className="text-soft">and at</span>
              <Amount
                label={`Threshold of level ${number + 1}`}
                measure={measure}
                value={level.at}
                onChange={(at) => set(number, { at })}
              />
            </>
          )}
          <Select
            className="w-32 shrink-0"
            label={`Severity of level ${number + 1}`}
            value={level.severity}
            options={SEVERITIES}
            onChange={(severity) => set(number, { severity })}
          />
          {levels.length === 1 ? null : (
            <button
              type="button"
              className="btn"
              aria-label={`Remove level ${number + 1}`}
              onClick={() => onChange(levels.filter((_, at) => at !== number))}
            >
              <Trash2 size={14} aria-hidden />
            </button>
          )}
          <LevelActions
            level={number + 1}
            actions={level.actions}
            onRemove={(index) => set(number, { actions: level.actions.filter((_, at) => at !== index) })}
          />
        </div>
      ))}
      <button
        type="button"
        className="btn self-start"
        disabled={levels.length >= MOST_LEVELS}
        onClick={() => onChange([...levels, { at: "", severity: "critical", actions: [] }])}
      >
        <Plus size={14} aria-hidden /> Add a level
      </button>
    </fieldset>
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
