import * as Encoding from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Preview } from "./ToolSpec.ts"

/** Confirmation tokens, as pure code (docs/reference/mcp.md#confirmation). */

/** Lifetime of a token, milliseconds. */
export const TOKEN_MS = 300_000

/** What a token is bound to. */
export interface Binding {
  readonly tool: string
  /** Hash of the arguments without confirmToken, as canonical text. */
  readonly args: string
  readonly key: string
}

const Payload = Schema.Struct({
  tool: Schema.String,
  args: Schema.String,
  key: Schema.String,
  status: Schema.String,
  index: Schema.Int,
  /** Hash of the facts, where they are what is confirmed. */
  facts: Schema.optionalKey(Schema.String),
  nonce: Schema.String,
  expiresAt: Schema.Int
})
export type Payload = typeof Payload.Type

/** The HMAC of a text, base64url. */
export type Mac = (text: string) => string

const decodePayload = Schema.decodeUnknownResult(Schema.fromJsonString(Payload))

/** The arguments of a call as one text, whatever the order of their keys. */
export const canonicalArgs = (input: unknown, hash: (text: string) => string): string => {
  const own: Record<string, unknown> = typeof input === "object" && input !== null ? { ...input } : {}
  delete own["confirmToken"]
  return hash(JSON.stringify(sorted(own)))
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)])
  )
}

export const issueToken = (mac: Mac, payload: Payload): string => {
  const body = Encoding.encode(JSON.stringify(payload))
  return `${body}.${mac(body)}`
}

/** What a presented token is worth. */
export type Verdict =
  | { readonly _tag: "Valid"; readonly nonce: string; readonly expiresAt: number }
  | { readonly _tag: "Stale"; readonly status: string; readonly index: number; readonly hasOtherFacts: boolean }
  /** Forged, expired, or of another tool, other arguments or another key. */
  | { readonly _tag: "Invalid"; readonly why: string }

const invalid = (why: string): Verdict => ({ _tag: "Invalid", why })

export const verifyToken = (
  token: string,
  { mac, equal, now }: { readonly mac: Mac; readonly equal: (a: string, b: string) => boolean; readonly now: number },
  binding: Binding,
  current: Pick<Preview, "status" | "index"> & { readonly facts?: string }
): Verdict => {
  const [body = "", signature = "", ...others] = token.split(".")
  if (others.length > 0 || !equal(signature, mac(body))) return invalid("the token is not one of this service")
  const text = Encoding.decodeString(body)
  const payload = Result.isSuccess(text) ? decodePayload(text.success) : undefined
  if (payload === undefined || Result.isFailure(payload)) return invalid("the token is not one of this service")
  const { args, expiresAt, facts, index, key, nonce, status, tool } = payload.success
  if (key !== binding.key) return invalid("the token belongs to another key")
  if (tool !== binding.tool || args !== binding.args)
    return invalid("the token is for another call: it confirms the arguments that were shown, without any change")
  if (expiresAt <= now) return invalid("the token has expired")
  const hasOtherFacts = facts !== current.facts
  if (status !== current.status || index !== current.index || hasOtherFacts) {
    return { _tag: "Stale", status, index, hasOtherFacts }
  }
  return { _tag: "Valid", nonce, expiresAt }
}
