import { shownText } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { canonicalArgs } from "./Confirm.ts"

type Json = Schema.Json
type JsonObject = Schema.JsonObject

/** The text with each character that a person does not see written out: `\u{200b}`. */
const spelledOut = (text: string): string =>
  Array.from(text, (character) =>
    character === "\n" || character === "\t" || shownText(character, { lines: true }) === character
      ? character
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  ).join("")

const visibleMembers = (value: object): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [spelledOut(name), visible(member)]))

const visible = (value: unknown): Json => {
  if (typeof value === "string") return shownText(value, { lines: true }) === value ? value : spelledOut(value)
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value
  if (Array.isArray(value)) return value.map(visible)
  if (typeof value !== "object") return null
  return visibleMembers(value)
}

/**
 * The arguments that a confirmation is about, as the caller gave them (docs/reference/mcp.md#confirmation): nothing is
 * cut and nothing hidden. Arguments of more bytes are represented by their number of bytes, their hash and their start.
 */
export const shownArguments = (input: unknown, maxBytes: number, hash: (text: string) => string): JsonObject => {
  const { confirmToken: _, ...own }: Record<string, unknown> =
    typeof input === "object" && input !== null ? { ...input } : {}
  const shown = visibleMembers(own)
  const text = JSON.stringify(shown)
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= maxBytes) return shown
  return { cut: true, bytes, sha256: canonicalArgs(input, hash), start: text.slice(0, Math.floor(maxBytes / 8)) }
}
