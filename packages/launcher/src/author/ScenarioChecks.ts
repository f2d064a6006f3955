import * as Result from "effect/Result"
import type { ScenarioTemplate, ScenarioVersion } from "../catalog/Catalog.ts"
import type { CompileInputSchema } from "../catalog/InputSchema.ts"
import type { LaunchBlock, ScenarioDocument } from "../catalog/PackDocuments.ts"
import { readScenario, readTemplate } from "../catalog/PackLoader.ts"
import { deepMerge, isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import { defaultsOf, repeatedIds } from "../compile/CompileLaunch.ts"
import { checkExtensions } from "../compile/Extensions.ts"
import { isSatisfied, placeholdersIn } from "../compile/Placeholders.ts"
import { errorIn, type Finding, warningIn } from "./Finding.ts"
import { mappingOf, objectAt, type ScenarioFolder } from "./PacksFolder.ts"

/** What the checks need to know besides the files. */
export interface ScenarioChecksContext {
  readonly compileSchema: CompileInputSchema
  readonly knowsAgent: (agentRef: string) => boolean
  /** Level of a commitment without a description: `validate` warns, `lint` refuses. */
  readonly undescribedCommitment: Finding["level"]
}

/** A scenario version that loads, with those of its templates that do. */
export interface CheckedScenario {
  readonly file: string
  readonly version: Omit<ScenarioVersion, "templates">
  readonly templates: ReadonlyArray<{ readonly file: string; readonly template: ScenarioTemplate }>
}

export interface ScenarioVerdict {
  readonly findings: ReadonlyArray<Finding>
  /** Absent when the scenario itself does not load. */
  readonly checked?: CheckedScenario
}

/** Every check of `validate` on one scenario version. Pure. */
export const checkScenario = (folder: ScenarioFolder, context: ScenarioChecksContext): ScenarioVerdict => {
  const { scenario } = folder
  if ("problem" in scenario) return { findings: [errorIn(scenario.file, scenario.problem)] }
  const document = mappingOf(scenario)
  if (document === undefined) return { findings: [errorIn(scenario.file, "holds no mapping")] }
  const identity = identityOf(folder, document)
  const loaded = readScenario(identity.at, document, scenario.file, context.compileSchema)
  if (Result.isFailure(loaded)) {
    return { findings: [...identity.findings, errorIn(scenario.file, loaded.failure.message)] }
  }
  const { spec, version } = loaded.success
  const { templates, findings: templateFindings } = readTemplates(folder, spec, version)
  const checked: CheckedScenario = { file: scenario.file, version, templates }
  return {
    checked,
    findings: [
      ...identity.findings,
      ...participantFindings(checked, context),
      ...commitmentFindings(scenario.file, spec.launch["commitments"], context.undescribedCommitment),
      ...extensionFindings(checked),
      ...templateFindings,
      ...fixtureFindings(folder, version),
      ...placeholderFindings(folder, checked, spec)
    ]
  }
}

/** The three names that the file must carry, and should share with the folders it stands in. */
const identityOf = (folder: ScenarioFolder, document: JsonObject) => {
  const { file } = folder.scenario
  const parts = folder.folder.split(/[\\/]/)
  const folders = { scenario: parts.at(-2) ?? "", version: parts.at(-1) ?? "" }
  const metadata = objectAt(document, "metadata")
  const findings = ["pack", "scenario", "version"].flatMap((key) => {
    const value = metadata[key]
    return typeof value === "string" && value !== "" ? [] : [errorIn(file, `metadata.${key} is missing`)]
  })
  for (const [key, name] of Object.entries(folders)) {
    const value = metadata[key]
    if (typeof value === "string" && value !== "" && value !== name) {
      findings.push(warningIn(file, `metadata.${key} is "${value}", but the folder, which counts, is "${name}"`))
    }
  }
  const pack = typeof metadata["pack"] === "string" ? metadata["pack"] : (parts[0] ?? "")
  return { findings, at: { pack, ...folders } }
}

const readTemplates = (
  folder: ScenarioFolder,
  spec: ScenarioDocument["spec"],
  version: Omit<ScenarioVersion, "templates">
) => {
  const findings: Array<Finding> = []
  const templates = new Map<string, { readonly file: string; readonly template: ScenarioTemplate }>()
  for (const reading of folder.templates) {
    const { file } = reading
    if ("problem" in reading) {
      findings.push(errorIn(file, reading.problem))
      continue
    }
    const document = mappingOf(reading) ?? {}
    const loaded = readTemplate(spec, document, file)
    if (Result.isFailure(loaded)) {
      findings.push(errorIn(file, loaded.failure.message))
    } else if (loaded.success === undefined) {
      findings.push(warningIn(file, "ignored: a template needs kind ScenarioTemplate and metadata.slug"))
    } else if (templates.has(loaded.success.slug)) {
      findings.push(
        errorIn(file, `the slug "${loaded.success.slug}" is taken by ${templates.get(loaded.success.slug)?.file}`)
      )
    } else {
      templates.set(loaded.success.slug, { file, template: loaded.success })
      findings.push(...templateFindings(file, document, loaded.success, version))
    }
  }
  return { findings, templates: [...templates.values()] }
}

const templateFindings = (
  file: string,
  document: JsonObject,
  template: ScenarioTemplate,
  version: Omit<ScenarioVersion, "templates">
): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  const launch = objectAt(document, "spec", "overrides", "launch")
  const errors = version.validate({ ...version.schemaDefaults, ...template.defaults })
  // Without launch overrides a template may leave required inputs to the user.
  const counted = Object.keys(launch).length > 0 ? errors : errors.filter(({ keyword }) => keyword !== "required")
  if (counted.length > 0) findings.push(warningIn(file, `its defaults fail the input schema: ${sayErrors(counted)}`))
  if (launch["commitments"] !== undefined) {
    findings.push(warningIn(file, "overrides commitments, which replaces the scenario's whole list"))
  }
  const named = objectAt(document, "metadata")["scenarioVersion"]
  const ref = `${version.pack}/${version.scenario}@${version.version}`
  if (named !== undefined && named !== ref) {
    findings.push(warningIn(file, `metadata.scenarioVersion is not ${ref}`))
  }
  return findings
}

