import type { EventDraft } from "../../events/CanonicalEvent.ts"
import { nameOf } from "../AttributeValues.ts"
import type { Attributes } from "../Span.ts"
import type { Uncounted } from "./Counting.ts"
import type { EventOrigin } from "./Head.ts"
import type { TraceFoldOptions } from "./Output.ts"
import { costOf, modelCalled } from "./SpanEvents.ts"

/** The resource attribute of telemetry of a shadow: its name. */
export const SHADOW_ATTRIBUTE = "runplane.shadow"

/** The shadow that sent a span; undefined for all others. */
export const shadowOf = (resource: Attributes): string | undefined => nameOf(resource[SHADOW_ATTRIBUTE])

/** The usage of a shadow is in no signal of the session: it never repeats one. */
export const withoutSignals = (options: TraceFoldOptions): TraceFoldOptions =>
  options.joined === undefined ? options : { ...options, joined: { usage: true } }

/**
 * A model call of a shadow. It stands for no call, and has no tokens and no cost; what the shadow used is beside them,
 * so that no sum of the run has it.
 */
export const shadowCalled = (origin: EventOrigin, uncounted: Uncounted | undefined): EventDraft => {
  if (uncounted !== undefined) return modelCalled(origin, uncounted, { calls: 0, totalTokens: 0 })
  const cost = costOf(origin)
  return modelCalled(origin, "an agent made it that is tried beside a participant", {
    calls: 1,
    totalTokens: origin.meaning.usage?.counts.totalTokens ?? 0,
    ...(cost !== undefined && { estimatedCostUsd: cost.costUsd })
  })
}
