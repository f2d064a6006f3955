import { createHash } from "node:crypto"
import { canonicalJson, uuidOfHash } from "@runplane/domain"
import type { Received } from "./TaskRequests.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The session of a caller's message, and so the id of its task and of its run. A UUID of version 4 in form. */
export const taskIdOf = (caller: string, messageId: string): string =>
  uuidOfHash(sha256(JSON.stringify(["runplane a2a", caller, messageId])), 4)

/** The context of a task whose client names none. */
export const contextIdOf = (taskId: string): string =>
  uuidOfHash(sha256(JSON.stringify(["runplane a2a context", taskId])), 4)

/** Equal for messages that mean the same. */
export const hashOf = ({ content }: Received): string => sha256(canonicalJson(content))
