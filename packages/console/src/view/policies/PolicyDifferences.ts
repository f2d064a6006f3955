import type { PolicyDescriptor } from "@runplane/api"
import { memberPointer } from "../format/JsonLines.ts"
import { rulesInWords } from "./RegistryPolicy.ts"

/** A difference of two values, or of two sets of rules; a side that lacks it is undefined. */
export interface Difference {
  /** JSON pointer of the member, or the key of the rule. */
  readonly at: string
  readonly left: string | undefined
  readonly right: string | undefined
}

/** The leaves of a JSON value by their pointers; an empty list or object is a leaf. Depth costs no stack. */
const leavesOf = (value: unknown): ReadonlyMap<string, string> => {
  const leaves = new Map<string, string>()
  const stack: Array<readonly [pointer: string, value: unknown]> = [["", value]]
  for (let work = stack.pop(); work !== undefined; work = stack.pop()) {
    const [pointer, member] = work
    const inner = typeof member === "object" && member !== null ? Object.entries(member) : []
    if (inner.length === 0) leaves.set(pointer, JSON.stringify(member) ?? "")
    for (const [key, one] of inner.toReversed()) stack.push([memberPointer(pointer, key), one])
  }
  return leaves
}

const differencesOf = (
  left: ReadonlyMap<string, string>,
  right: ReadonlyMap<string, string>
): ReadonlyArray<Difference> =>
  [...new Set([...left.keys(), ...right.keys()])].flatMap((at) =>
    left.get(at) === right.get(at) ? [] : [{ at, left: left.get(at), right: right.get(at) }]
  )

/** The leaves in which two JSON values differ: those of the left in their order, then those of the right alone. */
export const jsonDifferences = (left: unknown, right: unknown): ReadonlyArray<Difference> =>
  differencesOf(leavesOf(left), leavesOf(right))

const sentences = (policy: PolicyDescriptor): ReadonlyMap<string, string> =>
  new Map(
    [...Map.groupBy(rulesInWords(policy), ({ rule }) => rule)].map(([rule, words]) => [
      rule,
      words.map(({ text }) => text).join(" ")
    ])
  )

/** The rules in which two policies differ, in words; defaults count as rules. */
export const ruleDifferences = (left: PolicyDescriptor, right: PolicyDescriptor): ReadonlyArray<Difference> =>
  differencesOf(sentences(left), sentences(right))
