import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { manifestFaults } from "../agents/ManifestFaults.ts"
import { AgentCatalog, type AgentProfile, isPerson, isRemote } from "../catalog/AgentCatalog.ts"
import { readPackAlerts } from "../catalog/AlertFiles.ts"
import { compileInputSchema } from "../catalog/InputSchema.ts"
import { parseJson } from "../catalog/JsonText.ts"
import { OWN_PACKS } from "../catalog/OwnPacks.ts"
import { openPackFiles } from "../catalog/PackFiles.ts"
import { PackRegistry } from "../catalog/PackRegistry.ts"
import type { KnownPeople } from "../compile/CompilePeople.ts"
import { LaunchCompiler } from "../compile/LaunchCompiler.ts"
import { parseScenarioRef } from "../compile/ScenarioRef.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { checkPolicyFiles } from "./CheckedPolicies.ts"
import { copyOwnAgents } from "./CopiedParts.ts"
import { countOf, errorIn, type Finding } from "./Finding.ts"
import { lintPacks, policyFindings } from "./Lint.ts"
import { mappingOf, objectAt, openPacks, type Reading } from "./PacksFolder.ts"
import { peopleFindings, readDirectory } from "./PeopleChecks.ts"
import { PacksFaulty, printedAsJson, ReportFormat, report, verdict } from "./Report.ts"
import { copyScenario, scaffold } from "./Scaffold.ts"
import { agentsOf, checkScenario } from "./ScenarioChecks.ts"

/** Who takes part in a new scenario: agents that can talk about any topic. */
const STARTER_AGENTS = ["panel-lead-agent", "panel-agent", "panel-agent"]

/** Folders of the packs, their agents and policies; the service's own settings apply where no flag is given. */
const folders = {
  packsRoot: Flag.String("packs-root").pipe(
    Flag.withDescription("Folder of the packs"),
    Flag.withFallbackConfig(Config.String("PACKS_DIR")),
    Flag.withDefault("packs")
  ),
  agentsDir: Flag.String("agents-dir").pipe(
    Flag.withDescription("Folder of the agents' profiles and manifests (default: _agents in the packs)"),
    Flag.withFallbackConfig(Config.String("AGENTS_DIR")),
    Flag.withDefault("")
  ),
  policiesDir: Flag.String("policies-dir").pipe(
    Flag.withDescription("Folder of the policies (default: _policies in the packs)"),
    Flag.withFallbackConfig(Config.String("POLICIES_DIR")),
    Flag.withDefault("")
  ),
  serviceRoot: Flag.String("service-root").pipe(
    Flag.withDescription("Folder at which the service starts; scripts of agents may be below it, too"),
    Flag.withFallbackConfig(Config.String("SERVICE_ROOT")),
    Flag.withDefault(".")
  ),
  signIn: Flag.Literals("sign-in", ["oidc", "key", "none"]).pipe(
    Flag.withDescription("What people sign in with at the service; without it any proof of a seat is taken"),
    Flag.optional
  )
}

const packs = Command.make("packs").pipe(
  Command.withDescription("Tools for authors of scenario packs"),
  Command.withSharedFlags(folders)
)

const settings = Effect.map(packs, ({ agentsDir, packsRoot, policiesDir, serviceRoot, signIn }) =>
  LauncherSettings.layerFrom({
    packsDir: packsRoot,
    agentsDir,
    policiesDir,
    serviceRoot,
    signIn: Option.getOrUndefined(signIn)
  })
)

/**
 * The catalog of agents, or the reason why there is none; then every agent counts as known, so that it is said once.
 */
