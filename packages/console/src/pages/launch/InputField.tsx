import { isExactNumber, isJsonObject, jsonFault, jsonFaultText } from "@runplane/domain"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { Plus, Trash2 } from "lucide-react"
import { useEffect, useId, useState } from "react"
import { cut, LINES_LENGTH } from "../../view/format/Format.ts"
import { blankOf, type FieldSpec, fits, type InputFaults } from "../../view/launch/FormSchema.ts"

interface InputFieldProps {
  readonly spec: FieldSpec
  /** Undefined: not given. */
  readonly value: Schema.Json | undefined
  readonly pointer: string
  readonly faults: InputFaults
  readonly isRequired?: boolean
  readonly onChange: (value: Schema.Json | undefined) => void
}

const membersOf = (value: Schema.Json | undefined): Schema.JsonObject => (isJsonObject(value) ? value : {})

/** One field of a form with its members, and the faults that the service reports. */
export const InputField = (props: InputFieldProps) => {
  const { faults, isRequired = false, onChange, pointer, spec, value } = props
  const id = useId()
  const wrong = faults.get(pointer) ?? []
  if (spec.kind === "object") {
    const given = membersOf(value)
    return (
      <fieldset className={pointer === "" ? "flex flex-col gap-3" : "flex flex-col gap-3 border-l-2 border-line pl-3"}>
        {pointer === "" ? null : <legend className="mb-2 font-medium wrap-anywhere">{spec.title}</legend>}
        {pointer === "" ? null : <About id={id} spec={spec} />}
        {spec.members.map((member) => (
          <InputField
            key={member.name}
            spec={member.spec}
            value={given[member.name]}
            pointer={`${pointer}/${member.name}`}
            faults={faults}
            isRequired={member.isRequired}
            onChange={(next) => {
              const { [member.name]: _, ...rest } = given
              onChange(next === undefined ? rest : { ...given, [member.name]: next })
            }}
          />
        ))}
        {pointer === "" || isRequired || value === undefined ? null : <Leave title={spec.title} onChange={onChange} />}
        <Faults id={id} wrong={wrong} />
      </fieldset>
    )
  }
  if (spec.kind === "either") {
    const fitting = spec.branches.findIndex((branch) => fits(branch, value))
    return <Either {...props} branches={spec.branches} chosen={fitting} />
  }
  if (spec.kind === "list") {
    const items = Array.isArray(value) ? (value as ReadonlyArray<Schema.Json>) : []
    return (
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 font-medium wrap-anywhere">{spec.title}</legend>
        {items.map((item, at) => (
          <div key={at} className="flex items-start gap-2">
            <div className="min-w-0 flex-1">
              <InputField
                spec={{ ...spec.item, title: `${spec.item.title || "Item"} ${at + 1}` }}
                value={item}
                pointer={`${pointer}/${at}`}
                faults={faults}
                onChange={(next) => onChange(items.with(at, next ?? blankOf(spec.item)))}
              />
            </div>
            <button
              type="button"
              className="btn btn-quiet mt-5 px-1.5 text-soft"
              aria-label={`Remove item ${at + 1} of ${spec.title}`}
              disabled={items.length <= spec.minItems}
              onClick={() => onChange(items.toSpliced(at, 1))}
            >
              <Trash2 size={14} aria-hidden />
            </button>
          </div>
        ))}
        <About id={id} spec={spec} />
        <span className="flex gap-2">
          <button
            type="button"
            className="btn"
            disabled={spec.maxItems !== undefined && items.length >= spec.maxItems}
            onClick={() => onChange([...items, blankOf(spec.item)])}
          >
            <Plus size={14} aria-hidden /> Add
          </button>
          {isRequired || value === undefined ? null : <Leave title={spec.title} onChange={onChange} />}
        </span>
        <Faults id={id} wrong={wrong} />
      </fieldset>
    )
  }
  const described = { "aria-invalid": wrong.length > 0, "aria-describedby": `${id}-about` }
  return (
    <div>
      <label htmlFor={id} className="flex items-baseline gap-1.5 font-medium">
        {spec.kind === "flag" ? (
          <input
            id={id}
            type="checkbox"
            checked={value === true}
            onChange={({ target }) => onChange(target.checked)}
            {...described}
          />
        ) : null}
        <span className="min-w-0 wrap-anywhere">{spec.title}</span>
        {isRequired ? <span className="label">required</span> : null}
      </label>
      {spec.kind === "flag" ? null : <Entry {...props} id={id} described={described} />}
      <About id={id} spec={spec} />
      <Faults id={id} wrong={wrong} />
    </div>
  )
}

