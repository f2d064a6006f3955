import * as Context from "effect/Context"

/**
 * Work that comes after a commit and cannot take it back: telling the subscribers of this process (`publish`) and the
 * other instances (`notify`), the audit entry of what has happened elsewhere already (`audit`), and the spans
 * (`trace`).
 */
export const sideEffectSteps = ["publish", "notify", "audit", "trace"] as const
export type SideEffectStep = (typeof sideEffectSteps)[number]

/** Told of each such piece of work that failed: `proto_post_commit_side_effect_failures_total`. */
export const SideEffectMeter = Context.Reference<(step: SideEffectStep) => void>(
  "runplane/control-plane/SideEffectMeter",
  { defaultValue: () => () => undefined }
)
