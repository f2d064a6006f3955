import * as HashMap from "effect/HashMap"
import { followerOf } from "./Handoffs.ts"
import { parentOf, type SpanNode } from "./Node.ts"
import type { TraceFoldOptions } from "./Output.ts"
import { get, type TraceFold } from "./State.ts"
import type { Tree } from "./Tree.ts"

/** When a span is decided (docs/reference/ingest.md#when-a-span-is-decided). */
export interface Readiness {
  /** Nothing came for the settle time. */
  readonly isSilent: boolean
  readonly isReady: (node: SpanNode) => boolean
  /** When an undecided span may be decided next, Unix milliseconds. */
  readonly dueAt: (node: SpanNode) => number
}

export const readinessOf = (state: TraceFold, tree: Tree, now: number, { settleMs }: TraceFoldOptions): Readiness => {
  const silentAt = state.lastAt + settleMs
  const isSilent = now >= silentAt
  const hasWaited = ({ at }: SpanNode): boolean => now >= at + settleMs
  const hasSettledRoot = ({ traceId }: SpanNode): boolean => {
    const root = get(state.roots, traceId)
    const known = root === undefined || root === null ? undefined : get(state.spans, root)
    return known !== undefined && hasWaited(known.node)
  }
  // The root that corrects an end is decided in the step that corrects it: a kill in between would lose the correction.
  const isCorrecting = (node: SpanNode): boolean => state.isProvisional && parentOf(node) === undefined
  return {
    isSilent,
    isReady: (node) =>
      isSilent ||
      (hasWaited(node) && !isCorrecting(node) && (isKnown(state, tree, node, hasWaited) || hasSettledRoot(node))),
    dueAt: (node) => (hasWaited(node) ? silentAt : Math.min(node.at + settleMs, silentAt))
  }
}

/** Whether the spans that decide about this one have arrived. */
const isKnown = (state: TraceFold, tree: Tree, node: SpanNode, hasWaited: (node: SpanNode) => boolean): boolean => {
  const { isComplete } = tree.around(node)
  switch (node.kind) {
    case "other":
    case "workflow":
    case "construction":
      return isComplete || parentOf(node) === undefined
    case "agent":
    case "step":
      return isComplete && (node.links ?? []).every((link) => HashMap.has(state.spans, link))
    case "handoff": {
      if (node.agent === undefined && !isComplete) return false
      const follower = node.to === undefined ? followerOf(state, tree, node) : undefined
      return node.to !== undefined || (follower !== undefined && hasWaited(follower))
    }
    default:
      return isComplete || (node.agent !== undefined && node.delegate === undefined)
  }
}
