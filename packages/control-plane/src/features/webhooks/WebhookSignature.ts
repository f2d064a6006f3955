import { createHmac } from "node:crypto"

export interface SignedDelivery {
  readonly id: string
  readonly event: string
  /** The exact text that is sent. */
  readonly body: string
  readonly secret: string
  /** Time of the attempt, seconds since 1970. */
  readonly timestamp: number
}

/** Secrets of the Standard Webhooks form: a base64 key behind this prefix. */
const KEY_PREFIX = "whsec_"

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text, "utf8")

/**
 * The headers of a delivery: event and signature by the names that existing receivers know, in both spellings, and the
 * three of Standard Webhooks, whose signature also covers id and time (docs/reference/webhooks.md#webhook-headers).
 */
export const webhookHeaders = ({ body, event, id, secret, timestamp }: SignedDelivery) => {
  const plain = hmac(secret, body).digest("hex")
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), "base64") : secret
  const standard = hmac(key, `${id}.${timestamp}.${body}`).digest("base64")
  return {
    "x-macp-event": event,
    "x-macp-signature": plain,
    "x-proto-event": event,
    "x-proto-signature": plain,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${standard}`
  } as const
}
