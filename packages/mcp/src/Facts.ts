import { type Phrase, shownText } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { isIdentifier } from "./Identifier.ts"

/** Facts of answers, and the aliases of texts of others in them (docs/reference/mcp.md#bounds), as pure code. */

type Json = Schema.Json
type JsonObject = Schema.JsonObject

/** A sentence of the service. Texts of others in it get an alias, as everywhere. */
export class Words {
  readonly parts: Phrase
  constructor(parts: Phrase) {
    this.parts = parts
  }
}

/** A sentence in the words of a tool. It quotes nothing: quoted texts are a `Phrase`. */
export const words = (text: string): Words => new Words([{ text, isQuoted: false }])

/** A value of an answer. Each text in it that is not an identifier gets an alias, unless the service wrote it. */
export type Fact = null | boolean | number | string | Words | ReadonlyArray<Fact> | Facts
export interface Facts {
  readonly [name: string]: Fact | undefined
}

/** The texts of one answer that have an alias. */
export interface Aliases {
  /** The value with an alias in place of each text that is not an identifier. */
  readonly refer: (value: Facts) => JsonObject
  /** The text of each alias in this JSON, in order of first use. */
  readonly usedIn: (json: string) => ReadonlyArray<readonly [alias: string, text: string]>
}

const ALIAS = /\bsaid-\d+\b/g

const isList = (value: Fact): value is ReadonlyArray<Fact> => Array.isArray(value)

export const makeAliases = (): Aliases => {
  const aliases = new Map<string, string>()
  const texts = new Map<string, string>()

  const aliasOf = (text: string): string => {
    if (isIdentifier(text)) return text
    const known = aliases.get(text)
    if (known !== undefined) return known
    const alias = `said-${aliases.size + 1}`
    aliases.set(text, alias)
    texts.set(alias, text)
    return alias
  }

  const referFact = (value: Fact): Json => {
    if (typeof value === "string") return aliasOf(value)
    if (typeof value !== "object" || value === null) return value
    if (value instanceof Words) {
      return value.parts.map(({ isQuoted, text }) => (isQuoted ? aliasOf(text) : shownText(text))).join("")
    }
    return isList(value) ? value.map(referFact) : refer(value)
  }

  const refer = (value: Facts): JsonObject =>
    Object.fromEntries(
      Object.entries(value).flatMap(
        ([name, member]): ReadonlyArray<readonly [string, Json]> =>
          member === undefined ? [] : [[aliasOf(name), referFact(member)]]
      )
    )

  return {
    refer,
    usedIn: (json) =>
      [...new Set(json.match(ALIAS) ?? [])].flatMap((alias): ReadonlyArray<readonly [string, string]> => {
        const text = texts.get(alias)
        return text === undefined ? [] : [[alias, text]]
      })
  }
}
