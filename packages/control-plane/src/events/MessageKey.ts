import { createHash } from "node:crypto"

/** Longest message id, in characters, that is its own key: what the index of the messages can hold ends at some 2,700 bytes. */
export const LONGEST_PLAIN_KEY = 255

/**
 * The text under which a message is known in its run. Agents choose message ids, and a runtime takes any length; one too long
 * for an index is known by its digest, so that it cannot keep the rest of its run out of the log.
 */
export const messageKeyOf = (messageId: string): string =>
  messageId.length <= LONGEST_PLAIN_KEY ? messageId : `sha256:${createHash("sha256").update(messageId).digest("hex")}`
