import type { AlertPer, AlertWindow } from "@runplane/domain"
import { markOfMeasure, measureKind } from "@runplane/domain"
import { ChevronDown } from "lucide-react"
import type { ReactNode } from "react"
import { WordSelect } from "../../ui/kit.tsx"
import {
  fitting,
  hasMark,
  MEASURE_CHOICES,
  measureOfKind,
  SUBJECTS,
  sentenceParts,
  subjectsOf,
  typedUnit,
  WINDOWS,
  windowsOf
} from "../../view/alerts/RuleSentence.ts"

/** What the sentence of a rule says. */
export interface SentenceValues {
  readonly measure: string
  readonly per: AlertPer
  readonly window: AlertWindow
}

/** The sentence of a rule, each part of it a field: `Alert when [a run] [costs] [$1] or more`. */
export const SentenceFields = ({
  amount,
  onAmount,
  onChange,
  values
}: {
  readonly values: SentenceValues
  readonly onChange: (values: SentenceValues) => void
  /** The threshold of the first level, as it is typed. */
  readonly amount: string
  readonly onAmount: (typed: string) => void
}) => {
  const { measure, per, window } = values
  const { after, before } = sentenceParts(measure)
  const set = (patch: Partial<SentenceValues>) => onChange(fitting({ ...values, ...patch }, per))
  return (
    <fieldset className="rounded-lg border border-line bg-sunken px-3 py-2.5">
      <legend className="sr-only">When the rule alerts</legend>
      <p className="flex flex-wrap items-center gap-x-1.5 gap-y-2 text-[15px]">
        Alert when
        <Choice
          label="Subject"
          text={SUBJECTS[per]}
          value={per}
          options={subjectsOf(measure)}
          onChange={(chosen) => set({ per: chosen })}
        />
        <Choice
          label="Measure"
          text={before}
          value={measureKind(measure)}
          options={MEASURE_CHOICES}
          onChange={(kind) => set({ measure: measureOfKind(kind, "quality") })}
        />
        <Amount label="Threshold of level 1" measure={measure} value={amount} onChange={onAmount} />
        {hasMark(measure) ? (
          <>
            for
            <input
              required
              aria-label="Name of the mark"
              className="field w-28"
              value={markOfMeasure(measure) ?? ""}
              onChange={({ target }) => set({ measure: measureOfKind(measureKind(measure), target.value) })}
            />
          </>
        ) : (
          <span>{after}</span>
        )}
        {per === "run" ? null : (
          <Choice
            label="Window"
            text={WINDOWS[window]}
            value={window}
            options={windowsOf(per)}
            onChange={(chosen) => set({ window: chosen })}
          />
        )}
      </p>
    </fieldset>
  )
}

/** A threshold in the unit that it is typed in. */
export const Amount = ({
  label,
  measure,
  onChange,
  value
}: {
  readonly label: string
  readonly measure: string
  readonly value: string
  readonly onChange: (typed: string) => void
}) => {
  const { after, before } = typedUnit(measure)
  return (
    <span className="inline-flex items-center gap-1">
      {before === "" ? null : <span aria-hidden>{before}</span>}
      <input
        required
        type="number"
        min={0}
        step="any"
        aria-label={`${label}${before === "$" ? ", dollars" : after === "" ? "" : `, ${after === "%" ? "percent" : after}`}`}
        className="field num w-24"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {after === "" ? null : <span aria-hidden>{after}</span>}
    </span>
  )
}

interface ChoiceProps<Word extends string> {
  readonly label: string
  /** The words of the chosen option in the sentence. */
  readonly text: ReactNode
  readonly value: Word
  readonly options: ReadonlyArray<readonly [Word, string]>
  readonly onChange: (word: Word) => void
}

/** A word of the sentence that can be chosen: the list lies over it, so that the sentence stays one line of text. */
const Choice = <Word extends string>({ label, onChange, options, text, value }: ChoiceProps<Word>) => (
  <span className="relative inline-flex h-7 items-center gap-0.5 rounded-md border border-line-strong bg-panel px-2 font-medium focus-within:outline-2 focus-within:outline-accent">
    <span aria-hidden>{text}</span>
    <ChevronDown size={13} aria-hidden className="text-muted" />
    <WordSelect
      label={label}
      value={value}
      options={options}
      onChange={onChange}
      className="absolute inset-0 w-full cursor-pointer opacity-0"
    />
  </span>
)
