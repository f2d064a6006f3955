import { canonicalJson } from "@runplane/domain"
import { _, type Ajv, type AnySchemaObject } from "ajv"
import type * as Schema from "effect/Schema"

const UNIQUE_ITEMS = "uniqueItems"
/** The next keyword for lists in draft 2020-12; draft-07 has none. */
const AFTER_IT_IN_2020 = "maxContains"

interface Pair {
  readonly later: number
  readonly earlier: number
}

/**
 * Gives a validator the keyword `uniqueItems` in time that is linear in the size of the list. Its own compares every
 * item with every other one where items may be lists or objects. The error and its position among others stay the same.
 */
export const replaceUniqueItems = (ajv: Ajv) => {
  const own = ajv.getKeyword(UNIQUE_ITEMS)
  if (typeof own === "boolean" || !("code" in own)) throw new Error(`the validator does not define ${UNIQUE_ITEMS}`)
  ajv.removeKeyword(UNIQUE_ITEMS)
  ajv.addKeyword({
    ...own,
    ...(ajv.getKeyword(AFTER_IT_IN_2020) !== false && { before: AFTER_IT_IN_2020 }),
    code: (context) => {
      if (holdsScalars(context.parentSchema)) return own.code(context)
      if (context.schema !== true) return
      const { data, gen } = context
      const find = gen.scopeValue("func", { ref: lastEqualPair })
      const pair = gen.const("pair", _`${find}(${data})`)
      context.setParams({ i: _`${pair}.later`, j: _`${pair}.earlier` })
      context.pass(_`${pair} === undefined`)
    }
  })
}

/** The last item that equals an earlier one, and the nearest such. */
const lastEqualPair = (items: ReadonlyArray<Schema.Json>): Pair | undefined => {
  const lastIndex = new Map<string, number>()
  let found: Pair | undefined
  for (const [later, item] of items.entries()) {
    const key = canonicalJson(item)
    const earlier = lastIndex.get(key)
    if (earlier !== undefined) found = { later, earlier }
    lastIndex.set(key, later)
  }
  return found
}

/** Whether the items can be neither lists nor objects: the validator's own keyword is linear then. */
const holdsScalars = ({ items }: AnySchemaObject): boolean => {
  const type: unknown = items?.type
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  return types.length > 0 && !types.some((name) => name === "object" || name === "array")
}
