/** A field that a search may name, as `GET /query/fields` lists it. */
export interface CompletedField {
  readonly name: string
  readonly description: string
  readonly values?: ReadonlyArray<string>
  /** Some of its values. */
  readonly examples?: ReadonlyArray<string>
  readonly dotted?: boolean
}

export interface Suggestion {
  /** Replaces the word at the cursor. */
  readonly insert: string
  readonly label: string
  readonly says: string
}

export interface Suggestions {
  /** The part of the text that a suggestion replaces. */
  readonly from: number
  readonly to: number
  readonly options: ReadonlyArray<Suggestion>
}

const MOST = 12
const SIGNS = /^(>=|<=|>|<)/

/** Suggestions at the cursor: names of fields, or the values of the field before the colon. */
export const suggestionsAt = (text: string, caret: number, fields: ReadonlyArray<CompletedField>): Suggestions => {
  const before = text.slice(0, caret)
  const inList = /(\w[\w.-]*):\(([^()]*)$/.exec(before)
  if (inList !== null) {
    const [, name = "", listed = ""] = inList
    const typed = listed.slice(listed.lastIndexOf(",") + 1).trimStart()
    return { from: caret - typed.length, to: caret, options: valuesOf(fields, name, typed) }
  }
  const start = Math.max(before.lastIndexOf(" "), before.lastIndexOf("(")) + 1
  const word = before.slice(start)
  const colon = word.indexOf(":")
  if (colon >= 0) {
    const name = word.slice(0, colon).replace(/^-/, "")
    const value = word.slice(colon + 1)
    const typed = value.replace(SIGNS, "")
    return { from: caret - typed.length, to: caret, options: valuesOf(fields, name, typed) }
  }
  const typed = word.replace(/^-/, "")
  return { from: caret - typed.length, to: caret, options: namesOf(fields, typed) }
}

const namesOf = (fields: ReadonlyArray<CompletedField>, typed: string): ReadonlyArray<Suggestion> => {
  const wanted = typed.toLowerCase()
  return [
    ...fields.map(({ description, dotted, name }) => ({
      insert: dotted === true ? `${name}.` : `${name}:`,
      label: dotted === true ? `${name}.…` : name,
      says: description
    })),
    { insert: "has:", label: "has", says: "Field has a value" }
  ]
    .filter(({ label }) => label.toLowerCase().includes(wanted))
    .toSorted((one, other) => Number(!startsWith(one, wanted)) - Number(!startsWith(other, wanted)))
    .slice(0, MOST)
}

const startsWith = ({ label }: Suggestion, wanted: string) => label.toLowerCase().startsWith(wanted)

const valuesOf = (fields: ReadonlyArray<CompletedField>, name: string, typed: string): ReadonlyArray<Suggestion> => {
  const wanted = typed.toLowerCase()
  // The name of a dotted field is the part before its dot: vote.risk-officer.
  const [parent = ""] = name.split(".")
  const found = fields.find((field) => field.name === (field.dotted === true ? parent : name))
  const values = name === "has" ? fields.map((field) => field.name) : (found?.values ?? found?.examples)
  return (values ?? [])
    .filter((value) => value.toLowerCase().includes(wanted) && value !== typed)
    .slice(0, MOST)
    .map((value) => ({ insert: value, label: value, says: "" }))
}

/** A value as a search has it: in quotes where it has more than letters, digits and a few signs. */
export const queryValue = (value: string): string =>
  /^[\w./@-]+$/.test(value) && !value.includes("..") && !value.startsWith("-")
    ? value
    : `"${value.replace(/["\\]/g, "\\$&")}"`
