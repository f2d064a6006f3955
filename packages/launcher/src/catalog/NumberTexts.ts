import { SCALAR_STYLE } from "js-yaml"
import { yamlScalars } from "../common/YamlScalars.ts"
import type { PackFault } from "./PackFault.ts"

/** A number as YAML of packs knows it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/
/** Keys whose value is meant as a text in every case. */
const TEXT_KEY = /(?:^|_)(?:id|version|ref)s?$|(?:Id|Version|Ref)s?$/
/** The form of a hash of digits with one letter e, which no amount has. */
const HASH = /^\d{3,}[eE]\d+$/

/**
 * Numbers of a YAML text in fields for texts whose parsed value differs from the written one: `version: 1.10` is 1.1
 * (docs/internals/launch.md#faults).
 */
export const numberFaults = (text: string): ReadonlyArray<PackFault> => {
  const faults: Array<PackFault> = []
  for (const { event, isKey, key, path, value } of yamlScalars(text)) {
    if (!isKey && event.style === SCALAR_STYLE.PLAIN && isMisread(value, key)) faults.push(faultOf(value, path()))
  }
  return faults
}

const isMisread = (value: string, key: string): boolean =>
  NUMBER.test(value) && String(Number(value)) !== value && (TEXT_KEY.test(key) || HASH.test(value))

const faultOf = (value: string, at: ReadonlyArray<string>): PackFault => ({
  level: "warning",
  at,
  message: `${value} is read as the number ${Number(value)}: put it in quotes if it is a text`
})
