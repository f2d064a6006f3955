import { DEFAULT_POLICY_ID, policyFitsMode } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { PACK_KEYS, unknownKeys } from "../catalog/KnownKeys.ts"
import { numberFaults } from "../catalog/NumberTexts.ts"
import { checkHeader, decodePack } from "../catalog/PackDocuments.ts"
import type { Json } from "../common/Json.ts"
import type { KnownPeople } from "../compile/CompilePeople.ts"
import type { KnownRemotes } from "../compile/CompileRemote.ts"
import type { CheckedPolicies } from "./CheckedPolicies.ts"
import { errorIn, type Finding, failureIn, findingAt, warningIn } from "./Finding.ts"
import { mappingOf, objectAt, type PacksFolder, type Reading, type ScenarioFolder } from "./PacksFolder.ts"
import { peopleFindings, readDirectory } from "./PeopleChecks.ts"
import { type CheckedScenario, checkScenario, type ScenarioChecksContext } from "./ScenarioChecks.ts"

/** What `lint` reads besides the packs. */
export interface LintContext extends Omit<ScenarioChecksContext, "undescribedCommitment"> {
  readonly policies: CheckedPolicies
  readonly isPerson: KnownPeople["isPerson"]
  /** Which agents speak A2A; undefined where the catalog is not known. */
  readonly isRemote: KnownRemotes
  readonly signIn?: KnownPeople["signIn"]
}

type PackContext = LintContext & KnownPeople

export interface LintResult {
  readonly packs: number
  readonly findings: ReadonlyArray<Finding>
}

/** Names in references and addresses. */
export const KEBAB_CASE = /^[a-z0-9][a-z0-9-]*$/

/**
 * Every check of `validate` on every scenario of the given pack directories, and those across scenarios: pack files,
 * names, policies, and data that no scenario includes.
 */
export const lintPacks = Effect.fnUntraced(function* (
  packs: PacksFolder,
  directories: ReadonlyArray<string>,
  context: LintContext
) {
  const findings: Array<Finding> = [...context.policies.findings]
  const fileOf = new Map<string, string>()
  let count = 0
  for (const directory of directories) {
    const packFile = `${directory}/pack.yaml`
    if (!(yield* packs.isFile(packFile))) {
      findings.push(warningIn(packs.nameOf(directory), "skipped: it has no pack.yaml"))
      continue
    }
    count += 1
    const pack = checkPack(yield* packs.read(packFile))
    findings.push(...pack.findings)
    if (pack.slug !== undefined) {
      const other = fileOf.get(pack.slug)
      const file = packs.nameOf(packFile)
      if (other !== undefined) findings.push(errorIn(file, `the slug "${pack.slug}" is taken by ${other}`))
      fileOf.set(pack.slug, file)
    }
    const { findings: inDirectory, groups, persons } = yield* readDirectory(packs, directory)
    findings.push(...inDirectory)
    findings.push(...(yield* lintScenarios(packs, directory, pack.slug, { ...context, groups, persons })))
  }
  const result: LintResult = { packs: count, findings }
  return result
})

const lintScenarios = Effect.fnUntraced(function* (
  packs: PacksFolder,
  directory: string,
  slug: string | undefined,
  context: PackContext
) {
  const findings: Array<Finding> = []
  for (const scenario of yield* packs.list(`${directory}/scenarios`)) {
    const versions: Array<string> = []
    for (const version of yield* packs.list(scenario)) {
      const file = `${version}/scenario.yaml`
      if (yield* packs.isFile(file)) versions.push(version)
      else if (yield* packs.exists(file)) findings.push(errorIn(packs.nameOf(file), "is not a regular file"))
    }
    if (versions.length === 0) {
      findings.push(warningIn(packs.nameOf(scenario), "not listed: none of its versions has a scenario.yaml"))
    }
    for (const version of versions) findings.push(...lintScenario(yield* packs.scenario(version), slug, context))
  }
  return findings
})

