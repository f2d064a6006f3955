import * as Result from "effect/Result"

/** Messages of clients in the form that the module reads (docs/reference/mcp.md#arguments). */

/** Methods whose arguments are texts alone: null is an absent one. Arguments of tools are read by their schemas. */
const TEXT_ARGUMENTS = new Set(["prompts/get", "completion/complete"])

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object without its members that are null. */
const stated = (object: Members): Members =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

const normalised = (message: unknown): unknown => {
  if (!isObject(message) || !("params" in message)) return message
  const { params, ...rest } = message
  if (params === null) return rest
  if (!isObject(params)) return message
  const members = stated(params)
  const texts = (given: unknown) => (isObject(given) ? stated(given) : given)
  if (typeof message["method"] === "string" && TEXT_ARGUMENTS.has(message["method"])) {
    if ("arguments" in members) members["arguments"] = texts(members["arguments"])
    const { context } = members
    if (isObject(context)) {
      members["context"] = stated({
        ...context,
        ...("arguments" in context && { arguments: texts(context["arguments"]) })
      })
    }
  }
  return { ...rest, params: members }
}

/**
 * The text of a message, or of a batch, whose absent optional members are absent and not null. A text that is not JSON
 * stays as it is: the module refuses it.
 */
export const withoutNulls = (text: string): string => {
  if (!text.includes("null")) return text
  const written = Result.try(() => {
    const message: unknown = JSON.parse(text)
    return JSON.stringify(Array.isArray(message) ? message.map(normalised) : normalised(message))
  })
  return Result.getOrElse(written, () => text)
}

/** The quality of a media range; 0 when it is not a number from 0 to 1. */
const qualityOf = (parameters: ReadonlyArray<string>): number => {
  const given = parameters.map((parameter) => parameter.trim().toLowerCase()).find((one) => one.startsWith("q="))
  if (given === undefined) return 1
  const quality = Number(given.slice(2))
  return quality >= 0 && quality <= 1 ? quality : 0
}

/**
 * Whether an `Accept` header takes a media type: by its most specific range (RFC 9110). Without a header any is taken.
 */
export const acceptsType = (header: string | undefined, type: string): boolean => {
  if (header === undefined || header.trim() === "") return true
  const ranges = [type, `${type.split("/", 1)[0]}/*`, "*/*"]
  const qualities = new Map<string, number>()
  for (const part of header.split(",")) {
    const [range = "", ...parameters] = part.split(";")
    const name = range.trim().toLowerCase()
    qualities.set(name, Math.max(qualities.get(name) ?? 0, qualityOf(parameters)))
  }
  const range = ranges.find((one) => qualities.has(one))
  return range !== undefined && (qualities.get(range) ?? 0) > 0
}
