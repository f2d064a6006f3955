import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { deepMerge, isJsonObject, type Json, type JsonObject, withoutNulls } from "../common/Json.ts"
import { InvalidPackData, UnreadableFile } from "../common/LaunchErrors.ts"
import type {
  BrokenPack,
  Catalog,
  CatalogPack,
  CatalogScenario,
  LaunchPlan,
  ScenarioTemplate,
  ScenarioVersion
} from "./Catalog.ts"
import { type CompileInputSchema, schemaDefaults } from "./InputSchema.ts"
import { PACK_KEYS, unknownKeys } from "./KnownKeys.ts"
import * as Documents from "./PackDocuments.ts"
import type { PackFault } from "./PackFault.ts"
import { openPackFiles, type PackFiles } from "./PackFiles.ts"
import { readPeopleFile } from "./PeopleFile.ts"
import { scenarioFaults, templateFaults } from "./ScenarioFaults.ts"
import { copyFault, originalsFirst } from "./TemplateCopies.ts"
import { compareTexts, compareVersions } from "./VersionOrder.ts"

/** What a scenario without `spec.runtime` runs on; the object is defaulted as a whole, not key by key. */
const DEFAULT_RUNTIME: JsonObject = { kind: "rust", version: "v1" }

export interface LoadedCatalog {
  readonly catalog: Catalog
  /** What was skipped and why, and what cannot be meant; for the log. */
  readonly warnings: ReadonlyArray<string>
}

type LoadFailure = InvalidPackData | UnreadableFile

/**
 * Reads a whole packs directory (docs/internals/launch.md#broken-packs). Malformed pack data fails the load when
 * `strict`, else only its pack is broken. The loader skips a directory that is not a pack, an empty file, and an
 * unreadable file or folder, each with a warning.
 */
export const loadCatalog = Effect.fn("PackLoader.loadCatalog")(function* (
  packsDir: string,
  compileSchema: CompileInputSchema,
  strict = true
): Effect.fn.Return<LoadedCatalog, InvalidPackData, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(packsDir), () => false))) {
    return {
      catalog: { packs: [], broken: [], unreadable: [] },
      warnings: ["the packs directory does not exist: the catalog is empty"]
    }
  }
  const reader = yield* makeReader(packsDir, compileSchema).pipe(
    Effect.catchTag("PlatformError", ({ reason }) => rootUnreadable({ message: reason._tag }))
  )
  const packs: Array<CatalogPack> = []
  const broken: Array<BrokenPack> = []
  const fileOf = new Map<string, string>()
  for (const name of yield* reader.packDirectories) {
    const found = yield* reader.pack(name).pipe(
      reader.leaveOut("the pack", undefined),
      Effect.catchTag("InvalidPackData", (error) => Effect.flatMap(withLine(reader.files, error), Effect.fail)),
      Effect.flatMap((pack) => checkUnique(pack, name, fileOf)),
      Effect.result
    )
    if (Result.isSuccess(found)) {
      if (found.success !== undefined) packs.push(found.success)
      continue
    }
    if (strict) return yield* found.failure
    const { message } = found.failure
    reader.warnings.push(`pack ${name} is broken: ${message}`)
    broken.push({ slug: yield* reader.slugOf(name), message })
  }
  return {
    catalog: { packs, broken, unreadable: reader.unreadable },
    warnings: [...reader.warnings, ...reader.files.numberWarnings()]
  }
})

/** A slug names one pack. */
const checkUnique = (pack: CatalogPack | undefined, folder: string, fileOf: Map<string, string>) => {
  if (pack === undefined) return Effect.succeed(undefined)
  const file = `${folder}/pack.yaml`
  const other = fileOf.get(pack.slug)
  if (other !== undefined) {
    return Effect.fail(
      new InvalidPackData({ file, message: `duplicate metadata.slug in ${file}: ${other} has it too` })
    )
  }
  fileOf.set(pack.slug, file)
  return Effect.succeed(pack)
}

