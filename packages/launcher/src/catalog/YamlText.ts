import * as Result from "effect/Result"
import { defineScalarTag, JSON_SCHEMA, loadAll, YAMLException } from "js-yaml"
import { InvalidPackData } from "../LaunchErrors.ts"

/** The argument of an `!include` tag, kept in the parsed tree until `PackFiles` replaces it by the file's content. */
export class IncludeTag {
  readonly argument: string
  constructor(argument: string) {
    this.argument = argument
  }
}

/**
 * Parses one YAML file in the dialect of launch-details section 1.6: the JSON schema (no timestamps, no yes/no booleans, no
 * merge keys), anchors and aliases, plus the `!include` tag. `undefined` means "no document": an empty file, only
 * comments, or only `---`.
 */
export const parseYaml = (text: string, file: string): Result.Result<unknown, InvalidPackData> =>
  Result.try({
    try: () => {
      const documents = loadAll(text, { schema: packSchema })
      if (documents.length > 1) throw new Error("expected a single document, but found more")
      return documents[0] === "" ? undefined : documents[0]
    },
    catch: (cause) => new InvalidPackData({ file, message: `invalid YAML in ${file}: ${reasonOf(cause)}` })
  })

const packSchema = JSON_SCHEMA.withTags(
  defineScalarTag("!include", { resolve: (source) => new IncludeTag(source.trim()), identify: () => false })
)

const reasonOf = (cause: unknown): string => {
  if (cause instanceof YAMLException) {
    return cause.mark === undefined ? cause.reason : `${cause.reason} (line ${cause.mark.line + 1})`
  }
  return cause instanceof Error ? cause.message : String(cause)
}