const knownAgents = Effect.gen(function* () {
  const catalog = AgentCatalog.layer.pipe(Layer.provide(yield* settings))
  return yield* AgentCatalog.pipe(
    Effect.provide(catalog),
    Effect.map(({ profiles }) => {
      const refs = new Set(profiles.map(({ agentRef }) => agentRef))
      const persons = new Set(profiles.filter(isPerson).map(({ agentRef }) => agentRef))
      const known: KnownPeople["isPerson"] = (ref) => persons.has(ref)
      const remotes = new Set(profiles.filter(isRemote).map(({ agentRef }) => agentRef))
      const speaksA2a = (ref: string) => remotes.has(ref)
      return {
        profiles,
        knowsAgent: (ref: string) => refs.has(ref),
        isPerson: known,
        isRemote: speaksA2a,
        findings: []
      }
    }),
    Effect.catchTag("LauncherFault", ({ message }) => {
      const findings: ReadonlyArray<Finding> = [errorIn("_agents", message)]
      return Effect.succeed({
        profiles: [],
        knowsAgent: () => true,
        isPerson: undefined,
        isRemote: undefined,
        findings
      })
    })
  )
})

/** The profiles of agents of the author's folder, and of Runplane's own where that has none of the name. */
const agentsToCast = Effect.fnUntraced(function* (refs: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { agentsDir } = yield* Effect.provide(LauncherSettings, yield* settings)
  const catalogOf = (folder: string) =>
    Effect.provide(AgentCatalog, Layer.provide(AgentCatalog.layer, LauncherSettings.layerFrom({ agentsDir: folder })))
  const own = yield* catalogOf(path.join(OWN_PACKS, "_agents"))
  const known = (yield* fs.exists(path.join(agentsDir, "profiles"))) ? yield* catalogOf(agentsDir) : own
  return yield* Effect.forEach(refs, (ref) => Effect.catch(known.get(ref), () => own.get(ref)))
})

/** Why agents of these profiles could not be started; files are named relative to the packs directory. */
const startFindings = Effect.fnUntraced(function* (profiles: ReadonlyArray<AgentProfile>) {
  const path = yield* Path.Path
  const given = yield* Effect.provide(LauncherSettings, yield* settings)
  const faults = yield* manifestFaults(given, profiles)
  const folder = path.relative(given.packsDir, given.agentsDir)
  return faults.map((fault): Finding => ({ ...fault, file: path.join(folder, fault.file) }))
})

const requirePacks = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { packsRoot } = yield* packs
  if (yield* fs.exists(packsRoot)) return packsRoot
  yield* Console.error(`${packsRoot} does not exist: "packs new" makes it, and --packs-root names another folder`)
  return yield* new PacksFaulty({ errors: 1 })
})

const validate = Command.make(
  "validate",
  { path: Argument.String("path").pipe(Argument.withDescription("A scenario.yaml, or the folder that holds it")) },
  Effect.fnUntraced(function* ({ path: given }) {
    const path = yield* Path.Path
    const folder = yield* openPacks(yield* requirePacks)
    const directory = path.resolve(path.basename(given) === "scenario.yaml" ? path.dirname(given) : given)
    const agents = yield* knownAgents
    const { policiesDir, signIn } = yield* Effect.provide(LauncherSettings, yield* settings)
    const { checked, findings } = (yield* folder.isFile(path.join(directory, "scenario.yaml")))
      ? checkScenario(yield* folder.scenario(directory), {
          compileSchema: compileInputSchema,
          knowsAgent: agents.knowsAgent,
          isPerson: agents.isPerson,
          packSlug: packSlugOf(yield* folder.read(path.join(directory, "../../../pack.yaml"))),
          undescribedCommitment: "warning"
        })
      : { findings: [errorIn(given, "there is no scenario.yaml")] }
    const inPack = yield* readDirectory(folder, path.join(directory, "../../.."))
    const cast = new Set(checked === undefined ? [] : agentsOf(checked))
    const policies = yield* checkPolicyFiles(policiesDir)
    const all = [
      ...agents.findings,
      ...(yield* startFindings(agents.profiles.filter(({ agentRef }) => cast.has(agentRef)))),
      ...findings,
      ...inPack.findings,
      ...(checked === undefined
        ? []
        : [
            ...policyFindings(checked, policies),
            ...peopleFindings(
              checked,
              { ...inPack, isPerson: agents.isPerson, isRemote: agents.isRemote, signIn },
              policies
            )
          ])
    ]
    yield* report({
      findings: all,
      of: { scenario: given },
      opening: `scenario:validate  ${given}`,
      closing: verdict(all)
    })
  })
).pipe(Command.withDescription("Check one scenario version: does it load, and can it be launched?"))

