import * as Result from "effect/Result"
import type { ScenarioTemplate, ScenarioVersion } from "../catalog/Catalog.ts"
import type { CompileInputSchema } from "../catalog/InputSchema.ts"
import { SCENARIO_KEYS, unknownKeys } from "../catalog/KnownKeys.ts"
import { numberFaults } from "../catalog/NumberTexts.ts"
import type { LaunchBlock, ScenarioDocument } from "../catalog/PackDocuments.ts"
import { readScenario, readTemplate } from "../catalog/PackLoader.ts"
import { scenarioFaults, templateFaults } from "../catalog/ScenarioFaults.ts"
import { shadowFaults } from "../catalog/ShadowFaults.ts"
import { copyFault, originalsFirst } from "../catalog/TemplateCopies.ts"
import { deepMerge, isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import { defaultsOf } from "../compile/CompileLaunch.ts"
import { checkExtensions, undecodable } from "../compile/Extensions.ts"
import { isSatisfied, placeholdersIn } from "../compile/Placeholders.ts"
import { errorIn, type Finding, failureIn, findingAt, type Source, warningIn } from "./Finding.ts"
import { mappingOf, objectAt, type ScenarioFolder } from "./PacksFolder.ts"

/** What the checks need to know besides the files. */
export interface ScenarioChecksContext {
  readonly compileSchema: CompileInputSchema
  readonly knowsAgent: (agentRef: string) => boolean
  /** Which agents are persons; undefined where the catalog of agents is not known. */
  readonly isPerson?: ((agentRef: string) => boolean) | undefined
  /** Slug of the pack of the scenario; undefined when the pack file cannot be read. */
  readonly packSlug?: string | undefined
  /** Level of a commitment without a description: `validate` warns, `lint` refuses. */
  readonly undescribedCommitment: Finding["level"]
}

/** A scenario version that loads, with those of its templates that do. */
export interface CheckedScenario {
  readonly source: Source
  readonly version: Omit<ScenarioVersion, "templates">
  readonly templates: ReadonlyArray<{ readonly source: Source; readonly template: ScenarioTemplate }>
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
  const parts = folder.folder.split(/[\\/]/)
  const names = { pack: context.packSlug, scenario: parts.at(-2) ?? "", version: parts.at(-1) ?? "" }
  const { pack } = objectAt(document, "metadata")
  const at = { ...names, pack: typeof pack === "string" ? pack : (parts[0] ?? "") }
  const missing = missingNames(scenario, document)
  const loaded = readScenario(at, document, scenario.file, context.compileSchema)
  if (Result.isFailure(loaded)) {
    const misspelt = unknownKeys(document, SCENARIO_KEYS).map((fault) => findingAt(scenario, fault))
    return { findings: [...missing, ...misspelt, failureIn(scenario, loaded.failure)] }
  }
  const { spec, version } = loaded.success
  const { templates, findings: templateFindings } = readTemplates(folder, spec, version)
  const checked: CheckedScenario = { source: scenario, version, templates }
  return {
    checked,
    findings: [
      ...missing,
      ...[...scenarioFaults(names, document, version), ...numberFaults(scenario.text ?? "")].map((fault) =>
        findingAt(scenario, fault)
      ),
      ...agentFindings(checked, context),
      ...shadowAgentFindings(checked, context),
      ...commitmentFindings(scenario, spec.launch["commitments"], context.undescribedCommitment),
      ...extensionFindings(checked),
      ...templateFindings,
      ...fixtureFindings(folder, version),
      ...placeholderFindings(folder, checked, spec)
    ]
  }
}

/** The three names that the file must carry. */
const missingNames = (scenario: Source, document: JsonObject) => {
  const metadata = objectAt(document, "metadata")
  return ["pack", "scenario", "version"].flatMap((key) => {
    const value = metadata[key]
    const message =
      typeof value === "number"
        ? `metadata.${key} is the number ${value}: put it in quotes`
        : `metadata.${key} is missing`
    return isText(value) ? [] : [findingAt(scenario, { level: "error", at: ["metadata", key], message })]
  })
}

const readTemplates = (
  folder: ScenarioFolder,
  spec: ScenarioDocument["spec"],
  version: Omit<ScenarioVersion, "templates">
) => {
  const findings: Array<Finding> = []
  const templates = new Map<string, { readonly source: Source; readonly template: ScenarioTemplate }>()
  const readings = folder.templates.map((reading) => ({
    file: reading.file,
    reading,
    document: "problem" in reading ? undefined : mappingOf(reading)
  }))
  for (const { document = {}, file, reading } of originalsFirst(readings)) {
    if ("problem" in reading) {
      findings.push(errorIn(file, reading.problem))
      continue
    }
    const loaded = readTemplate(spec, document, file)
    if (Result.isFailure(loaded)) {
      findings.push(failureIn(reading, loaded.failure))
    } else if (loaded.success === undefined) {
      findings.push(warningIn(file, "ignored: a template needs kind ScenarioTemplate and metadata.slug"))
    } else if (templates.has(loaded.success.slug)) {
      const original = templates.get(loaded.success.slug)?.source.file ?? ""
      findings.push(findingAt(reading, copyFault(loaded.success.slug, original)))
    } else {
      templates.set(loaded.success.slug, { source: reading, template: loaded.success })
      findings.push(...templateFindings(reading, document, loaded.success, version))
    }
  }
  return { findings, templates: [...templates.values()] }
}

const templateFindings = (
  source: Source,
  document: JsonObject,
  template: ScenarioTemplate,
  version: Omit<ScenarioVersion, "templates">
): ReadonlyArray<Finding> => {
  const findings = [...templateFaults(document, template, version), ...numberFaults(source.text ?? "")].map((fault) =>
    findingAt(source, fault)
  )
  const warn = (at: ReadonlyArray<string>, message: string) =>
    findings.push(findingAt(source, { level: "warning", at, message }))
  const launch = objectAt(document, "spec", "overrides", "launch")
  const errors = version.validate({ ...version.schemaDefaults, ...template.defaults })
  // Without launch overrides a template may leave required inputs to the user.
  const counted = Object.keys(launch).length > 0 ? errors : errors.filter(({ keyword }) => keyword !== "required")
  // What is wrong with a default of the schema is said of the schema.
  const own = counted.filter(({ instancePath }) => isOf(template.defaults, instancePath))
  if (own.length > 0) {
    warn(
      ["spec", "defaults", ...keysOf(own[0]?.["instancePath"])],
      `its defaults fail the input schema: ${sayErrors(own)}`
    )
  }
  if (launch["commitments"] !== undefined) {
    warn(
      ["spec", "overrides", "launch", "commitments"],
      "overrides commitments, which replaces the scenario's whole list"
    )
  }
  const named = objectAt(document, "metadata")["scenarioVersion"]
  const ref = `${version.pack}/${version.scenario}@${version.version}`
  if (named !== undefined && named !== ref) {
    warn(["metadata", "scenarioVersion"], `metadata.scenarioVersion is not ${ref}`)
  }
  return findings
}

/** Whether a complaint is about one of these defaults, or about the inputs as a whole. */
const isOf = (defaults: JsonObject, instancePath: Json | undefined) => {
  const [name] = keysOf(instancePath)
  return name === undefined || Object.hasOwn(defaults, name)
}
const keysOf = (pointer: Json | undefined): ReadonlyArray<string> =>
  typeof pointer === "string"
    ? pointer
        .split("/")
        .slice(1)
        .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    : []

/** What the scenario and each of its templates would launch. */
export const plansOf = ({ templates, version }: CheckedScenario) => [
  version.base,
  ...templates.map(({ template }) => template.plan)
]

/** Every agent of the scenario and of its templates. */
export const agentsOf = (checked: CheckedScenario): ReadonlyArray<string> =>
  plansOf(checked).flatMap(({ launch }) => [
    ...launch.participants.map(({ agentRef }) => agentRef),
    ...(launch.shadows ?? []).map(({ agent }) => agent)
  ])

/** Every participant is an agent of the catalog. */
const agentFindings = ({ source, templates, version }: CheckedScenario, context: ScenarioChecksContext) => {
  const changed = templates.filter(
    ({ template }) => !same(template.plan.launch.participants, version.base.launch.participants)
  )
  return [
    ...strangersOf(source, ["spec", "launch"], version.base.launch, context),
    ...changed.flatMap(({ source, template }) =>
      strangersOf(source, ["spec", "overrides", "launch"], template.plan.launch, context)
    )
  ]
}

/** Every shadow is an agent of the catalog, beside an agent; what the file alone says of shadows is said elsewhere. */
const shadowAgentFindings = (
  { source, templates, version }: CheckedScenario,
  { isPerson, knowsAgent }: ScenarioChecksContext
) => {
  const faultsOf = (launch: LaunchBlock, block: ReadonlyArray<string>) => {
    const alone = new Set(shadowFaults(launch, { knows: undefined, isPerson: undefined }, block).map(said))
    return shadowFaults(launch, { knows: knowsAgent, isPerson }, block).filter((fault) => !alone.has(said(fault)))
  }
  const own = faultsOf(version.base.launch, ["spec", "launch"])
  const known = new Set(own.map(said))
  return [
    ...own.map((fault) => findingAt(source, fault)),
    ...templates.flatMap(({ source, template }) =>
      faultsOf(template.plan.launch, ["spec", "overrides", "launch"])
        .filter((fault) => !known.has(said(fault)))
        .map((fault) => findingAt(source, fault))
    )
  ]
}

const said = ({ message }: { readonly message: string }) => message

const strangersOf = (
  source: Source,
  block: ReadonlyArray<string>,
  { participants }: LaunchBlock,
  { knowsAgent }: ScenarioChecksContext
) =>
  participants.flatMap(({ agentRef, id }, index) =>
    knowsAgent(agentRef)
      ? []
      : [
          findingAt(source, {
            level: "error",
            at: [...block, "participants", `${index}`, "agentRef"],
            message: `participant "${id}" names "${agentRef}", which is not an agent of the catalog`
          })
        ]
  )

const commitmentFindings = (source: Source, commitments: Json | undefined, level: Finding["level"]) => {
  if (commitments === undefined || commitments === null) return []
  const block = ["spec", "launch", "commitments"]
  const say = (level: Finding["level"], at: ReadonlyArray<string>, message: string) =>
    findingAt(source, { level, at: [...block, ...at], message })
  if (!Array.isArray(commitments)) return [say("error", [], "spec.launch.commitments must be a list")]
  return commitments.flatMap((commitment: Json, index): ReadonlyArray<Finding> => {
    const where = `commitment ${index + 1}`
    if (!isJsonObject(commitment)) return [say("error", [`${index}`], `${where} is not a mapping`)]
    const missing = ["id", "title"].filter((key) => !isText(commitment[key]))
    const findings = missing.map((key) => say("error", [`${index}`], `${where} has no ${key}`))
    if (isText(commitment["description"])) return findings
    return [...findings, say(level, [`${index}`], `${where} has no description`)]
  })
}

const extensionFindings = ({ source, templates, version }: CheckedScenario) => {
  const own = extensionFaults(source, ["spec", "launch"], version.base.launch.extensions)
  const ofTemplates = templates
    .filter(({ template }) => !same(template.plan.launch.extensions, version.base.launch.extensions))
    .flatMap(({ source, template }) =>
      extensionFaults(source, ["spec", "overrides", "launch"], template.plan.launch.extensions)
    )
  return [...own, ...ofTemplates]
}

const extensionFaults = (source: Source, block: ReadonlyArray<string>, extensions: Json | undefined) =>
  Result.match(checkExtensions(extensions), {
    onSuccess: (checked) => {
      const broken = undecodable(checked)
      const message = `${broken}: no launch of it can start agents`
      return broken === undefined
        ? []
        : [findingAt(source, { level: "warning", at: [...block, "extensions"], message })]
    },
    onFailure: ({ message }) => [findingAt(source, { level: "error", at: [...block, "extensions"], message })]
  })

const fixtureFindings = (folder: ScenarioFolder, version: Omit<ScenarioVersion, "templates">) =>
  folder.fixtures.flatMap((fixture) => {
    if ("problem" in fixture) return [errorIn(fixture.file, fixture.problem)]
    const inputs = mappingOf(fixture)
    if (inputs === undefined) return [errorIn(fixture.file, "holds no JSON object")]
    const errors = version.validate({ ...version.schemaDefaults, ...inputs })
    // What is wrong with a default of the schema is said of the schema.
    const own = errors.filter(({ instancePath }) => isOf(inputs, instancePath))
    if (own.length === 0) return []
    const message = `fails the input schema: ${sayErrors(own)}`
    return [findingAt(fixture, { level: "error", at: keysOf(own[0]?.["instancePath"]), message })]
  })

/** A placeholder must lead somewhere for the schema's defaults or for one fixture, else no launch can be compiled. */
const placeholderFindings = (
  folder: ScenarioFolder,
  { source, templates, version }: CheckedScenario,
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
  const say = (source: Source) => (path: string) => {
    const line = source.text === undefined ? undefined : lineOfPlaceholder(source.text, path)
    const finding = errorIn(
      source.file,
      `placeholder {{ ${path} }} has no value: neither a default of the input schema nor a fixture gives it`
    )
    return line === undefined ? finding : { ...finding, line }
  }
  return [
    ...own.map(say(source)),
    ...templates.flatMap(({ source, template }) => {
      const override = objectAt(documents.get(source.file), "spec", "overrides", "launch")
      const merged = deepMerge(spec.launch, override)
      const paths = unsatisfied(isJsonObject(merged) ? merged : {}, defaultsOf({ ...version, templates: [] }, template))
      return paths.filter((path) => !own.includes(path)).map(say(source))
    })
  ]
}

/** The first line that has the placeholder; none when it is in an include. */
const lineOfPlaceholder = (text: string, path: string): number | undefined => {
  const index = text.split("\n").findIndex((line) => placeholdersIn(line).includes(path))
  return index < 0 ? undefined : index + 1
}

/** The blocks whose texts are interpolated; commitments, which only tools read, follow the same rule. */
const TEXT_BLOCKS = ["contextTemplate", "metadataTemplate", "kickoffTemplate", "people", "commitments"]

const sayErrors = (errors: ReadonlyArray<JsonObject>) =>
  errors.map(({ instancePath, message }) => `${instancePath || "inputs"} ${message}`).join("; ")

const isText = (value: Json | undefined) => typeof value === "string" && value.trim() !== ""

const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)
