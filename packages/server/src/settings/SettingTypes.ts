import { type Role, roles } from "@runplane/api"
import { isMailAddress } from "@runplane/domain"
import type * as LogLevel from "effect/LogLevel"
import * as Result from "effect/Result"
import { readDatabaseAddress } from "./DatabaseAddress.ts"
import { isIssuerAddress } from "./IssuerAddress.ts"
import type { Reading, SettingType } from "./Setting.ts"

const value = <A>(read: A): Reading<A> => ({ _tag: "Value", value: read })
const fault = (problem: string): Reading<never> => ({ _tag: "Fault", problem })
const got = (text: string) => `, got "${text}"`
/** The text before an @ may be a password. */
const shown = (text: string) => (text.includes("@") ? "" : got(text))

const entriesOf = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")

/** A text of a required form. The problem quotes the text unless it may hold a secret. */
const textLike = (
  label: string,
  fits: (text: string) => boolean,
  problem: string,
  show: (text: string) => string = shown
): SettingType<string> => ({
  label,
  read: (text) => (fits(text) ? value(text) : fault(`${problem}${show(text)}`))
})

const hidden = () => ""

/** Any text. */
export const text: SettingType<string> = { label: "text", read: value }

/** A file or folder; a relative path starts at the folder in which the program is started. */
export const path: SettingType<string> = { label: "path", read: value }

export const word = textLike("one word", (text) => /^[\x21-\x7e]+$/.test(text), "must be one word", got)

const PRINTABLE = /^[\x20-\x7e]+$/
const NOT_PRINTABLE = "must consist of printable ASCII characters"

/** Goes into a header, so it must fit into one. */
export const secretText = textLike("printable ASCII", (text) => PRINTABLE.test(text), NOT_PRINTABLE, hidden)

