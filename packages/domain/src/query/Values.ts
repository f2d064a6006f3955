import * as Result from "effect/Result"
import { isUuid } from "../values/Ids.ts"
import { type QueryField, QueryRefused, type QueryValue } from "./Query.ts"
import { relativeSeconds } from "./RelativeTime.ts"
import type { Token } from "./Tokens.ts"

const NUMBER = /^-?\d+(\.\d+)?$/
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** A value as the type of its field reads it. */
export const readValue = (field: QueryField, token: Token): Result.Result<QueryValue, QueryRefused> => {
  const { name, type, values } = field
  const { start, text } = token
  const refuse = (expected: ReadonlyArray<string>) =>
    Result.fail(new QueryRefused({ why: `${shown(text)} is not a value of ${name}`, position: start, expected }))
  switch (type) {
    case "number":
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Result.succeed(Number(text)) : refuse(["a number"])
    case "flag":
      return text === "true" || text === "false" ? Result.succeed(text === "true") : refuse(["true", "false"])
    case "time": {
      const time = relativeSeconds(text) === undefined ? timeOf(text) : text
      return time === undefined
        ? refuse(["a time such as 2026-07-01, 2026-07-01T10:00:00Z or now-1d (s, m, h, d, w)"])
        : Result.succeed(time)
    }
    case "uuid":
      return isUuid(text) ? Result.succeed(text.toLowerCase()) : refuse(["a UUID"])
    case "keyword":
      return values === undefined || values.includes(text) ? Result.succeed(text) : refuse(values)
    case "text":
      return Result.succeed(text)
    case "value":
      return Result.succeed(token.kind === "word" ? anyValue(text) : text)
  }
}

const anyValue = (text: string): QueryValue =>
  text === "true" || text === "false"
    ? text === "true"
    : NUMBER.test(text) && Number.isFinite(Number(text))
      ? Number(text)
      : text

/** A time without a zone is in UTC. */
const timeOf = (text: string): string | undefined => {
  if (!TIME.test(text)) return undefined
  const isDay = !text.includes("T")
  const hasZone = isDay || /(Z|[+-]\d{2}:\d{2})$/.test(text)
  const time = new Date(hasZone ? text : `${text}Z`)
  if (Number.isNaN(time.getTime())) return undefined
  const iso = time.toISOString()
  // Years beyond these four digits are nothing that a database stores.
  if (!/^(?!0000)\d{4}-/.test(iso)) return undefined
  // Days that no month has would be counted on into the next one.
  return hasZone && !isDay && !text.endsWith("Z") ? iso : iso.startsWith(text.slice(0, 10)) ? iso : undefined
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
const LAST_OF_DAY = "T23:59:59.999Z"

/** The last instant of a time that is a whole day, undefined for any other value. */
export const endOfDay = ({ type }: QueryField, { text }: Token): string | undefined =>
  type === "time" && DAY.test(text) ? `${text}${LAST_OF_DAY}` : undefined

const MAX_SHOWN = 40

export const shown = (text: string): string => {
  const letters = Array.from(text.slice(0, 2 * MAX_SHOWN))
  return JSON.stringify(letters.length > MAX_SHOWN ? `${letters.slice(0, MAX_SHOWN).join("")}...` : text)
}
