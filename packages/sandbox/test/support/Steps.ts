import type { Session } from "../../src/core/Session.ts"
import { envelope } from "./Envelopes.ts"
import { T0, verdict } from "./Sessions.ts"

/** A message of a table: type, payload, and its sender when that is not agent://lead. */
export type Step = readonly [type: string, payload: Uint8Array, sender?: string]

/** Submits the steps, one a millisecond, and gives the verdict of each. */
export const verdicts = (session: Session, steps: ReadonlyArray<Step>, from = T0): ReadonlyArray<string> =>
  steps.map(([type, payload, sender = "agent://lead"], index) =>
    verdict(
      session.submit(envelope(type, `s${from}-${index}`, payload, { mode: session.modeId }), sender, from + index)
    )
  )
export const lastVerdict = (session: Session, steps: ReadonlyArray<Step>, from = T0): string =>
  verdicts(session, steps, from).at(-1) ?? "nothing"
