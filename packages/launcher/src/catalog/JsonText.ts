import * as Result from "effect/Result"
import { InvalidPackData } from "../common/LaunchErrors.ts"
import { jsonFaultInFile } from "../common/LineOfPath.ts"

/**
 * Parses one JSON file; `undefined` for an empty one. What would not be read as it is written fails, too. A complaint
 * names the line, as those about YAML do.
 */
export const parseJson = (text: string, file: string): Result.Result<unknown, InvalidPackData> => {
  if (text.trim() === "") return Result.succeed(undefined)
  const invalid = (reason: string) => new InvalidPackData({ file, message: `invalid JSON in ${file}: ${reason}` })
  return Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause) => invalid(`${reasonOf(cause)} (line ${brokenLine(text)})`)
  }).pipe(
    Result.flatMap((value) => {
      const fault = jsonFaultInFile(text)
      return fault === undefined ? Result.succeed(value) : Result.fail(invalid(fault))
    })
  )
}

/** Without the quoted text and the position, which the parser gives for some errors only. */
const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause))
    .replace(/, (\.\.\.)?".*is not valid JSON$/s, "")
    .replace(/( in JSON)? at position \d+.*$/s, "")

/**
 * The first line, from 1, up to which the text cannot be the beginning of any JSON. No token of JSON spans lines, so a
 * beginning that ends with a line is either incomplete or wrong.
 */
const brokenLine = (text: string): number => {
  const lines = text.split("\n")
  let fine = 0
  let broken = lines.length
  while (broken - fine > 1) {
    const middle = Math.floor((fine + broken) / 2)
    if (mayGoOn(`${lines.slice(0, middle).join("\n")}\n`)) fine = middle
    else broken = middle
  }
  return broken
}

const mayGoOn = (beginning: string): boolean => {
  try {
    JSON.parse(beginning)
    return true
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : ""
    const position = / at position (\d+)/.exec(message)?.[1]
    return position === undefined
      ? message.startsWith("Unexpected end of JSON input")
      : Number(position) >= beginning.length
  }
}