/** The same complaint with the line it is about, as the complaints of the YAML parser have it. */
const withLine = (files: PackFiles, error: InvalidPackData) =>
  error.at === undefined
    ? Effect.succeed(error)
    : Effect.map(files.lineOf(error.file, error.at), (line) =>
        line === undefined
          ? error
          : new InvalidPackData({ file: error.file, message: `${error.message} (line ${line})` })
      )

const rootUnreadable = (error: { readonly message: string }) =>
  new InvalidPackData({ file: ".", message: `the packs directory cannot be read: ${error.message}` })

const makeReader = Effect.fnUntraced(function* (packsDir: string, compileSchema: CompileInputSchema) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = yield* openPackFiles(packsDir)
  const root = yield* fs.realPath(packsDir)
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const warnings: Array<string> = []
  const unreadable: Array<string> = []

  /** What cannot be read costs the part of the catalog that it holds. */
  const leaveOut =
    <A>(part: string, without: A) =>
    <B, E, R>(read: Effect.Effect<B, E | UnreadableFile, R>) =>
      Effect.catchIf(
        read,
        (error): error is UnreadableFile => error instanceof UnreadableFile,
        ({ message }) => {
          unreadable.push(message)
          warnings.push(`${message}: ${part} is left out`)
          return Effect.succeed(without)
        }
      )

  const readable = <A>(file: string, read: Effect.Effect<A, PlatformError.PlatformError>) =>
    Effect.mapError(
      read,
      ({ reason }) => new UnreadableFile({ message: `${files.nameOf(file)} cannot be read: ${reason._tag}` })
    )

  /** Names that begin with a dot are litter of editors and systems, or hidden on purpose. */
  const entries = (directory: string) =>
    readable(
      directory,
      fs.exists(directory).pipe(
        Effect.flatMap((exists) => (exists ? fs.readDirectory(directory) : Effect.succeed([]))),
        Effect.map((names) => names.filter((name) => !name.startsWith(".")).sort(compareTexts))
      )
    )
  // A link to nowhere, or an entry that has just been taken away, is not a directory.
  const isDirectory = (file: string) =>
    readable(
      file,
      fs.stat(file).pipe(
        Effect.map((info) => info.type === "Directory"),
        Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false))
      )
    )
  const directories = (directory: string) =>
    Effect.flatMap(
      entries(directory),
      Effect.filter((name) => {
        const file = path.join(directory, name)
        return isDirectory(file).pipe(leaveOut(files.nameOf(file), false))
      })
    )

  /** Logs faults that do not keep the file from loading, with their lines. */
  const warn = (file: string, faults: ReadonlyArray<PackFault>) =>
    Effect.forEach(
      faults,
      ({ at, message }) =>
        Effect.map(files.lineOf(file, at), (line) => {
          warnings.push(`${file}${line === undefined ? "" : `:${line}`}: ${message}`)
        }),
      { discard: true }
    )

  const packDirectories = directories(root).pipe(
    Effect.map((names) => names.filter((name) => !name.startsWith("_"))),
    Effect.catchTag("UnreadableFile", rootUnreadable)
  )

  const pack = Effect.fnUntraced(function* (name: string): Effect.fn.Return<CatalogPack | undefined, LoadFailure> {
    const directory = path.join(root, name)
    const document = yield* readMapping(files, path.join(directory, "pack.yaml"), warnings)
    if (document === undefined) return undefined
    const file = files.nameOf(path.join(directory, "pack.yaml"))
    yield* Effect.fromResult(Documents.checkHeader(document, "ScenarioPack", file))
    const { metadata } = yield* Effect.fromResult(Documents.decodePack(document, file))
    yield* warn(file, unknownKeys(document, PACK_KEYS))
    const people = yield* Effect.provideContext(readPeopleFile(files, directory, warn), context)
    const scenarios: Array<CatalogScenario> = []
    for (const slug of yield* directories(path.join(directory, "scenarios"))) {
      const [first, ...rest] = yield* scenarioVersions(
        metadata.slug,
        slug,
        path.join(directory, "scenarios", slug)
      ).pipe(leaveOut("the scenario", []))
      if (first !== undefined) scenarios.push({ slug, versions: [first, ...rest] })
    }
    return { slug: metadata.slug, metadata, scenarios, people }
  })

  /** The slug of a pack with a broken file somewhere; its folder's name where the slug itself cannot be read. */
  const slugOf = (name: string) =>
    readMapping(files, path.join(root, name, "pack.yaml"), []).pipe(
      Effect.map((document) => {
        const metadata = document?.["metadata"]
        const slug = isJsonObject(metadata) ? metadata["slug"] : undefined
        return typeof slug === "string" && slug !== "" ? slug : name
      }),
      Effect.orElseSucceed(() => name)
    )

  const scenarioVersions = Effect.fnUntraced(function* (
    packSlug: string,
    slug: string,
    directory: string
  ): Effect.fn.Return<ReadonlyArray<ScenarioVersion>, LoadFailure> {
    const found: Array<ScenarioVersion> = []
    for (const version of (yield* directories(directory)).toSorted(compareVersions)) {
      const at = { pack: packSlug, scenario: slug, version }
      const read = yield* scenarioVersion(at, path.join(directory, version)).pipe(leaveOut("the version", undefined))
      if (read !== undefined) found.push(read)
    }
    return found
  })

  const scenarioVersion = Effect.fnUntraced(function* (
    at: { readonly pack: string; readonly scenario: string; readonly version: string },
    directory: string
  ): Effect.fn.Return<ScenarioVersion | undefined, LoadFailure> {
    const scenarioFile = path.join(directory, "scenario.yaml")
    if (!(yield* readable(scenarioFile, fs.exists(scenarioFile)))) return undefined
    const document = yield* readMapping(files, scenarioFile, warnings)
    if (document === undefined) return undefined
    const file = files.nameOf(scenarioFile)
    const scenario = yield* Effect.fromResult(readScenario(at, document, file, compileSchema))
    yield* warn(file, scenarioFaults(at, document, scenario.version))
    const templates = yield* scenarioTemplates(scenario, path.join(directory, "templates")).pipe(
      leaveOut("every template of the version", [])
    )
    return { ...scenario.version, templates }
  })

  const scenarioTemplates = Effect.fnUntraced(function* (
    { spec, version }: ReadScenario,
    directory: string
  ): Effect.fn.Return<ReadonlyArray<ScenarioTemplate>, LoadFailure> {
    const found: Array<{ readonly file: string; readonly document: Json | undefined }> = []
    for (const name of (yield* entries(directory)).filter((entry) => /\.ya?ml$/.test(entry))) {
      const file = path.join(directory, name)
      if (yield* Effect.orElseSucceed(isDirectory(file), () => false)) {
        warnings.push(`${files.nameOf(file)} left out: it is a folder`)
        continue
      }
      const document = yield* files.read(file).pipe(leaveOut("the template", undefined))
      found.push({ file: files.nameOf(file), document })
    }
    const templates = new Map<string, { readonly file: string; readonly template: ScenarioTemplate }>()
    for (const { document, file } of originalsFirst(found)) {
      const template = yield* Effect.fromResult(readTemplate(spec, document, file))
      if (template === undefined) continue
      const original = templates.get(template.slug)
      if (original !== undefined) {
        yield* warn(file, [copyFault(template.slug, original.file)])
        continue
      }
      templates.set(template.slug, { file, template })
      if (isDocument(document)) yield* warn(file, templateFaults(document, template, version))
    }
    return [...templates.values()]
      .map(({ template }) => template)
      .sort((left, right) => compareTexts(left.slug, right.slug))
  })

  return { files, leaveOut, packDirectories, pack, slugOf, unreadable, warnings }
})