/** The slug of a pack file; undefined when it cannot be read. */
const packSlugOf = (reading: Reading): string | undefined => {
  const { slug } = objectAt(mappingOf(reading), "metadata")
  return typeof slug === "string" && slug !== "" ? slug : undefined
}

const lint = Command.make(
  "lint",
  {
    target: Argument.String("target").pipe(
      Argument.withDescription("The folder of one pack; without it every pack"),
      Argument.optional
    )
  },
  Effect.fnUntraced(function* ({ target }) {
    const path = yield* Path.Path
    const root = yield* requirePacks
    const { policiesDir, signIn } = yield* Effect.provide(LauncherSettings, yield* settings)
    const folder = yield* openPacks(root)
    const single = Option.filter(target, (name) => path.resolve(name) !== path.resolve(root))
    const all = yield* folder.list(path.resolve(root))
    const directories = Option.match(single, {
      onSome: (name) => [path.resolve(name)],
      onNone: () => all.filter((entry) => !/^[_.]/.test(path.basename(entry)))
    })
    const fs = yield* FileSystem.FileSystem
    const present = yield* Effect.filter(directories, (entry) =>
      fs.stat(entry).pipe(
        Effect.map((info) => info.type === "Directory"),
        Effect.orElseSucceed(() => false)
      )
    )
    const agents = yield* knownAgents
    const { findings, packs: count } = yield* lintPacks(folder, present, {
      compileSchema: compileInputSchema,
      knowsAgent: agents.knowsAgent,
      isPerson: agents.isPerson,
      isRemote: agents.isRemote,
      signIn,
      policies: yield* checkPolicyFiles(policiesDir)
    })
    const files = yield* openPackFiles(root)
    const rules = yield* Effect.forEach(present, (directory) => readPackAlerts(files, directory))
    const found = [
      ...agents.findings,
      ...(yield* startFindings(agents.profiles)),
      ...findings,
      ...rules.flat().flatMap(({ at, rule }) => (Result.isFailure(rule) ? [errorIn(at, rule.failure)] : [])),
      ...(count === 0
        ? [
            errorIn(
              Option.getOrElse(target, () => root),
              "no packs found"
            )
          ]
        : [])
    ]
    const counts = `${countOf(found, "error")} error(s), ${countOf(found, "warning")} warning(s)`
    yield* report({
      findings: found,
      of: { packs: count },
      closing: Console.log(`scenario:lint  ${count} pack(s) — ${counts}`)
    })
  })
).pipe(Command.withDescription("Check whole packs with their policies, agents and data"))

const decodeInputs = Schema.decodeUnknownOption(Schema.JsonObject)

/** The inputs that a file holds. What is wrong with it is one line. */
const readInputs = Effect.fnUntraced(
  function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(fs.readFileString(file), ({ reason }) => ({
      message: `inputs cannot be read from ${file}: ${reason._tag}`
    }))
    const inputs = decodeInputs(yield* Effect.fromResult(parseJson(text, file)))
    if (Option.isSome(inputs)) return inputs.value
    return yield* Effect.fail({ message: `${file} holds no JSON object: inputs are one, such as { "topic": "..." }` })
  },
  Effect.catch(({ message }) => Effect.andThen(Console.error(message), Effect.fail(new PacksFaulty({ errors: 1 }))))
)

