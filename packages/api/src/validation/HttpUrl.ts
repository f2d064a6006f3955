import { about } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** Characters; longer URLs break proxies on their way. */
export const MAX_URL_LENGTH = 2_048

const expected = "a URL address"

/**
 * An absolute http or https URL, kept as it was written. Credentials in it are refused: a URL is listed and logged, a
 * secret must not be.
 */
export const httpUrl = (description: string, example: string) =>
  Schema.String.annotate({ expected, format: "uri", ...about(description, example) }).check(
    Schema.makeFilter((text) => parse(text) !== undefined, {
      expected,
      toJsonSchema: () => ({ maxLength: MAX_URL_LENGTH })
    }),
    Schema.makeFilter((text) => {
      const url = parse(text)
      return (url?.username ?? "") === "" && (url?.password ?? "") === "" ? undefined : "must not contain credentials"
    })
  )

const parse = (text: string): URL | undefined => {
  // The parser mends texts that are not URLs by themselves, such as those with spaces around or without slashes.
  if (text.length > MAX_URL_LENGTH || !/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text)
}