/** A file that holds no mapping is half-written: it is left out with a warning. */
const readMapping = Effect.fnUntraced(function* (files: PackFiles, file: string, warnings: Array<string>) {
  const document = yield* files.read(file)
  if (document !== undefined && isJsonObject(document)) return document
  warnings.push(`${files.nameOf(file)} left out: it holds no mapping`)
  return undefined
})

/** One `scenario.yaml`, checked, without its templates; they are merged over `spec`. */
export interface ReadScenario {
  readonly version: Omit<ScenarioVersion, "templates">
  readonly spec: Documents.ScenarioDocument["spec"]
}

export const readScenario = (
  at: { readonly pack: string; readonly scenario: string; readonly version: string },
  document: JsonObject,
  file: string,
  compileSchema: CompileInputSchema
): Result.Result<ReadScenario, InvalidPackData> =>
  Result.gen(function* () {
    yield* Documents.checkHeader(document, "ScenarioVersion", file)
    const { metadata, spec } = yield* Documents.decodePart(Documents.ScenarioDocument, document, file, "")
    const validate = yield* Result.mapError(
      compileSchema(spec.inputs.schema),
      (reason) =>
        new InvalidPackData({
          file,
          at: ["spec", "inputs", "schema"],
          message: `invalid spec.inputs.schema in ${file}: ${reason}`
        })
    )
    const version: Omit<ScenarioVersion, "templates"> = {
      ...at,
      metadata,
      formSchema: spec.inputs.schema,
      schemaDefaults: schemaDefaults(spec.inputs.schema),
      validate,
      expectedDecisionKinds: spec.outputs?.expectedDecisionKinds,
      publish: spec.publish,
      base: yield* planOf(spec, {}, file, "spec.")
    }
    return { version, spec }
  })

