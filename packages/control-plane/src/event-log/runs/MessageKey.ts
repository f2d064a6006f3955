import { sha256Hex } from "../../platform/Sha256.ts"

/**
 * Longest message id, in characters, that is its own key. An entry of the index of the messages can have some 2,700
 * bytes.
 */
const LONGEST_PLAIN_KEY = 255

const DIGEST = "sha256:"
export const AMBIENT = "ambient:"

/**
 * The deduplication key of a message of the session's history, where message ids are unique. Agents choose message ids
 * of any length. The key of an id that is too long for the index is its digest, and also that of an id that looks like
 * another kind of key.
 */
export const messageKeyOf = (messageId: string): string => {
  const isPlain =
    messageId.length <= LONGEST_PLAIN_KEY && !messageId.startsWith(DIGEST) && !messageId.startsWith(AMBIENT)
  return isPlain ? messageId : `${DIGEST}${sha256Hex(messageId)}`
}