/** An address of one of the protocols (`http:`), which may hold a password. */
export const address = (...protocols: ReadonlyArray<string>): SettingType<string> => {
  const names = protocols.map((protocol) => `${protocol}//`).join(" or ")
  return textLike(
    `address starting with ${names}`,
    (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
    `must be an address starting with ${names}`,
    hidden
  )
}

const SMTP = "must be smtp://host or smtps://host, with user:password@ and :port where needed"

/** A mail server. User and password are percent-encoded. */
export const smtpAddress: SettingType<string> = {
  label: "address starting with smtp:// or smtps://",
  read: (text) => {
    if (!/^smtps?:\/\/[^/?#\s]+\/?$/.test(text) || !URL.canParse(text)) return fault(SMTP)
    const { hostname, password, username } = new URL(text)
    try {
      decodeURIComponent(username + password)
    } catch {
      return fault("must have user and password percent-encoded")
    }
    return hostname === "" ? fault(SMTP) : value(text)
  }
}

/** One mail address, without a name. */
export const mailAddress = textLike(
  "mail address",
  isMailAddress,
  "must be an address such as runplane@example.org",
  got
)

/** A PostgreSQL database, with every parameter of libpq that is supported. */
export const databaseAddress: SettingType<string> = {
  label: "address starting with postgres:// or postgresql://",
  read: (text) => {
    const address = readDatabaseAddress(text)
    return Result.isSuccess(address) ? value(text) : fault(address.failure)
  }
}

/** A directory, or a prefix of a bucket. */
export const archiveAddress = textLike(
  "address starting with file:/// or s3://",
  (text) => URL.canParse(text) && /^(file:\/\/\/[^/]|s3:\/\/[^/?#@]+(\/[^?#]*)?$)/.test(text),
  "must be file:///directory or s3://bucket/prefix"
)

/** The name of a database in the files of its archive. */
export const cellName = textLike(
  "lower-case letters, digits, _ and -",
  (text) => /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text),
  "must be at most 63 lower-case letters, digits, _ and -",
  got
)

export const httpAddress = address("http:", "https:")

/** A path in front of all paths of a service, without a slash at its end. */
export const basePath: SettingType<string> = {
  label: "path",
  read: (text) =>
    /^(\/[\w.~-]+)+\/?$/.test(text) && !/\/\.{1,2}(\/|$)/.test(text)
      ? value(text.replace(/\/$/, ""))
      : fault(`must be a path such as /runplane${got(text)}`)
}

/** The name of an OpenID Connect issuer, which is an address too. */
export const issuerAddress = textLike(
  "address starting with https://, or http:// on the loopback",
  (text) => isIssuerAddress(text) && !text.includes("?"),
  "must be an address starting with https://, or http:// on the loopback, without user, query and fragment",
  hidden
)

export const hostAndPort = textLike(
  "host:port",
  (text) => /^[^/@?#\s]+:\d+$/.test(text) && URL.canParse(`http://${text}`),
  "must be host:port"
)

export const host = textLike(
  "host name or address",
  (text) => /^[^/@?#\s]+$/.test(text),
  "must be a host name or an address"
)

const HOST_NAME = /^[^/@?#\s:,*]+$/

/** Host names between commas, without ports. */
export const hostNames: SettingType<ReadonlyArray<string>> = {
  label: "host names, separated by commas",
  read: (text) => {
    const entries = entriesOf(text)
    const wrong = entries.find((entry) => !HOST_NAME.test(entry))
    return wrong === undefined ? value(entries) : fault(`must be host names${shown(wrong)}`)
  }
}

/** What a number that cannot be used does to the start. */
type WhenBad =
  /** It stops the start. */
  | "stop"
  /** A text that is not a number counts as unset, with a warning. A number out of its bounds stops the start. */
  | "stop-out-of-bounds"
  /** It counts as unset, with a warning. */
  | "default"

interface WholeNumber {
  readonly unit?: string
  readonly min?: number
  readonly max?: number
  readonly whenBad?: WhenBad
  /** A larger value becomes this one. */
  readonly atMost?: number
}

/** A whole number; without bounds one of at least 0. */
export const wholeNumber = ({
  atMost,
  max,
  min = 0,
  unit,
  whenBad = "stop"
}: WholeNumber = {}): SettingType<number> => {
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`
  return {
    label: `${unit ?? "whole number"}, ${max === undefined ? `at least ${min}` : `from ${min} to ${max}`}`,
    read: (text) => {
      const number = Number(text)
      if (Number.isSafeInteger(number) && number >= min && number <= (max ?? number)) {
        return value(atMost === undefined ? number : Math.min(number, atMost))
      }
      if (whenBad === "default" || (whenBad === "stop-out-of-bounds" && !Number.isFinite(number))) {
        return { _tag: "Warning", problem: `is not a number ("${text}"): the default is used` }
      }
      return fault(`must be a whole number ${bounds}${got(text)}`)
    }
  }
}

const MAX_PORT = 65_535

/** A port to listen on; 0 takes a free one. */
export const listenPort = (whenBad: WhenBad = "stop") => wholeNumber({ unit: "port", min: 0, max: MAX_PORT, whenBad })

/** A port that is said to others. */
export const knownPort: SettingType<number> = {
  label: `port, from 1 to ${MAX_PORT}`,
  read: (text) =>
    /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PORT
      ? value(Number(text))
      : fault(`must be a port from 1 to ${MAX_PORT}${got(text)}`)
}

const TRUE: ReadonlySet<string> = new Set(["1", "true", "yes", "on"])
const FALSE: ReadonlySet<string> = new Set(["0", "false", "no", "off"])

const flagOf = (text: string): boolean | undefined => {
  const known = text.toLowerCase()
  return TRUE.has(known) ? true : FALSE.has(known) ? false : undefined
}

const FLAG_LABEL = "true or false"

/** `1`, `true`, `yes` and `on` in any case are true; every other word is false, the unusual ones with a warning. */
export const flag: SettingType<boolean> = {
  label: FLAG_LABEL,
  read: (text) => {
    const known = flagOf(text)
    return known === undefined
      ? { _tag: "Warning", problem: `is neither true nor false ("${text}"): it counts as false`, value: false }
      : value(known)
  }
}

/** The same words; every other word stops the start. */
export const strictFlag: SettingType<boolean> = {
  label: FLAG_LABEL,
  read: (text) => {
    const known = flagOf(text)
    return known === undefined ? fault(`must be true or false${got(text)}`) : value(known)
  }
}

export const oneOf = <const Values extends ReadonlyArray<string>>(values: Values): SettingType<Values[number]> => ({
  label: `one of ${values.join(", ")}`,
  read: (text) => {
    const known = values.find((candidate) => candidate === text)
    return known === undefined ? fault(`must be one of ${values.join(", ")}${got(text)}`) : value(known)
  }
})

const LOG_LEVELS: Readonly<Record<string, LogLevel.LogLevel>> = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None",
  silent: "None"
}

export const logLevel: SettingType<LogLevel.LogLevel> = {
  label: `one of ${Object.keys(LOG_LEVELS).join(", ")}`,
  read: (text) => {
    const level = LOG_LEVELS[text.toLowerCase()]
    return level === undefined
      ? fault(`must be one of ${Object.keys(LOG_LEVELS).join(", ")}${got(text)}`)
      : value(level)
  }
}

/** Texts between commas, empty ones dropped. */
export const list: SettingType<ReadonlyArray<string>> = {
  label: "texts, separated by commas",
  read: (text) => value(entriesOf(text))
}

/** A JSON document, unparsed; it may hold secrets. */
export const json = textLike("JSON", isJson, "is not JSON", hidden)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** API keys between commas. They come in a header, so they must fit into one. */
export const keys: SettingType<ReadonlyArray<string>> = {
  label: "keys, separated by commas",
  read: (text) => {
    if (!PRINTABLE.test(text)) return fault(NOT_PRINTABLE)
    const entries = entriesOf(text)
    return entries.length > 0
      ? value(entries)
      : { _tag: "Warning", problem: "holds no key: it counts as unset", value: [] }
  }
}

const KEY_NAME = /^(?!anonymous$)[A-Za-z0-9][\w.@-]{0,63}$/

/**
 * Names for the keys, in their order; an empty one names nothing. They look neither like `anonymous` nor like the hash
 * of a key. The text is never shown: it may be the keys, set by mistake.
 */
export const keyNames: SettingType<ReadonlyArray<string>> = {
  label: "names, separated by commas",
  read: (text) => {
    const names = text.split(",").map((entry) => entry.trim())
    return names.every((name) => name === "" || KEY_NAME.test(name))
      ? value(names)
      : fault("must be names of letters, digits and . _ @ - for the keys, in their order")
  }
}

const isRole = (text: string): text is Role => roles.some((role) => role === text)

/** Roles for the keys, in their order; an empty one is an administrator's. The text is never shown, as for names. */
export const keyRoles: SettingType<ReadonlyArray<Role>> = {
  label: `roles, separated by commas: ${roles.join(", ")}`,
  read: (text) => {
    const entries = text.split(",").map((entry) => entry.trim() || "admin")
    return entries.every(isRole)
      ? value(entries)
      : fault(`must be roles for the keys, in their order: ${roles.join(", ")}`)
  }
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text

/** Origins between commas; `*` matches any number of characters. One that is not an origin would never match. */
export const origins: SettingType<ReadonlyArray<string>> = {
  label: "origins, separated by commas",
  read: (text) => {
    const entries = entriesOf(text)
    const wrong = entries.find((entry) => !entry.includes("*") && !isOrigin(entry))
    return wrong === undefined
      ? value(entries)
      : fault(`must be origins such as https://console.example${shown(wrong)}`)
  }
}

/** The number of proxies in front of a service; `true` means one. */
export const proxies: SettingType<number> = {
  label: "true, false or a number of proxies",
  read: (text) => {
    if (/^\d{1,3}$/.test(text)) return value(Number(text))
    const known = flagOf(text)
    return known === undefined ? fault(`must be true, false or a number of proxies${got(text)}`) : value(known ? 1 : 0)
  }
}

/** The same type with another text for its faults. */
export const saying = <A>(type: SettingType<A>, problem: string): SettingType<A> => ({
  ...type,
  read: (text) => {
    const reading = type.read(text)
    return reading._tag === "Fault" ? fault(problem) : reading
  }
})