/** `undefined` for a file that is not a template: another kind, or no slug. */
export const readTemplate = (
  base: Documents.ScenarioDocument["spec"],
  document: unknown,
  file: string
): Result.Result<ScenarioTemplate | undefined, InvalidPackData> =>
  Result.gen(function* () {
    if (!isDocument(document) || document["kind"] !== "ScenarioTemplate") return undefined
    const metadata = document["metadata"]
    const slug = isDocument(metadata) ? metadata["slug"] : undefined
    if (typeof slug !== "string" || slug === "") return undefined
    const spec = yield* Documents.decodePart(Documents.TemplateSpec, document["spec"] ?? {}, file, "spec.")
    const plan = yield* planOf(base, spec.overrides ?? {}, file, "spec.overrides.")
    return { slug, defaults: spec.defaults ?? {}, plan }
  })

/** The launch that a scenario with one template's overrides results in; `prefix` says where a bad value was written. */
const planOf = (
  spec: Documents.ScenarioDocument["spec"],
  overrides: NonNullable<Documents.TemplateSpec["overrides"]>,
  file: string,
  prefix: string
): Result.Result<LaunchPlan, InvalidPackData> => {
  const block = (base: JsonObject | undefined, override: JsonObject | undefined) => {
    const merged = deepMerge(base ?? {}, override)
    return withoutNulls(isDocument(merged) ? merged : {})
  }
  const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, value: Json, name: string) =>
    Documents.decodePart(schema, value, file, `${prefix}${name}.`)
  return Result.gen(function* () {
    const runtime = withoutNulls({ ...(spec.runtime ?? DEFAULT_RUNTIME), ...overrides.runtime })
    const launch = yield* decode(Documents.LaunchBlock, block(spec.launch, overrides.launch), "launch")
    yield* decode(Schema.Array(Documents.KickoffEntry), launch.kickoffTemplate ?? [], "launch.kickoffTemplate")
    return {
      runtime: yield* decode(Documents.RuntimeBlock, runtime, "runtime"),
      launch,
      execution: yield* decode(Documents.ExecutionBlock, block(spec.execution, overrides.execution), "execution")
    }
  })
}

const isDocument = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
