import { type A2aPart, dataPart, textPart } from "@runplane/domain"
import * as Result from "effect/Result"
import { type Catalog, type ScenarioTemplate, type ScenarioVersion, scenarioRefOf } from "../catalog/Catalog.ts"
import { isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import { defaultsOf, findTemplate } from "../compile/CompileLaunch.ts"
import { invalid, type TaskError, taskError } from "./TaskErrors.ts"
import type { Received } from "./TaskRequests.ts"

/** A scenario that other agents can start: the latest of its versions with `publish: a2a`. */
export interface Skill {
  /** `pack/scenario`. */
  readonly id: string
  readonly version: ScenarioVersion
}

/** The published scenarios of the packs. */
export const skillsIn = ({ packs }: Catalog): ReadonlyArray<Skill> =>
  packs.flatMap(({ scenarios }) =>
    scenarios.flatMap(({ versions }) => {
      const version = versions.findLast(({ publish }) => publish === "a2a")
      return version === undefined ? [] : [{ id: `${version.pack}/${version.scenario}`, version }]
    })
  )

/** What a message leads to: a launch, or the request for inputs that fit. */
export type Requested =
  | {
      readonly _tag: "Launch"
      readonly scenarioRef: string
      readonly template: string | undefined
      readonly inputs: JsonObject
    }
  | { readonly _tag: "Ask"; readonly skill: string | undefined; readonly why: string }

/** Violations of a schema that a text names. */
const MOST_NAMED = 5

/**
 * Decides what a message leads to. `asked` is the skill that an earlier message of the task has named. Pure.
 *
 * given one published scenario, when a message has a data part that fits its inputs, then it is launched;
 * given several, when the message names none in `metadata.skill`, then the skills and their inputs are the answer;
 * given a text alone, or a data part that does not fit, then the JSON schema of the inputs is the answer.
 */
export const requested = (
  { data, skill: named, template: slug }: Pick<Received, "data" | "skill" | "template">,
  skills: ReadonlyArray<Skill>,
  asked?: string
): Result.Result<Requested, TaskError> =>
  Result.gen(function* () {
    if (skills.length === 0) {
      return yield* Result.fail(taskError("UnsupportedOperation", "no scenario of this service is published to agents"))
    }
    const wanted = named ?? asked ?? (skills.length === 1 ? skills[0]?.id : undefined)
    if (wanted === undefined) {
      return { _tag: "Ask", skill: undefined, why: `metadata.skill has to name one of ${skills.length} skills` }
    }
    const skill = skills.find(({ id }) => id === wanted)
    if (skill === undefined) {
      const known = skills.map(({ id }) => id).join(", ")
      return yield* Result.fail(invalid("message.metadata.skill", `is not one of ${known}`))
    }
    const template = yield* Result.mapError(findTemplate(skill.version, slug), () =>
      invalid("message.metadata.template", `is not a template of ${skill.id}`)
    )
    return launchOf(skill, template, data)
  })

const launchOf = (skill: Skill, template: ScenarioTemplate | undefined, data: Json | undefined): Requested => {
  if (data === undefined) return { _tag: "Ask", skill: skill.id, why: "a data part has to hold the inputs" }
  if (!isJsonObject(data)) return { _tag: "Ask", skill: skill.id, why: "the data part has to be an object of inputs" }
  const faults = skill.version.validate({ ...defaultsOf(skill.version, template), ...data })
  if (faults.length > 0) {
    const named = faults.slice(0, MOST_NAMED).map(({ instancePath, message }) => {
      const at = typeof instancePath === "string" ? instancePath.slice(1).replaceAll("/", ".") : ""
      return `${at === "" ? "the inputs" : at} ${String(message)}`
    })
    const more = faults.length > MOST_NAMED ? `; and ${faults.length - MOST_NAMED} more` : ""
    return { _tag: "Ask", skill: skill.id, why: `the inputs do not fit: ${named.join("; ")}${more}` }
  }
  return { _tag: "Launch", scenarioRef: scenarioRefOf(skill.version), template: template?.slug, inputs: data }
}

/** The parts of a request for inputs: why, and the JSON schema of the inputs of the skill, or of all skills. */
export const askParts = (
  why: string,
  skillId: string | undefined,
  skills: ReadonlyArray<Skill>
): ReadonlyArray<A2aPart> => {
  const described = ({ id, version: { formSchema, metadata, templates } }: Skill): JsonObject => ({
    skill: id,
    name: metadata.name,
    templates: templates.map(({ slug }) => slug),
    inputs: formSchema
  })
  const skill = skills.find(({ id }) => id === skillId)
  const data = skill === undefined ? { skills: skills.map(described) } : described(skill)
  return [textPart(`${why}. The data part has the JSON schema of the inputs.`), dataPart(data)]
}