const participantFindings = ({ file, templates, version }: CheckedScenario, context: ScenarioChecksContext) => {
  const who = ({ initiatorParticipantId, participants }: LaunchBlock) => [participants, initiatorParticipantId]
  const base = version.base.launch
  const changed = templates.filter(({ template }) => !same(who(template.plan.launch), who(base)))
  return [
    ...participantFaults(file, base, context),
    ...changed.flatMap(({ file, template }) => participantFaults(file, template.plan.launch, context))
  ]
}

const participantFaults = (
  file: string,
  { initiatorParticipantId: initiator, participants }: LaunchBlock,
  { knowsAgent }: ScenarioChecksContext
): ReadonlyArray<Finding> => {
  const ids = participants.map(({ id }) => id)
  const twice = repeatedIds(participants)
  const strangers = participants.filter(({ agentRef }) => !knowsAgent(agentRef))
  return [
    ...(ids.length === 0 ? ["spec.launch.participants is empty"] : []),
    ...twice.map((id) => `participant "${id}" is declared twice`),
    ...strangers.map(
      ({ agentRef, id }) => `participant "${id}" names "${agentRef}", which is not an agent of the catalog`
    ),
    ...(initiator !== undefined && !ids.includes(initiator)
      ? [`initiatorParticipantId "${initiator}" is not a participant: nobody would open the session`]
      : [])
  ].map((message) => errorIn(file, message))
}

