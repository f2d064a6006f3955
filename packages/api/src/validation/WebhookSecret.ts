import * as Schema from "effect/Schema"

/** Secrets of the Standard Webhooks form begin with it; a base64 key follows. */
const KEY_PREFIX = "whsec_"
/** Least bytes of a key of Standard Webhooks. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Length of what a base64 text holds, in bytes; undefined for another text. */
const bytesOf = (text: string): number | undefined =>
  BASE64.test(text) ? (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0) : undefined

/**
 * A new secret of the Standard Webhooks form holds a key that their libraries take
 * (docs/reference/http.md#webhook-headers); every other text is taken as it is.
 */
export const isWebhookSecret = Schema.makeFilter((secret: string) => {
  if (!secret.startsWith(KEY_PREFIX)) return undefined
  const bytes = bytesOf(secret.slice(KEY_PREFIX.length)) ?? 0
  return bytes >= MIN_KEY_BYTES && bytes <= MAX_KEY_BYTES
    ? undefined
    : `must hold a base64 key of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes after ${KEY_PREFIX}`
})
