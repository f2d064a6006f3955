import { MAX_JSON_DEPTH } from "@runplane/domain"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import type { Json } from "../common/Json.ts"
import { InvalidPackData, UnreadableFile } from "../common/LaunchErrors.ts"
import { lineOfPath } from "../common/LineOfPath.ts"
import { parseJson } from "./JsonText.ts"
import { numberFaults } from "./NumberTexts.ts"
import { IncludeTag, parseYaml } from "./YamlText.ts"

/** The text of these bytes without a byte order mark; undefined when they are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const LINE_FEED = 0x0a

/**
 * The first line, from 1, that is not UTF-8. In UTF-8 the byte of a line feed is never part of another character.
 */
export const firstBrokenLine = (bytes: Uint8Array): number => {
  let line = 1
  let start = 0
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    if (decodeUtf8(bytes.subarray(start, end)) === undefined) return line
    start = end + 1
    line++
  }
  return line
}

/** Mebibytes of one pack file. */
export const MAX_FILE_MIB = 4

/**
 * Most values that one pack file may hold with its includes and aliases written out; more is an alias or include bomb.
 */
const MAX_DOCUMENT_VALUES = 200_000

type ReadFailure = InvalidPackData | UnreadableFile

const INCLUDABLE = new Set([".yaml", ".yml", ".json"])

export interface PackFiles {
  /** Reads a YAML or JSON file with all its includes resolved; `undefined` when it holds no document. */
  readonly read: (file: string) => Effect.Effect<Json | undefined, ReadFailure>
  /** The text of one file, unparsed. */
  readonly readText: (file: string) => Effect.Effect<string, ReadFailure>
  /**
   * The line, from 1, where a file holds the value at a path of keys, or would have to; undefined when it is unknown.
   */
  readonly lineOf: (file: string, path: ReadonlyArray<string>) => Effect.Effect<number | undefined>
  /** What the YAML files that were read so far, includes too, say of numbers, once each: `<file>:<line>: <text>`. */
  readonly numberWarnings: () => ReadonlyArray<string>
  /** The file's path relative to the packs directory, for messages. */
  readonly nameOf: (file: string) => string
}

/**
 * Opens one packs directory. The target of an `!include` is relative to the file that holds the tag, stays inside the
 * directory (symbolic links resolved) and ends in .yaml, .yml or .json.
 */
