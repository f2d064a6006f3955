import type { JsonSchema } from "./JsonSchema.ts"
import { type Checked, isAbsent, isRecord, type Place, type Rule, type RuleValue } from "./Rule.ts"

export type Fields = Readonly<Record<string, Rule<unknown>>>

type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends { readonly optional: true } ? K : never }[keyof F]

/** What an object of these fields decodes to: optional rules become optional keys. */
export type DecodedFields<F extends Fields> = {
  readonly [K in keyof ({ [P in Exclude<keyof F, OptionalKeys<F>>]: F[P] } & {
    [P in OptionalKeys<F>]?: F[P]
  })]: RuleValue<F[K]>
}

export interface ObjectRule<A> extends Rule<A> {
  /** Like `check`, with the messages of the fields unprefixed: for the body or the query itself. */
  readonly checkRoot: (value: unknown, report: (message: string) => void) => Checked<A> | undefined
}

export interface ObjectOptions {
  /** `reject` reports `property <key> should not exist`; `drop` leaves unknown keys out of the decoded value. */
  readonly unknownKeys: "reject" | "drop"
}

/** An object with named fields. Unknown keys are reported first, then the fields in the order they are declared in. */
export const object = <const F extends Fields>(fields: F, options: ObjectOptions): ObjectRule<DecodedFields<F>> => {
  const entries = Object.entries(fields)

  const checkFields = (value: Readonly<Record<string, unknown>>, prefix: string, report: (message: string) => void) => {
    let ok = true
    if (options.unknownKeys === "reject") {
      for (const key of Object.keys(value)) {
        if (Object.hasOwn(fields, key)) continue
        report(`${prefix}property ${key} should not exist`)
        ok = false
      }
    }
    const decoded: Record<string, unknown> = {}
    for (const [key, rule] of entries) {
      const raw = Object.hasOwn(value, key) ? value[key] : undefined
      if (rule.optional && isAbsent(raw)) continue
      const checked = rule.check(raw, { key, prefix }, report)
      if (checked === undefined) ok = false
      else decoded[key] = checked.value
    }
    // Each key holds what its own rule decoded, which is what DecodedFields says.
    return ok ? { value: decoded as DecodedFields<F> } : undefined
  }

  return {
    optional: false,
    jsonSchema: objectSchema(fields, options),
    check: (value, place, report) => {
      if (isRecord(value)) return checkFields(value, `${place.prefix}${place.key}.`, report)
      report(notAnObject(value, place))
      return undefined
    },
    checkRoot: (value, report) => checkFields(isRecord(value) ? value : {}, "", report)
  }
}

const notAnObject = (value: unknown, place: Place) =>
  isAbsent(value)
    ? `${place.prefix}${place.key} should not be null or undefined`
    : `${place.prefix}${place.key} must be an object`

const objectSchema = (fields: Fields, options: ObjectOptions): JsonSchema => {
  const required = Object.entries(fields).flatMap(([key, rule]) =>
    rule.optional || "defaultValue" in rule ? [] : [key]
  )
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([key, rule]) => [key, rule.jsonSchema])),
    ...(required.length === 0 ? {} : { required }),
    ...(options.unknownKeys === "reject" ? { additionalProperties: false } : {})
  }
}
