import { cleanJson, parseExactJson, type RecordedEvent } from "@runplane/domain"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

export type Readable =
  | { readonly form: "JSON"; readonly value: Schema.Json }
  | { readonly form: "text"; readonly text: string }

/** Members under which senders put bytes of their own. */
const MEMBERS = ["data", "output", "inputs", "context"] as const

/**
 * The bytes that a message carries, when they can be read: agents put JSON or text there, which is recorded as base64.
 */
export const readableBytes = (data: RecordedEvent["data"]): Readable | undefined => {
  for (const holder of [data["decodedPayload"], data["payload"]]) {
    if (typeof holder !== "object" || holder === null || Array.isArray(holder)) continue
    for (const name of MEMBERS) {
      const text: unknown = Reflect.get(holder, name)
      const read = typeof text === "string" && text !== "" ? readText(text) : undefined
      if (read !== undefined) return read
    }
  }
  return undefined
}

const decoder = new TextDecoder("utf-8", { fatal: true })

const readText = (base64: string): Readable | undefined => {
  const bytes = Base64.decode(base64)
  if (Result.isFailure(bytes)) return undefined
  try {
    const text = decoder.decode(bytes.success)
    return jsonOf(text) ?? (isPrintable(text) ? { form: "text", text } : undefined)
  } catch {
    // Not UTF-8: binary data.
    return undefined
  }
}

const jsonOf = (text: string): Readable | undefined => {
  if (!/^\s*[[{]/.test(text)) return undefined
  const json = parseExactJson(text)
  return json && { form: "JSON", value: cleanJson(json.value) }
}

const isPrintable = (text: string): boolean => text !== "" && !/[\u0000-\u0008\u000e-\u001f]/.test(text)
