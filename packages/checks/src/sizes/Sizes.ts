import { isOwnCode, read, trackedFiles } from "../Repository.ts"
import { LARGE_FOLDERS, LONG_FILES, LONG_GENERATORS, type SizeException } from "./SizeExceptions.ts"

/** A longer file holds more than one concept. */
const MAX_LINES = 400
/** A longer generator is several functions. */
const MAX_GENERATOR_LINES = 120
/** The files of a larger folder have more than one subject. */
const MAX_FILES = 25

/** A measured file or folder. */
interface Size {
  readonly path: string
  readonly value: number
}

/** The sizes over the bound or over that of their exception, and the exceptions that are not needed. */
export const oversized = (
  sizes: ReadonlyArray<Size>,
  bound: number,
  exceptions: ReadonlyArray<SizeException>,
  unit: string
): ReadonlyArray<string> => {
  const over = sizes.filter(({ value }) => value > bound)
  return [
    ...over.flatMap(({ path, value }) => {
      const { atMost = bound } = exceptions.find((each) => each.path === path) ?? {}
      return value > atMost ? [`${path} has ${value} ${unit}, more than ${atMost}`] : []
    }),
    ...exceptions
      .filter(({ path }) => over.every((each) => each.path !== path))
      .map(({ path }) => `${path} has at most ${bound} ${unit}: remove its exception`)
  ]
}

/** The files of code, of sources and tests alike, that are too long. */
export const longFiles = (): ReadonlyArray<string> =>
  oversized(
    trackedFiles()
      .filter(isOwnCode)
      .map((path) => ({ path, value: read(path).split("\n").length - 1 })),
    MAX_LINES,
    LONG_FILES,
    "lines"
  )

/** The lines in the body of each generator of a formatted text; a generator of one line has none. */
export const generatorsOf = (text: string): ReadonlyArray<number> => {
  const lines = text.split("\n")
  const indent = (line: string) => line.length - line.trimStart().length
  return lines.flatMap((line, at) => {
    if (!/\bfunction\*.*\{$/.test(line)) return []
    const rest = lines.slice(at + 1)
    return [rest.findIndex((each) => each.trimStart().startsWith("}") && indent(each) <= indent(line))]
  })
}

/** The files of code with a generator that is too long. */
export const longGenerators = (): ReadonlyArray<string> =>
  oversized(
    trackedFiles()
      .filter(isOwnCode)
      .map((path) => ({ path, value: Math.max(0, ...generatorsOf(read(path))) })),
    MAX_GENERATOR_LINES,
    LONG_GENERATORS,
    "lines in a generator"
  )

/** The folders with too many files. Recordings and fixtures are as many as there are cases. */
export const largeFolders = (): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const file of trackedFiles()) {
    const folder = file.slice(0, Math.max(0, file.lastIndexOf("/")))
    if (folder !== "" && !/(?:^|\/)(?:gen|fixtures|recordings)(?:\/|$)/.test(folder)) {
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
  }
  return oversized(
    [...counts].map(([path, value]) => ({ path, value })),
    MAX_FILES,
    LARGE_FOLDERS,
    "files"
  )
}