/** The description of a field, and the constraints of its value. */
const About = ({ id, spec }: { readonly id: string; readonly spec: FieldSpec }) => (
  <p id={`${id}-about`} className="wrap-anywhere text-[12px] text-muted">
    {spec.description}
    {spec.description !== undefined && spec.constraints.length > 0 ? " · " : ""}
    {cut(spec.constraints.join(" · "), LINES_LENGTH)}
  </p>
)

const Leave = ({ onChange, title }: { readonly title: string; readonly onChange: InputFieldProps["onChange"] }) => (
  <button
    type="button"
    className="btn btn-quiet self-start text-soft"
    aria-label={`Leave out ${title}`}
    onClick={() => onChange(undefined)}
  >
    Leave out
  </button>
)

interface EitherProps extends InputFieldProps {
  readonly branches: ReadonlyArray<FieldSpec>
  /** The branch that the value has the form of; -1 for none. */
  readonly chosen: number
}

/** A value that has one of several forms: which one, and then its fields. */
const Either = ({ branches, chosen, faults, isRequired = false, onChange, pointer, spec, value }: EitherProps) => {
  const id = useId()
  const [picked, setPicked] = useState(chosen)
  const at = picked >= 0 && (value === undefined || fitsAt(branches, picked, value)) ? picked : chosen
  const branch = branches[at]
  return (
    <fieldset className="flex flex-col gap-2 border-l-2 border-line pl-3">
      <legend className="mb-1 font-medium wrap-anywhere">
        {spec.title} {isRequired ? <span className="label">required</span> : null}
      </legend>
      <About id={id} spec={spec} />
      <label className="block">
        <span className="sr-only">Form of {spec.title}</span>
        <select
          className="field w-full max-w-[420px]"
          value={value === undefined ? -1 : at}
          onChange={({ target }) => {
            const next = Number(target.value)
            const form = branches[next]
            setPicked(next)
            onChange(form === undefined ? undefined : blankOf(form))
          }}
        >
          <option value={-1}>{isRequired ? "Choose" : "Left out"}</option>
          {branches.map(({ title }, each) => (
            <option key={`${each} ${title}`} value={each}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {branch === undefined || value === undefined ? null : (
        <InputField spec={branch} value={value} pointer={pointer} faults={faults} isRequired onChange={onChange} />
      )}
      {branch === undefined ? <Faults id={id} wrong={faults.get(pointer) ?? []} /> : null}
    </fieldset>
  )
}

const fitsAt = (branches: ReadonlyArray<FieldSpec>, at: number, value: Schema.Json): boolean => {
  const branch = branches[at]
  return branch !== undefined && fits(branch, value)
}

interface EntryProps extends InputFieldProps {
  readonly id: string
  readonly described: { readonly "aria-invalid": boolean; readonly "aria-describedby"?: string }
}

const Entry = ({ described, id, onChange, spec, value }: EntryProps) => {
  switch (spec.kind) {
    case "choice": {
      const chosen = value === undefined ? -1 : spec.options.indexOf(value)
      return (
        <select
          id={id}
          className="field mt-0.5 w-full max-w-[420px]"
          value={chosen}
          onChange={({ target }) => onChange(spec.options[Number(target.value)])}
          {...described}
        >
          {chosen < 0 ? <option value={-1}>Choose</option> : null}
          {spec.options.map((option, at) => (
            <option key={JSON.stringify(option)} value={at}>
              {typeof option === "string" ? option : JSON.stringify(option)}
            </option>
          ))}
        </select>
      )
    }
    case "number":
      return (
        <input
          id={id}
          type="number"
          className="field num mt-0.5 w-full max-w-[220px]"
          step={spec.step ?? (spec.isWhole ? 1 : "any")}
          placeholder={spec.example}
          min={spec.min}
          max={spec.max}
          value={typeof value === "number" || typeof value === "string" ? value : ""}
          onChange={({ target }) => onChange(numberOf(target.value))}
          {...described}
        />
      )
    case "text":
      return (
        <input
          id={id}
          type={spec.format === "uri" ? "url" : spec.format === "email" ? "email" : "text"}
          placeholder={spec.example}
          className="field mt-0.5 w-full"
          maxLength={spec.maxLength}
          value={typeof value === "string" ? value : ""}
          onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
          {...described}
        />
      )
    default:
      return <JsonEntry id={id} value={value} onChange={onChange} described={described} />
  }
}

type JsonEntryProps = Pick<EntryProps, "id" | "value" | "onChange" | "described"> & {
  readonly label?: string
  /** Receives whether the text is valid, when it changes. Without it any JSON is valid. */
  readonly onValid?: (isValid: boolean) => void
  /** Why a value does not fit; undefined when it does. */
  readonly faultOf?: (value: Schema.Json | undefined) => string | undefined
}

/** A value as JSON: applied as soon as it is valid. */
export const JsonEntry = ({ described, faultOf, id, label, onChange, onValid, value }: JsonEntryProps) => {
  const [typed, setTyped] = useState(() => JSON.stringify(value, undefined, 2) ?? "")
  const [why, setWhy] = useState("")
  const current = JSON.stringify(value)
  useEffect(() => {
    // A change from elsewhere is shown; the text that is being typed stays.
    setTyped((before) => (sameJson(before, current) ? before : (JSON.stringify(value, undefined, 2) ?? "")))
  }, [current, value])
  return (
    <>
      <textarea
        id={id}
        aria-label={label}
        rows={Math.min(18, Math.max(3, typed.split("\n").length))}
        spellCheck={false}
        className="field mt-0.5 w-full font-mono text-[12px]"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          const read = readJson(target.value)
          const fault = Result.isFailure(read) ? read.failure : faultOf?.(read.success)
          setWhy(fault ?? "")
          onValid?.(fault === undefined)
          if (fault === undefined && Result.isSuccess(read)) onChange(read.success)
        }}
        {...described}
      />
      {why === "" ? null : <p className="text-bad">{why}</p>}
    </>
  )
}

/** The value of a text, or why it is not JSON. */
const readJson = (text: string): Result.Result<Schema.Json | undefined, string> => {
  const fault = jsonFault(text)
  if (fault !== undefined) return Result.fail(jsonFaultText(fault))
  try {
    return Result.succeed(text.trim() === "" ? undefined : JSON.parse(text))
  } catch (error) {
    return Result.fail(`is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** A number that would be rounded stays text, which the service refuses with the name of the field. */
const numberOf = (text: string): Schema.Json | undefined => {
  if (text === "") return undefined
  return isExactNumber(text) ? Number(text) : text
}

const sameJson = (text: string, json: string | undefined): boolean => {
  try {
    return JSON.stringify(JSON.parse(text)) === json
  } catch {
    return true
  }
}

const Faults = ({ id, wrong }: { readonly id: string; readonly wrong: ReadonlyArray<string> }) =>
  wrong.length === 0 ? null : (
    <div id={`${id}-wrong`} role="alert">
      <ul className="text-bad">
        {wrong.map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
    </div>
  )
