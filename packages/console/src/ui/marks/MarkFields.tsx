import { MAX_MARK_COMMENT, type MarkDefinition, type MarkValue } from "@runplane/domain"
import { type RefObject, useEffect, useId, useState } from "react"
import { whole } from "../../view/format/Format.ts"
import { betterText } from "../../view/marks/MarkColumns.ts"
import { type Choice, choicesOf, valueText } from "../../view/marks/Marks.ts"
import { Kbd, UserText } from "../basics.tsx"
import { Select } from "../kit.tsx"

interface ValueFieldProps {
  readonly name: string
  readonly definition: MarkDefinition | undefined
  readonly choices?: ReadonlyArray<Choice>
  readonly value: MarkValue | undefined
  readonly onChange: (value: MarkValue | undefined) => void
  /** In the review queue: the keys 1 to 9 choose a value, and a typed number counts when it is complete. */
  readonly isReview?: boolean
}

/** A value of a definition: one of its choices, or any number of its range. Without a definition any value. */
export const ValueField = ({
  choices: given,
  definition,
  isReview = false,
  name,
  onChange,
  value
}: ValueFieldProps) => {
  const choices = given ?? choicesOf(definition)
  const isNumber = definition?.kind === "number"
  const better = betterText(definition?.better)
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="label mb-1">Value</legend>
      {better === undefined ? null : <p className="-mt-1 text-[12px] text-muted">{better}</p>}
      {choices.length === 0 ? null : (
        <div className="flex flex-wrap gap-1.5">
          {choices.map((choice) => (
            <button
              key={String(choice.value)}
              type="button"
              aria-pressed={choice.value === value}
              className={`btn h-auto min-h-7 max-w-full py-0.5 whitespace-normal ${
                choice.value === value ? "border-accent bg-accent-soft text-accent" : ""
              }`}
              onClick={() => onChange(choice.value)}
            >
              {isReview && choice.key !== undefined ? <Kbd keys={choice.key} /> : null}
              <UserText text={valueText(name, choice.value)} />
            </button>
          ))}
        </div>
      )}
      {isNumber ? (
        <NumberField isReview={isReview} definition={definition} value={value} onChange={onChange} />
      ) : definition === undefined ? (
        <AnyField value={value} onChange={onChange} />
      ) : null}
    </fieldset>
  )
}

const NumberField = ({
  definition: { max, min },
  isReview = false,
  onChange,
  value
}: Pick<ValueFieldProps, "isReview" | "onChange" | "value"> & {
  readonly definition: Pick<MarkDefinition, "max" | "min">
}) => {
  const [text, setText] = useState("")
  const shown = typeof value === "number" ? String(value) : ""
  useEffect(() => setText(shown), [shown])
  const take = (typed: string) => {
    const number = Number(typed)
    const isValid = typed.trim() !== "" && number >= (min ?? number) && number <= (max ?? number)
    if (isValid || !isReview) onChange(isValid ? number : undefined)
  }
  return (
    <label className="flex items-center gap-2">
      <span className="label">Exact number</span>
      <input
        type="number"
        step="any"
        min={min}
        max={max}
        className="field w-[110px]"
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          if (!isReview) take(target.value)
        }}
        onBlur={() => (isReview && text !== shown ? take(text) : undefined)}
        onKeyDown={(event) => {
          if (isReview && event.key === "Enter") event.currentTarget.blur()
        }}
      />
      {min === undefined && max === undefined ? null : (
        <span className="num text-muted">
          {min ?? "any"} to {max ?? "any"}
        </span>
      )}
    </label>
  )
}

const KINDS = [
  ["flag", "true or false"],
  ["number", "a number"],
  ["category", "a text"]
] as const

const FLAGS = [
  { key: undefined, value: true },
  { key: undefined, value: false }
]

/** A value of a name without a definition. */
const AnyField = ({ onChange, value }: Pick<ValueFieldProps, "onChange" | "value">) => {
  const [kind, setKind] = useState<(typeof KINDS)[number][0]>("flag")
  return (
    <div className="flex flex-wrap items-start gap-2">
      <Select
        label="Kind of the value"
        value={kind}
        options={KINDS}
        onChange={(next) => {
          setKind(next)
          onChange(undefined)
        }}
      />
      {kind === "flag" ? (
        FLAGS.map((flag) => (
          <button
            key={String(flag.value)}
            type="button"
            aria-pressed={flag.value === value}
            className={`btn ${flag.value === value ? "border-accent bg-accent-soft text-accent" : ""}`}
            onClick={() => onChange(flag.value)}
          >
            {String(flag.value)}
          </button>
        ))
      ) : kind === "number" ? (
        <NumberField definition={{}} value={value} onChange={onChange} />
      ) : (
        <label>
          <span className="sr-only">Text of the value</span>
          <input
            className="field w-[200px]"
            maxLength={200}
            value={typeof value === "string" ? value : ""}
            onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
          />
        </label>
      )}
    </div>
  )
}

interface CommentFieldProps {
  readonly value: string
  readonly onChange: (comment: string) => void
  readonly onDone?: () => void
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null>
  readonly rows?: number
}

/** The comment of a mark. Ctrl or Command with Enter, and Escape, end it. */
export const CommentField = ({ fieldRef, onChange, onDone, rows = 3, value }: CommentFieldProps) => {
  const id = useId()
  return (
    <div>
      <label htmlFor={id} className="label">
        Comment (optional)
      </label>
      <textarea
        id={id}
        ref={fieldRef}
        rows={rows}
        dir="auto"
        maxLength={MAX_MARK_COMMENT}
        className="field mt-1 w-full"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onBlur={onDone}
        onKeyDown={(event) => {
          const ends = event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))
          if (!ends || onDone === undefined) return
          event.preventDefault()
          event.stopPropagation()
          event.currentTarget.blur()
        }}
      />
      {value.length < MAX_MARK_COMMENT - 500 ? null : (
        <p className="num text-[12px] text-muted">
          {whole(value.length)} of {whole(MAX_MARK_COMMENT)} characters
        </p>
      )}
    </div>
  )
}