export const openPackFiles = Effect.fn("PackFiles.open")(function* (packsDir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.realPath(packsDir)

  const nameOf = (file: string) => path.relative(root, path.resolve(root, file)) || "."
  const isInside = (file: string) => {
    const relative = path.relative(root, file)
    return relative === "" || (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  }

  const numberWarnings = new Set<string>()

  const readChained = Effect.fnUntraced(function* (
    file: string,
    chain: ReadonlyArray<string>,
    budget: { left: number },
    open: Set<object>
  ): Effect.fn.Return<Json | undefined, ReadFailure> {
    const text = yield* readText(file)
    const name = nameOf(file)
    const parsed = yield* Effect.fromResult(isJson(file) ? parseJson(text, name) : parseYaml(text, name))
    for (const { at, message } of isJson(file) ? [] : numberFaults(text)) {
      numberWarnings.add(`${name}:${lineOfPath(text, at)}: ${message}`)
    }
    return parsed === undefined ? undefined : yield* resolve(parsed, file, [...chain, file], budget, open)
  })

  const isJson = (file: string) => path.extname(file).toLowerCase() === ".json"

  const unreadable = (file: string) =>
    Effect.mapError(
      ({ reason }: PlatformError.PlatformError) =>
        new UnreadableFile({ message: `${nameOf(file)} cannot be read: ${reason._tag}` })
    )

  /** Only plain files of a sane size are read: a pipe would never end, and a device neither. */
  const readText = Effect.fnUntraced(function* (file: string) {
    const name = nameOf(file)
    const info = yield* unreadable(file)(fs.stat(file))
    if (info.type !== "File") return yield* new UnreadableFile({ message: `${name} is not a regular file` })
    if (ByteSize.isGreaterThan(info.size, ByteSize.mebibytes(MAX_FILE_MIB))) {
      return yield* invalid(name, `${name} is larger than ${MAX_FILE_MIB} MiB`)
    }
    const bytes = yield* unreadable(file)(fs.readFile(file))
    const text = decodeUtf8(bytes)
    return text ?? (yield* invalid(name, `${name} is not UTF-8 text (line ${firstBrokenLine(bytes)})`))
  })

  const resolve = Effect.fnUntraced(function* (
    value: unknown,
    file: string,
    chain: ReadonlyArray<string>,
    budget: { left: number },
    open: Set<object>
  ): Effect.fn.Return<Json, ReadFailure> {
    if (--budget.left < 0) {
      return yield* invalid(nameOf(file), `more than ${MAX_DOCUMENT_VALUES} values in ${nameOf(file)}`)
    }
    if (value instanceof IncludeTag) return yield* include(value.argument, file, chain, budget, open)
    if (!Predicate.isObjectOrArray(value)) return scalar(value)
    if (open.has(value)) {
      return yield* invalid(nameOf(file), `invalid YAML in ${nameOf(file)}: an alias names a value that contains it`)
    }
    if (open.size >= MAX_JSON_DEPTH) {
      return yield* invalid(nameOf(file), `values nested deeper than ${MAX_JSON_DEPTH} levels in ${nameOf(file)}`)
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
    budget: { left: number },
    open: Set<object>
  ): Effect.fn.Return<Json, ReadFailure> {
    const refuse = (text: string) => invalid(nameOf(parent), `${text} (in ${nameOf(parent)})`)
    if (argument === "") return yield* refuse("!include requires a non-empty string path")
    const target = path.resolve(path.dirname(parent), argument)
    if (!isInside(target)) return yield* refuse(`!include path escapes PACKS_DIR: ${argument}`)
    const extension = path.extname(target)
    if (!INCLUDABLE.has(extension.toLowerCase())) {
      return yield* refuse(`!include unsupported extension "${extension}" for ${argument}`)
    }
    if (!(yield* unreadable(target)(fs.exists(target)))) {
      return yield* refuse(`!include target not found: ${argument}`)
    }
    const real = yield* unreadable(target)(fs.realPath(target))
    if (!isInside(real)) return yield* refuse(`!include path escapes PACKS_DIR: ${argument}`)
    const { type } = yield* unreadable(real)(fs.stat(real))
    if (type !== "File") return yield* invalid(nameOf(real), `${nameOf(real)} is not a regular file`)
    if (chain.includes(real)) return yield* refuse(`!include cycle detected at ${argument}`)
    return (yield* readChained(real, chain, budget, open)) ?? null
  })

  const read = Effect.fn("PackFiles.read")(function* (file: string) {
    const real = yield* unreadable(file)(fs.realPath(file))
    if (!isInside(real)) return yield* invalid(nameOf(file), `${nameOf(file)} lies outside PACKS_DIR`)
    return yield* readChained(real, [], { left: MAX_DOCUMENT_VALUES }, new Set())
  })

  const lineOf = (file: string, keys: ReadonlyArray<string>) =>
    readText(path.resolve(root, file)).pipe(
      Effect.map((text) => lineOfPath(text, keys)),
      Effect.orElseSucceed(() => undefined)
    )

  const files: PackFiles = { read, readText, lineOf, numberWarnings: () => [...numberWarnings], nameOf }
  return files
})

const invalid = (file: string, message: string) => new InvalidPackData({ file, message })

/** The YAML dialect yields only JSON scalars: `parseYaml` refuses numbers that JSON does not have. */
const scalar = (value: unknown): Json => {
  if (typeof value === "string" || typeof value === "boolean") return value
  return typeof value === "number" && Number.isFinite(value) ? value : null
}
