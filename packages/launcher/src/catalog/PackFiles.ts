import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Json } from "../Json.ts"
import { InvalidPackData } from "../LaunchErrors.ts"
import { IncludeTag, parseYaml } from "./YamlText.ts"

/** Most values that one pack file may hold with its includes and aliases written out; more is an alias or include bomb. */
export const MAX_DOCUMENT_VALUES = 200_000

const INCLUDABLE = new Set([".yaml", ".yml", ".json"])

export interface PackFiles {
  /** Reads a YAML or JSON file with all its includes resolved; `undefined` when it holds no document. */
  readonly read: (file: string) => Effect.Effect<Json | undefined, InvalidPackData | PlatformError.PlatformError>
  /** The file's path relative to the packs directory, for messages. */
  readonly nameOf: (file: string) => string
}

/**
 * Files of one packs directory, with `!include` as in launch-details section 1.5: a target is relative to the file that
 * holds the tag, stays inside the directory (symbolic links resolved) and ends in .yaml, .yml or .json.
 */
export const makePackFiles = Effect.fn("PackFiles.make")(function* (packsDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.realPath(packsDir)

  const nameOf = (file: string) => path.relative(root, path.resolve(root, file)) || "."
  const isInside = (file: string) => {
    const relative = path.relative(root, file)
    return relative === "" || (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  }

  const readChained = Effect.fnUntraced(function* (
    file: string,
    chain: ReadonlyArray<string>,
    budget: { left: number }
  ): Effect.fn.Return<Json | undefined, InvalidPackData | PlatformError.PlatformError> {
    const text = yield* fs.readFileString(file)
    const name = nameOf(file)
    const parsed = yield* Effect.fromResult(
      path.extname(file).toLowerCase() === ".json" ? parseJson(text, name) : parseYaml(text, name)
    )
    return parsed === undefined ? undefined : yield* resolve(parsed, file, [...chain, file], budget, new Set())
  })

  const resolve = Effect.fnUntraced(function* (
    value: unknown,
    file: string,
    chain: ReadonlyArray<string>,
    budget: { left: number },
    open: Set<object>
  ): Effect.fn.Return<Json, InvalidPackData | PlatformError.PlatformError> {
    if (--budget.left < 0) {
      return yield* invalid(nameOf(file), `more than ${MAX_DOCUMENT_VALUES} values in ${nameOf(file)}`)
    }
    if (value instanceof IncludeTag) return yield* include(value.argument, file, chain, budget)
    if (!Predicate.isObjectOrArray(value)) return scalar(value)
    if (open.has(value)) {
      return yield* invalid(nameOf(file), `invalid YAML in ${nameOf(file)}: an alias names a value that contains it`)
    }
    open.add(value)
    const resolved = Array.isArray(value)
      ? yield* Effect.forEach(value, (item) => resolve(item, file, chain, budget, open))
      : Object.fromEntries(
          yield* Effect.forEach(Object.entries(value), ([key, item]) =>
            Effect.map(resolve(item, file, chain, budget, open), (json) => [key, json] as const)
          )
        )
    open.delete(value)
    return resolved
  })

  const include = Effect.fnUntraced(function* (
    argument: string,
    parent: string,
    chain: ReadonlyArray<string>,
    budget: { left: number }
  ): Effect.fn.Return<Json, InvalidPackData | PlatformError.PlatformError> {
    const refuse = (text: string) => invalid(nameOf(parent), `${text} (in ${nameOf(parent)})`)
    if (argument === "") return yield* refuse("!include requires a non-empty string path")
    const target = path.resolve(path.dirname(parent), argument)
    if (!isInside(target)) return yield* refuse(`!include path escapes PACKS_DIR: ${argument}`)
    const extension = path.extname(target)
    if (!INCLUDABLE.has(extension.toLowerCase())) {
      return yield* refuse(`!include unsupported extension "${extension}" for ${argument}`)
    }
    if (!(yield* fs.exists(target))) return yield* refuse(`!include target not found: ${argument}`)
    const real = yield* fs.realPath(target)
    if (!isInside(real)) return yield* refuse(`!include path escapes PACKS_DIR: ${argument}`)
    if (chain.includes(real)) return yield* refuse(`!include cycle detected at ${argument}`)
    return (yield* readChained(real, chain, budget)) ?? null
  })

  const read = Effect.fn("PackFiles.read")(function* (file: string) {
    const real = yield* fs.realPath(file)
    if (!isInside(real)) return yield* invalid(nameOf(file), `${nameOf(file)} lies outside PACKS_DIR`)
    return yield* readChained(real, [], { left: MAX_DOCUMENT_VALUES })
  })

  const files: PackFiles = { read, nameOf }
  return files
})

const invalid = (file: string, message: string) => new InvalidPackData({ file, message })

const parseJson = (text: string, file: string): Result.Result<unknown, InvalidPackData> =>
  text.trim() === ""
    ? Result.succeed(undefined)
    : Result.try({
        try: (): unknown => JSON.parse(text),
        catch: (cause) =>
          invalid(file, `invalid JSON in ${file}: ${cause instanceof Error ? cause.message : String(cause)}`)
      })

/** The YAML dialect yields only JSON scalars, except numbers too large for JSON, which become null as JSON.stringify says. */
const scalar = (value: unknown): Json => {
  if (typeof value === "string" || typeof value === "boolean") return value
  return typeof value === "number" && Number.isFinite(value) ? value : null
}
