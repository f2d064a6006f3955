import { canonicalJson } from "../values/CanonicalJson.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** Members of a payload that differ between two runs of the same case. */
const IDS: ReadonlySet<string> = new Set(
  ["proposal", "request", "message", "session"].flatMap((name) => [`${name}Id`, `${name}_id`])
)

/** Characters of a subject that count. */
const MAX_SUBJECT = 65_536

/** Types of the messages that say what a run is about. */
export const SUBJECT_TYPES: ReadonlySet<string> = new Set(["Proposal", "ApprovalRequest"])

/**
 * What a run is about, as text: its intent and the payload of its first Proposal or ApprovalRequest without its ids.
 * Two runs of one scenario with the same text are runs of the same case.
 */
export const subjectText = (intent: string | undefined, payload: JsonObject): string => {
  const about = Object.fromEntries(Object.entries(payload).filter(([name]) => !IDS.has(name)))
  return canonicalJson([intent ?? null, about]).slice(0, MAX_SUBJECT)
}
