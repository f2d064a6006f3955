import { createHash } from "node:crypto"
import type { RawEnvelope } from "@runplane/domain"

/**
 * Longest message id, in characters, that is its own key: what the index of the messages can hold ends at some 2,700
 * bytes.
 */
export const LONGEST_PLAIN_KEY = 255

const DIGEST = "sha256:"
const AMBIENT = "ambient:"

/**
 * The text under which a message of the session's history, where ids are unique, is known in its run. Agents choose
 * message ids, and a runtime takes any length; one too long for an index is known by its digest, so that it cannot keep
 * the rest of its run out of the log. So is one that could pass for another kind of key.
 */
export const messageKeyOf = (messageId: string): string => {
  const isPlain =
    messageId.length <= LONGEST_PLAIN_KEY && !messageId.startsWith(DIGEST) && !messageId.startsWith(AMBIENT)
  return isPlain ? messageId : `${DIGEST}${createHash("sha256").update(messageId).digest("hex")}`
}

/**
 * The deduplication key of an ambient message. No runtime keeps their ids unique, so the key is made of the whole
 * content: agents may use an id again, and a message that every process of the fleet receives is stored once.
 */
export const ambientKeyOf = (envelope: RawEnvelope): string => {
  const { messageId, messageType, payload, sender, sessionId, timestampUnixMs } = envelope
  const said = JSON.stringify([messageId, messageType, sender, sessionId, timestampUnixMs])
  return `${AMBIENT}${createHash("sha256").update(said).update("\0").update(payload).digest("hex")}`
}