const commitmentFindings = (file: string, commitments: Json | undefined, level: Finding["level"]) => {
  if (commitments === undefined || commitments === null) return []
  if (!Array.isArray(commitments)) return [errorIn(file, "spec.launch.commitments must be a list")]
  return commitments.flatMap((commitment: Json, index): ReadonlyArray<Finding> => {
    const where = `commitment ${index + 1}`
    if (!isJsonObject(commitment)) return [errorIn(file, `${where} is not a mapping`)]
    const missing = ["id", "title"].filter((key) => !isText(commitment[key]))
    const findings = missing.map((key) => errorIn(file, `${where} has no ${key}`))
    if (isText(commitment["description"])) return findings
    return [...findings, { level, file, message: `${where} has no description` }]
  })
}

const extensionFindings = ({ file, templates, version }: CheckedScenario) => {
  const own = extensionFaults(file, version.base.launch.extensions)
  const ofTemplates = templates
    .filter(({ template }) => !same(template.plan.launch.extensions, version.base.launch.extensions))
    .flatMap(({ file, template }) => extensionFaults(file, template.plan.launch.extensions))
  return [...own, ...ofTemplates]
}

const extensionFaults = (file: string, extensions: Json | undefined) =>
  Result.match(checkExtensions(extensions), {
    onSuccess: () => [],
    onFailure: ({ message }) => [errorIn(file, message)]
  })

const fixtureFindings = (folder: ScenarioFolder, version: Omit<ScenarioVersion, "templates">) =>
  folder.fixtures.flatMap((fixture) => {
    if ("problem" in fixture) return [errorIn(fixture.file, fixture.problem)]
    const inputs = mappingOf(fixture)
    if (inputs === undefined) return [errorIn(fixture.file, "holds no JSON object")]
    const errors = version.validate({ ...version.schemaDefaults, ...inputs })
    return errors.length > 0 ? [errorIn(fixture.file, `fails the input schema: ${sayErrors(errors)}`)] : []
  })

/** A placeholder must lead somewhere for the schema's defaults or for one fixture, else no launch can be compiled. */
const placeholderFindings = (
  folder: ScenarioFolder,
  { file, templates, version }: CheckedScenario,
  spec: ScenarioDocument["spec"]
) => {
  const fixtures = folder.fixtures.map(mappingOf).filter((inputs) => inputs !== undefined)
  const documents = new Map(folder.templates.map((reading) => [reading.file, mappingOf(reading)]))
  const unsatisfied = (launch: JsonObject, defaults: JsonObject) => {
    const candidates = [defaults, ...fixtures.map((fixture) => ({ ...defaults, ...fixture }))]
    const paths = placeholdersIn(TEXT_BLOCKS.map((block) => launch[block] ?? null))
    return paths.filter((path) => !candidates.some((inputs) => isSatisfied(path, inputs)))
  }
  const own = unsatisfied(spec.launch, version.schemaDefaults)
  const say = (file: string) => (path: string) =>
    errorIn(
      file,
      `placeholder {{ ${path} }} has no value: neither a default of the input schema nor a fixture gives it`
    )
  return [
    ...own.map(say(file)),
    ...templates.flatMap(({ file, template }) => {
      const override = objectAt(documents.get(file), "spec", "overrides", "launch")
      const merged = deepMerge(spec.launch, override)
      const paths = unsatisfied(isJsonObject(merged) ? merged : {}, defaultsOf({ ...version, templates: [] }, template))
      return paths.filter((path) => !own.includes(path)).map(say(file))
    })
  ]
}

/** The blocks whose texts are interpolated; commitments, which only tools read, follow the same rule. */
const TEXT_BLOCKS = ["contextTemplate", "metadataTemplate", "kickoffTemplate", "commitments"]

const sayErrors = (errors: ReadonlyArray<JsonObject>) =>
  errors.map(({ instancePath, message }) => `${instancePath || "inputs"} ${message}`).join("; ")

const isText = (value: Json | undefined) => typeof value === "string" && value.trim() !== ""

const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)
