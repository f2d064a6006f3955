import * as HashSet from "effect/HashSet"
import { compareTimes, parentOf, type SpanNode } from "./Node.ts"
import { get, type TraceFold } from "./State.ts"
import type { Tree } from "./Tree.ts"

/** A change of the agent. */
export interface Handoff {
  readonly from: string
  readonly to: string
  /** The same handoff is made once: by its sender's invocation, or parent span, and its sides. */
  readonly key: string
  /** How the target was found, when the emitter does not state it. */
  readonly inferredBy?: "next agent" | "link" | "parent node"
}

/** The next sibling that invokes an agent, of a handoff without a target: of its own, else of its sender's span. */
export const followerOf = (state: TraceFold, tree: Tree, node: SpanNode): SpanNode | undefined => {
  const from = node.agent ?? tree.around(node).agent
  const beside = nextAgent(tree, parentOf(node), node, from)
  if (beside !== undefined) return beside
  const { invocation } = tree.around(node)
  const sender = invocation === undefined ? undefined : get(state.spans, invocation)?.node
  return sender && nextAgent(tree, parentOf(sender), node, from)
}

const nextAgent = (
  tree: Tree,
  parent: string | undefined,
  { startedAt }: SpanNode,
  from: string | undefined
): SpanNode | undefined => {
  if (parent === undefined) return undefined
  const invocations = tree.invocationsIn(parent)
  let first = 0
  for (let end = invocations.length; first < end; ) {
    const middle = (first + end) >> 1
    if (compareTimes(invocations[middle]?.startedAt ?? "", startedAt) < 0) first = middle + 1
    else end = middle
  }
  for (let at = first; at < invocations.length; at++) {
    const next = invocations[at]
    if (next !== undefined && tree.invokedBy(next) !== from) return next
  }
  return undefined
}

/** The handoff that a span of kind `handoff` is; undefined while a side is unknown, or when it goes nowhere. */
export const statedHandoff = (
  state: TraceFold,
  tree: Tree,
  node: SpanNode,
  from: string,
  to: string | undefined
): Handoff | undefined => {
  const target = to ?? followerOf(state, tree, node)
  const name = typeof target === "string" ? target : target && tree.invokedBy(target)
  if (name === undefined || name === from) return undefined
  return {
    from,
    to: name,
    key: keyOf(tree.around(node).invocation ?? parentOf(node) ?? node.traceId, from, name),
    ...(to === undefined && { inferredBy: "next agent" as const })
  }
}

/**
 * The handoffs to an invocation that only the invocation states: links to spans of other agents, and the agent that it
 * names as the one before.
 */
export const handoffsTo = (state: TraceFold, tree: Tree, node: SpanNode, agent: string): ReadonlyArray<Handoff> => {
  const { calledBy, links = [] } = node
  const linked = links.flatMap((link): ReadonlyArray<Handoff> => {
    const sender = get(state.spans, link)?.node
    const from = sender && (tree.invokedBy(sender) ?? tree.inside(link).agent)
    if (from === undefined || from === agent) return []
    return [{ from, to: agent, key: keyOf(tree.inside(link).invocation ?? link, from, agent), inferredBy: "link" }]
  })
  const isAgent = calledBy !== undefined && calledBy !== agent && HashSet.has(state.agents, calledBy)
  if (linked.length > 0 || !isAgent || HashSet.has(state.targets, agent)) return linked
  const key = keyOf(parentOf(node) ?? node.traceId, calledBy, agent)
  return [{ from: calledBy, to: agent, key, inferredBy: "parent node" }]
}

const keyOf = (parent: string, from: string, to: string): string => `${parent} ${from.length} ${from} ${to}`
