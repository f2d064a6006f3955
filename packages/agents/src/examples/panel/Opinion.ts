import type { Assessment } from "../decision/Assessment.ts"
import type { Brief } from "../runner/Brief.ts"
import { around, hash, pick } from "../runner/Seed.ts"

/** Of a hundred opinions, how many approve, and how many approve or request a review. */
const APPROVING = 60
const NOT_REFUSING = 80

/** Hundredths by which confidence varies. */
const CONFIDENCE_VARIES = 12

/**
 * What a member of a panel thinks of any topic at all. It knows nothing about it, so here, unlike in the other packs,
 * the seed decides: seed, participant and facts give the same opinion each time.
 */
export const opinionOf = ({ context, role, seed, self }: Brief): Assessment => {
  const about = `${seed}:${self}:${JSON.stringify(context)}`
  const mood = hash(about) % 100
  const confidence = around(`${about}:sure`, 0.78, CONFIDENCE_VARIES)
  const as = role === "" ? "" : `as ${role}: `
  if (mood < APPROVING) {
    const reason = `${as}${pick(about, ["worth doing now", "the gain outweighs the effort", "nothing speaks against it"])}`
    return { recommendation: "APPROVE", confidence, reason, alerts: [] }
  }
  if (mood < NOT_REFUSING) {
    const reason = `${as}${pick(about, ["good, if the details are reviewed", "fine for a trial"])}`
    return { recommendation: "REVIEW", confidence, reason, alerts: [] }
  }
  const reason = `${as}${pick(about, ["too early", "costs more than it brings", "we have not tried it on a small scale"])}`
  return { recommendation: "REJECT", confidence, reason, alerts: [], objection: { severity: "medium", reason } }
}
