import { isBlank, isOneLine } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { distinct, isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import type { ScenarioTemplate, ScenarioVersion } from "./Catalog.ts"
import { SCENARIO_KEYS, TEMPLATE_KEYS, unknownKeys } from "./KnownKeys.ts"
import { isLinear, patternsIn } from "./LinearPattern.ts"
import type { LaunchBlock } from "./PackDocuments.ts"
import type { PackFault } from "./PackFault.ts"
import { shadowFaults } from "./ShadowFaults.ts"

/** The names of a scenario version that count: the slug of its pack, and its folders. */
interface ScenarioNames {
  /** Undefined where only the scenario's folder is checked. */
  readonly pack?: string | undefined
  readonly scenario: string
  readonly version: string
}
type Version = Omit<ScenarioVersion, "templates">

/**
 * What the service, `validate` and `lint` say of a scenario file that loads (docs/internals/launch.md#faults). Pure.
 */
export const scenarioFaults = (
  names: ScenarioNames,
  document: JsonObject,
  version: Version
): ReadonlyArray<PackFault> => [
  ...unknownKeys(document, SCENARIO_KEYS),
  ...nameFaults(names, document["metadata"]),
  ...patternFaults(version),
  ...defaultFaults(version),
  ...publishFaults(version),
  ...keyFaults(version.base, ["spec"]),
  ...participantFaults(version.base.launch, ["spec", "launch"]),
  ...shadowFaults(version.base.launch, NO_AGENTS, ["spec", "launch"])
]

/** The file alone says nothing of the catalog of agents. */
const NO_AGENTS = { knows: undefined, isPerson: undefined }

/** The same of a template: only its overrides. Pure. */
export const templateFaults = (
  document: JsonObject,
  { plan }: ScenarioTemplate,
  { base }: Version
): ReadonlyArray<PackFault> => {
  const faultsOf = (launch: LaunchBlock, block: ReadonlyArray<string>) => [
    ...participantFaults(launch, block),
    ...shadowFaults(launch, NO_AGENTS, block)
  ]
  const known = new Set(faultsOf(base.launch, []).map(({ message }) => message))
  const brought = faultsOf(plan.launch, ["spec", "overrides", "launch"])
  const key =
    plan.execution.idempotencyKey === base.execution.idempotencyKey ? [] : keyFaults(plan, ["spec", "overrides"])
  return [...unknownKeys(document, TEMPLATE_KEYS), ...key, ...brought.filter(({ message }) => !known.has(message))]
}

const nameFaults = (names: ScenarioNames, metadata: Json | undefined): ReadonlyArray<PackFault> => {
  if (!isJsonObject(metadata)) return []
  const counts = { pack: "the pack's slug", scenario: "the folder", version: "the folder" } as const
  return (["pack", "scenario", "version"] as const).flatMap((key): ReadonlyArray<PackFault> => {
    const value = metadata[key]
    const name = names[key]
    if (typeof value !== "string" || value === "" || name === undefined || value === name) return []
    const message = `metadata.${key} is "${value}", but ${counts[key]}, which counts, is "${name}": make them the same`
    return [{ level: "warning", at: ["metadata", key], message }]
  })
}

/**
 * Patterns that a short input can keep busy until the time for a validation is over (docs/internals/launch.md#inputs).
 */
const patternFaults = ({ formSchema }: Version): ReadonlyArray<PackFault> =>
  patternsIn(formSchema)
    .filter(({ pattern }) => !isLinear(pattern))
    .map(({ at, pattern }) => ({
      level: "warning",
      at: ["spec", "inputs", "schema", ...at],
      message:
        `the pattern "${pattern}" cannot run in linear time: an input may make it exceed the time limit; ` +
        "write it without lookarounds, back-references and counts above 1000"
    }))

/** Where a validator's complaint is about a default itself, not about what a user has still to fill in. */
const OF_A_DEFAULT = /^#\/(properties|definitions|\$defs)\//

/** Top-level defaults that the schema itself refuses: no launch could leave that input out. */
const defaultFaults = ({ schemaDefaults, validate }: Version): ReadonlyArray<PackFault> =>
  validate(schemaDefaults).flatMap(({ instancePath, message, schemaPath }): ReadonlyArray<PackFault> => {
    const [, escaped = ""] = String(instancePath).split("/")
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~")
    if (name === "" || !OF_A_DEFAULT.test(String(schemaPath))) return []
    const at = ["spec", "inputs", "schema", "properties", name, "default"]
    const text = `the default of the input "${name}" contradicts its schema: ${instancePath} ${message}; change one of them`
    return [{ level: "error", at, message: text }]
  })

/** Other agents choose a skill by its description. */
const publishFaults = ({ metadata, publish }: Version): ReadonlyArray<PackFault> =>
  publish === undefined || (metadata.summary !== undefined && !isBlank(metadata.summary))
    ? []
    : [
        {
          level: "warning",
          at: ["spec", "publish"],
          message: "metadata.summary is missing: other agents choose a published scenario by it"
        }
      ]

/** A blank key would join all launches of all packs that have one. */
const keyFaults = ({ execution }: Version["base"], block: ReadonlyArray<string>): ReadonlyArray<PackFault> => {
  const { idempotencyKey } = execution
  if (idempotencyKey === undefined || !isBlank(idempotencyKey)) return []
  const message = "execution.idempotencyKey is blank and is ignored: give it a text, or remove it"
  return [{ level: "warning", at: [...block, "execution", "idempotencyKey"], message }]
}

/**
 * The participants, the initiator, and the participants in its first message (docs/internals/launch.md#initiator).
 */
const participantFaults = (
  { initiatorParticipantId: initiator, kickoffTemplate, participants }: LaunchBlock,
  block: ReadonlyArray<string>
): ReadonlyArray<PackFault> => {
  const ids = new Set(participants.map(({ id }) => id))
  const list = [...ids].join(", ")
  const faults: Array<PackFault> = []
  const say = (level: PackFault["level"], at: ReadonlyArray<string>, message: string) =>
    faults.push({ level, at: [...block, ...at], message })
  if (ids.size === 0) say("error", ["participants"], "spec.launch.participants is empty: name who takes part")
  for (const index of brokenIds(participants)) {
    say("error", ["participants", `${index}`, "id"], `spec.launch.participants.${index}.id ${NOT_ONE_LINE}`)
  }
  for (const id of repeatedIds(participants)) {
    say("error", ["participants"], `participant "${id}" is declared twice: give each participant its own id`)
  }
  if (initiator !== undefined && !ids.has(initiator)) {
    say(
      "error",
      ["initiatorParticipantId"],
      `initiatorParticipantId "${initiator}" is not a participant: no agent would open the session; ` +
        `name one of: ${list}`
    )
  }
  for (const [index, entry] of (kickoffTemplate ?? []).entries()) {
    const { from, to } = entry
    const at = ["kickoffTemplate", `${index}`]
    if (isStranger(from, ids)) {
      say("error", [...at, "from"], `the kickoff is from "${from}", who is not a participant; name one of: ${list}`)
    }
    for (const [index, name] of (Array.isArray(to) ? to : []).entries()) {
      if (!isStranger(name, ids)) continue
      const message = `the kickoff is to "${name}", who is not a participant; name one of: ${list}`
      say("warning", [...at, "to", `${index}`], message)
    }
  }
  return faults
}

/** A placeholder may still become a participant. */
const isStranger = (name: Json | undefined, ids: ReadonlySet<string>): boolean =>
  typeof name === "string" && !name.includes("{{") && !ids.has(name)

/** What is wrong with an id with control characters: it goes into environments, file names and lines of the log. */
export const NOT_ONE_LINE = "must be one line without control, direction and zero-width characters"

const isOneLineText = Schema.is(Schema.String.check(isOneLine))

/** Indexes of the participants whose ids have control characters. */
export const brokenIds = (participants: LaunchBlock["participants"]): ReadonlyArray<number> =>
  participants.flatMap(({ id }, index) => (isOneLineText(id) ? [] : [index]))

/** Participant ids that are declared more than once, each once. */
export const repeatedIds = (participants: LaunchBlock["participants"]): ReadonlyArray<string> => {
  const ids = participants.map(({ id }) => id)
  return distinct(ids.filter((id, index) => ids.indexOf(id) !== index))
}