const compile = Command.make(
  "compile",
  {
    ref: Argument.String("scenario-ref").pipe(Argument.withDescription("<pack>/<scenario>@<version>")),
    inputs: Flag.String("inputs").pipe(
      Flag.withDescription("JSON file with the inputs; without it the defaults alone"),
      Flag.optional
    ),
    template: Flag.String("template").pipe(Flag.withDescription("Slug of a template"), Flag.optional),
    mode: Flag.Literals("mode", ["live", "sandbox"]).pipe(
      Flag.withDescription("Mode of the run"),
      Flag.withDefault("sandbox")
    )
  },
  Effect.fnUntraced(function* ({ inputs, mode, ref, template }) {
    yield* requirePacks
    const { profiles } = yield* knownAgents
    const compiler = LaunchCompiler.layerDry.pipe(
      Layer.provide(Layer.mergeAll(PackRegistry.layer, AgentCatalog.layerMemory(profiles))),
      Layer.provide(yield* settings)
    )
    const given = Option.isSome(inputs) ? yield* readInputs(inputs.value) : {}
    const request = {
      scenarioRef: ref,
      inputs: given,
      mode,
      ...(Option.isSome(template) && { templateId: template.value })
    }
    const compiled = yield* Effect.flatMap(LaunchCompiler, (service) => service.compile(request)).pipe(
      Effect.provide(compiler),
      Effect.catch(
        Effect.fnUntraced(function* ({ errorCode, message, metadata }) {
          yield* Console.error(`${errorCode}: ${message}`)
          if (metadata !== undefined) yield* Console.error(JSON.stringify(metadata, null, 2))
          return yield* new PacksFaulty({ errors: 1 })
        })
      )
    )
    yield* Console.log((yield* ReportFormat) === "jsonl" ? JSON.stringify(compiled) : JSON.stringify(compiled, null, 2))
  })
).pipe(
  Command.withDescription("Print what a launch would be, without launching anything"),
  Command.withAlias("dry-run")
)

const create = Command.make(
  "new",
  {
    pack: Argument.String("pack").pipe(Argument.withDescription("Slug of the pack, which is made when it is new")),
    scenario: Argument.String("scenario").pipe(Argument.withDescription("Slug of the scenario")),
    version: Flag.String("version").pipe(Flag.withDescription("Version of the scenario"), Flag.withDefault("1.0.0")),
    from: Flag.String("from").pipe(Flag.withDescription("Copy this scenario reference"), Flag.optional),
    agents: Flag.String("agents").pipe(
      Flag.withDescription("Agents that take part, separated by commas; the first one opens the session"),
      Flag.withDefault(STARTER_AGENTS.join(","))
    )
  },
  Effect.fnUntraced(function* ({ agents, from, pack, scenario, version }) {
    const path = yield* Path.Path
    const to = yield* Effect.provide(LauncherSettings, yield* settings)
    const at = { pack, scenario, version }
    const { copied, folder } = yield* Effect.gen(function* () {
      if (Option.isSome(from))
        return yield* copyScenario(to, at, yield* Effect.fromResult(parseScenarioRef(from.value)))
      const profiles = yield* agentsToCast(agents.split(",").map((ref) => ref.trim()))
      const folder = yield* scaffold(to.packsDir, { ...at, agents: profiles })
      return {
        folder,
        copied: yield* copyOwnAgents(
          profiles.map(({ agentRef }) => agentRef),
          to
        )
      }
    }).pipe(
      Effect.catchTag(["ScaffoldRefused", "LaunchRejected", "CatalogEntryNotFound", "LauncherFault"], (failure) =>
        Effect.andThen(Console.error(failure.message), Effect.fail(new PacksFaulty({ errors: 1 })))
      )
    )
    const here = (file: string) => path.relative(path.resolve("."), file)
    const made = { scenarioRef: `${pack}/${scenario}@${version}`, folder: here(folder), copied: copied.map(here) }
    if (yield* printedAsJson(made)) return
    yield* Console.log(`scenario:new  scaffolded ${made.scenarioRef}`)
    yield* Console.log(made.folder)
    for (const file of made.copied) yield* Console.log(`  copied ${file}`)
  })
).pipe(Command.withDescription("Start a scenario of your own"))

/** `packs validate | lint | compile | new`. */
export const packsCommand = packs.pipe(Command.withSubcommands([validate, lint, compile, create]))
