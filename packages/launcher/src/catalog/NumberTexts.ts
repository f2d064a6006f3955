import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from "js-yaml"
import { eventsOf } from "../common/LineOfPath.ts"
import type { PackFault } from "./PackFault.ts"

/** A number as YAML of packs knows it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/
/** Keys whose value is meant as a text, whatever it looks like. */
const TEXT_KEY = /(?:^|_)(?:id|version|ref)s?$|(?:Id|Version|Ref)s?$/
/** What a hash of digits with one letter e looks like, and no amount does. */
const HASH = /^\d{3,}[eE]\d+$/

interface Level {
  readonly isMapping: boolean
  /** In a mapping the key whose value comes next; undefined where a key comes next. */
  key: string | undefined
  /** In a sequence the index of what comes next. */
  index: number
}

/**
 * Numbers of a YAML text that stand where a text is meant and read otherwise than they are written: `version: 1.10` is
 * 1.1 (docs/launch.md#faults).
 */
export const numberFaults = (text: string): ReadonlyArray<PackFault> => {
  const events = eventsOf(text)
  const levels: Array<Level> = []
  const faults: Array<PackFault> = []
  const pathOf = () => levels.map(({ index, isMapping, key }) => (isMapping ? (key ?? "") : String(index)))
  const pass = () => {
    const level = levels.at(-1)
    if (level === undefined) return
    if (level.isMapping) level.key = undefined
    else level.index++
  }
  for (const event of events) {
    const level = levels.at(-1)
    const isKey = level?.isMapping === true && level.key === undefined
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const value = getScalarValue(text, event)
        if (isKey) level.key = value
        else {
          if (isPlain(event) && isMisread(value, nearestKey(levels))) faults.push(faultOf(value, pathOf()))
          pass()
        }
        break
      }
      case EVENT_ID.ALIAS:
        if (isKey) level.key = ""
        else pass()
        break
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE:
        levels.push({ isMapping: event.type === EVENT_ID.MAPPING, key: undefined, index: 0 })
        break
      case EVENT_ID.POP: {
        levels.pop()
        const parent = levels.at(-1)
        if (parent?.isMapping === true && parent.key === undefined) parent.key = ""
        else pass()
        break
      }
    }
  }
  return faults
}

const isPlain = (event: Event) => event.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN

/** The key of a value, or of the list that it is in. */
const nearestKey = (levels: ReadonlyArray<Level>): string => levels.findLast(({ isMapping }) => isMapping)?.key ?? ""

const isMisread = (value: string, key: string): boolean =>
  NUMBER.test(value) && String(Number(value)) !== value && (TEXT_KEY.test(key) || HASH.test(value))

const faultOf = (value: string, at: ReadonlyArray<string>): PackFault => ({
  level: "warning",
  at,
  message: `${value} is read as the number ${Number(value)}: put it in quotes if it is a text`
})
