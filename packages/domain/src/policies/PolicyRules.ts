import type * as Schema from "effect/Schema"
import { closed, isAnnotation, unrecognized } from "./RuleChecks.ts"
import { type RuleSections, ruleSchemas } from "./RuleSchemas.ts"

/** The mode key under which a policy applies to every mode. */
const ANY_MODE = "*"
/** `<proto>.mode.<name>.v<n>` */
const MODE_ID = /^[^.]+\.mode\.([a-z_]+)\.v\d+$/

/**
 * The faults of a policy's rules, one text each: unknown keys, wrong shapes, broken conditions (http-details section 11).
 * A mode without a bundled schema has none; under `*` a section must be right for at least one mode that declares it.
 */
export const policyRuleFaults = (mode: string, rules: Schema.JsonObject): ReadonlyArray<string> => {
  if (mode === ANY_MODE) return Object.entries(rules).flatMap(([key, value]) => faultsUnderAnyMode(key, value))
  const schema = schemaOf(mode)
  return schema === undefined ? [] : faultsUnder(schema, rules)
}

const schemaOf = (mode: string): RuleSections | undefined => {
  const name = MODE_ID.exec(mode)?.[1] ?? mode
  return Object.hasOwn(ruleSchemas, name) ? ruleSchemas[name] : undefined
}

const faultsUnder = (schema: RuleSections, rules: Schema.JsonObject): ReadonlyArray<string> => {
  const faults: Array<string> = []
  closed(schema)(rules, "", (fault) => faults.push(fault))
  return faults
}

const faultsUnderAnyMode = (key: string, value: Schema.Json): ReadonlyArray<string> => {
  if (isAnnotation(key)) return []
  const declaring = Object.values(ruleSchemas).filter((schema) => Object.hasOwn(schema, key))
  if (declaring.length === 0) return [unrecognized("", key)]
  const [first = [], ...others] = declaring.map((schema) => faultsUnder(schema, { [key]: value }))
  return others.some((faults) => faults.length === 0) ? [] : first
}