/** One scenario version as `lint` sees it. Pure. */
const lintScenario = (
  folder: ScenarioFolder,
  packSlug: string | undefined,
  context: PackContext
): ReadonlyArray<Finding> => {
  const { checked, findings } = checkScenario(folder, { ...context, packSlug, undescribedCommitment: "error" })
  return [
    ...findings,
    ...nameFindings(folder),
    ...folder.unusedData.map((file) => warningIn(file, "no !include names it")),
    ...(checked === undefined
      ? []
      : [
          ...policyFindings(checked, context.policies),
          ...peopleFindings(checked, context, context.policies),
          ...shorterCommitments(folder)
        ])
  ]
}

const checkPack = (reading: Reading): { readonly slug?: string; readonly findings: ReadonlyArray<Finding> } => {
  const { file } = reading
  if ("problem" in reading) return { findings: [errorIn(file, reading.problem)] }
  const document = mappingOf(reading)
  if (document === undefined) return { findings: [errorIn(file, "holds no mapping")] }
  const pack = Result.flatMap(checkHeader(document, "ScenarioPack", file), () => decodePack(document, file))
  const keys = [...unknownKeys(document, PACK_KEYS), ...numberFaults(reading.text ?? "")].map((fault) =>
    findingAt(reading, fault)
  )
  if (Result.isFailure(pack)) return { findings: [...keys, failureIn(reading, pack.failure)] }
  const { name, slug } = pack.success.metadata
  const at = ["metadata", "slug"]
  return {
    slug,
    findings: [
      ...keys,
      ...(KEBAB_CASE.test(slug)
        ? []
        : [findingAt(reading, { level: "error", at, message: `metadata.slug "${slug}" is not kebab-case` })]),
      ...(name === undefined ? [warningIn(file, "metadata.name is missing: lists show the pack without a name")] : [])
    ]
  }
}

const nameFindings = ({ scenario: source }: ScenarioFolder): ReadonlyArray<Finding> => {
  const { scenario } = objectAt(mappingOf(source), "metadata")
  if (typeof scenario !== "string" || KEBAB_CASE.test(scenario)) return []
  const message = `metadata.scenario "${scenario}" is not kebab-case`
  return [findingAt(source, { level: "error", at: ["metadata", "scenario"], message })]
}

/** Each policy that the scenario or a template names must be there, and be one for the mode of the launch. */
export const policyFindings = (
  { source, templates, version }: CheckedScenario,
  { policies }: CheckedPolicies
): ReadonlyArray<Finding> => {
  const plans = [
    { source, block: ["spec", "launch"], plan: version.base },
    ...templates.map(({ source, template }) => ({
      source,
      block: ["spec", "overrides", "launch"],
      plan: template.plan
    }))
  ]
  const seen = new Set<string>()
  return plans.flatMap(({ block, source, plan: { launch } }): ReadonlyArray<Finding> => {
    const { modeName, policyVersion } = launch
    if (policyVersion === undefined || policyVersion === DEFAULT_POLICY_ID) return []
    const key = `${policyVersion} ${modeName}`
    if (seen.has(key)) return []
    seen.add(key)
    const policy = policies.get(policyVersion)
    const at = [...block, "policyVersion"]
    if (policy === undefined) {
      const message = `policyVersion ${policyVersion} has no file: it must be registered by other means`
      return [findingAt(source, { level: "warning", at, message })]
    }
    if (policyFitsMode(policy.mode, modeName)) return []
    const message = `policyVersion ${policyVersion} is a policy for ${policy.mode}, not for ${modeName}`
    return [findingAt(source, { level: "error", at, message })]
  })
}

const shorterCommitments = (folder: ScenarioFolder): ReadonlyArray<Finding> => {
  const own = lengthOf(objectAt(mappingOf(folder.scenario), "spec", "launch")["commitments"])
  return folder.templates.flatMap((template) => {
    const overriding = lengthOf(objectAt(mappingOf(template), "spec", "overrides", "launch")["commitments"])
    return own !== undefined && overriding !== undefined && overriding < own
      ? [warningIn(template.file, `replaces ${own} commitments by ${overriding}`)]
      : []
  })
}

const lengthOf = (value: Json | undefined) => (Array.isArray(value) ? value.length : undefined)
