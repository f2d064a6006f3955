import { type CanonicalEvent, isJsonArray, isJsonObject } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { cut, whole } from "../format/Format.ts"
import { sessionContext } from "../run/SessionContext.ts"

/** The inputs of two runs, and whether they differ: the likely cause of another outcome. */
export interface Cause {
  readonly title: "Policy" | "Inputs" | "Models"
  /** In words, where there is nothing to list. */
  readonly text: string
  readonly differs: boolean
  readonly differences: ReadonlyArray<Difference>
}

export interface Difference {
  readonly name: string
  /** Undefined where the run has none. */
  readonly left: string | undefined
  readonly right: string | undefined
}

/** One side: its policy and its log. */
export interface Given {
  readonly policyVersion: string
  readonly events: ReadonlyArray<CanonicalEvent>
  /** False when only a part of a long log is here. */
  readonly isWhole: boolean
}

/** Differences that are listed, and characters of a value. */
const MOST = 30
const MOST_CHARACTERS = 120

/** Policy, inputs and models of two runs, in this order. */
export const causesOf = (left: Given, right: Given): ReadonlyArray<Cause> => [
  policies(left, right),
  inputs(sessionContext(left.events), sessionContext(right.events), left.isWhole && right.isWhole),
  models(modelsOf(left.events), modelsOf(right.events), left.isWhole && right.isWhole)
]

const policies = (left: Given, right: Given): Cause => {
  const differs = left.policyVersion !== right.policyVersion
  const name = (policy: string) => (policy === "" ? undefined : policy)
  return {
    title: "Policy",
    text: differs ? "differs" : left.policyVersion === "" ? "neither run names one" : `the same: ${left.policyVersion}`,
    differs,
    differences: differs ? [{ name: "policy", left: name(left.policyVersion), right: name(right.policyVersion) }] : []
  }
}

const inputs = (left: Schema.JsonObject | undefined, right: Schema.JsonObject | undefined, isWhole: boolean): Cause => {
  if (!isWhole && (left === undefined || right === undefined)) {
    return { title: "Inputs", text: "unknown: a part of a long log is not loaded", differs: false, differences: [] }
  }
  if (left === undefined && right === undefined) {
    return { title: "Inputs", text: "not on record in either run", differs: false, differences: [] }
  }
  if (left === undefined || right === undefined) {
    const which = left === undefined ? "left" : "right"
    return { title: "Inputs", text: `not on record in the ${which} run`, differs: true, differences: [] }
  }
  return listed("Inputs", differencesOf(leaves(left), leaves(right)), "the same in the context of both sessions")
}

/** The values of an object by their paths: `standby.region`. */
const leaves = (value: Schema.Json, path = ""): ReadonlyArray<readonly [string, string]> =>
  isJsonObject(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, member]) => leaves(member ?? null, path === "" ? name : `${path}.${name}`))
    : [[path, cut(isJsonArray(value) || typeof value !== "string" ? JSON.stringify(value) : value, MOST_CHARACTERS)]]

const modelsOf = (events: ReadonlyArray<CanonicalEvent>): ReadonlyArray<readonly [string, string]> => {
  const found = new Map<string, Set<string>>()
  for (const event of events) {
    if (event.type !== "llm.call.completed") continue
    const { model = "", sender } = event.data
    if (model !== "") found.set(sender, (found.get(sender) ?? new Set()).add(model))
  }
  return Array.from(found, ([participant, names]) => [participant, [...names].toSorted().join(", ")])
}

const models = (
  left: ReadonlyArray<readonly [string, string]>,
  right: ReadonlyArray<readonly [string, string]>,
  isWhole: boolean
): Cause =>
  left.length + right.length === 0
    ? { title: "Models", text: "no call of a model on record", differs: false, differences: [] }
    : listed(
        "Models",
        differencesOf(left, right),
        isWhole ? "the same for each participant" : "the same in the loaded part of the logs"
      )

const differencesOf = (
  left: ReadonlyArray<readonly [string, string]>,
  right: ReadonlyArray<readonly [string, string]>
): ReadonlyArray<Difference> => {
  const [one, other] = [new Map(left), new Map(right)]
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) => {
    const [before, after] = [one.get(name), other.get(name)]
    return before === after ? [] : [{ name, left: before, right: after }]
  })
}

const listed = (title: Cause["title"], all: ReadonlyArray<Difference>, same: string): Cause => ({
  title,
  text:
    all.length === 0 ? same : all.length > MOST ? `the first ${MOST} of ${whole(all.length)} differences` : "differ",
  differs: all.length > 0,
  differences: all.slice(0, MOST)
})
