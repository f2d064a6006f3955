import { type Rule, valid } from "./Rule.ts"

/** Characters; longer URLs break proxies on their way. */
export const MAX_URL_LENGTH = 2_048

/**
 * An absolute http or https URL, kept as it was written. Credentials in it are refused: a URL is listed and logged, a secret
 * must not be.
 */
export const httpUrl = (): Rule<string> => ({
  optional: false,
  jsonSchema: { type: "string", format: "uri", maxLength: MAX_URL_LENGTH },
  check: (value, { key, prefix }, report) => {
    const url = typeof value === "string" && value.length <= MAX_URL_LENGTH ? parse(value) : undefined
    if (url === undefined) {
      report(`${prefix}${key} must be a URL address`)
      return undefined
    }
    if (url.username !== "" || url.password !== "") {
      report(`${prefix}${key} must not contain credentials`)
      return undefined
    }
    return typeof value === "string" ? valid(value) : undefined
  }
})

const parse = (text: string): URL | undefined => {
  // The parser mends texts that are no URL by themselves, such as those with spaces around or without slashes.
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text)
}
