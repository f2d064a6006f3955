import type { MeaningKind } from "../Meaning.ts"
import { agentOf, delegateOf, isInvokedStep } from "./Below.ts"
import { byStart, idOf, kindOf, parentOf, type SpanNode } from "./Node.ts"
import { belowOf, childrenOf, get, type TraceFold } from "./State.ts"

/** Whose span it is, as far as its ancestors say. */
export interface Scope {
  /** Nearest agent; undefined while the ancestors name no agent. */
  readonly agent: string | undefined
  /** Id of the span that is the agent's invocation. */
  readonly invocation: string | undefined
  /** Whether only framework spans lie between the agent's span and here. */
  readonly isDirect: boolean
  /** Nearest tool with only framework spans between. */
  readonly tool: string | undefined
  /** Whether the agent is a guess: the nearest one that is named gave the work to one that is not. */
  readonly isGuess: boolean
  /** Whether no span that is still missing could change the agent. */
  readonly isComplete: boolean
  /** Whether a model call lies around here that counts. */
  readonly isInCountedModel: boolean
  /** The outermost model call around here, with nothing but framework spans and model calls between. */
  readonly call: string | undefined
}

const OUTSIDE: Scope = {
  agent: undefined,
  invocation: undefined,
  isDirect: false,
  tool: undefined,
  isGuess: false,
  isComplete: true,
  isInCountedModel: false,
  call: undefined
}
const UNKNOWN: Scope = { ...OUTSIDE, isComplete: false }

/** Reads of the tree as it is; valid until a span is added. */
export interface Tree {
  /** The scope inside of a span; of `undefined`, the scope outside of all spans. */
  readonly inside: (id: string | undefined) => Scope
  /** The scope around a span. */
  readonly around: (node: SpanNode) => Scope
  /** Agent that makes the call, or is the participant, that a span is. */
  readonly callerOf: (node: SpanNode) => string | undefined
  /** Whether the caller is a guess. */
  readonly isGuess: (node: SpanNode) => boolean
  /** Name of the agent whose invocation the span is; undefined for other spans. */
  readonly invokedBy: (node: SpanNode) => string | undefined
  /** The spans that are each other's ancestors, of which it is one; undefined outside of such a cycle. */
  readonly cycleOf: (node: SpanNode) => ReadonlyArray<SpanNode> | undefined
  /** The invocations among the children of a span, by their start. */
  readonly invocationsIn: (id: string) => ReadonlyArray<SpanNode>
}

export const treeOf = (state: TraceFold): Tree => {
  const known = new Map<string, Scope>()
  const cycles = new Map<string, ReadonlyArray<SpanNode>>()
  const noteCycle = (path: ReadonlyArray<readonly [id: string, node: SpanNode]>, from: string) => {
    const cycle = path.slice(path.findIndex(([id]) => id === from))
    const nodes = cycle.map(([, node]) => node)
    for (const [id] of cycle) cycles.set(id, nodes)
  }
  const inside = (id: string | undefined): Scope => {
    const path: Array<readonly [id: string, node: SpanNode]> = []
    const seen = new Set<string>()
    let scope: Scope | undefined
    for (let at = id; scope === undefined; ) {
      if (at === undefined) scope = OUTSIDE
      else if (seen.has(at)) {
        noteCycle(path, at)
        scope = UNKNOWN
      } else {
        seen.add(at)
        scope = known.get(at)
        const node = scope === undefined ? get(state.spans, at)?.node : undefined
        if (scope === undefined && node === undefined) scope = UNKNOWN
        if (node !== undefined) {
          path.push([at, node])
          at = parentOf(node)
        }
      }
    }
    // Iterative: a trace may be deeper than the stack.
    for (const [at, node] of path.toReversed()) {
      scope = scopeOf(state, at, node, scope)
      known.set(at, scope)
    }
    return scope
  }
  const around = (node: SpanNode): Scope => inside(parentOf(node))
  const invokedBy = (node: SpanNode): string | undefined => {
    const agent = invokedAgent(state, node)
    if (agent === undefined) return undefined
    const { agent: outer, isDirect } = around(node)
    return outer === agent && isDirect ? undefined : agent
  }
  const invocations = new Map<string, ReadonlyArray<SpanNode>>()
  return {
    inside,
    around,
    callerOf: (node) => (isAgentSpan(node) ? around(node).agent : (node.agent ?? around(node).agent)),
    isGuess: (node) => (isAgentSpan(node) || node.agent === undefined) && around(node).isGuess,
    invokedBy,
    cycleOf: (node) => {
      around(node)
      return cycles.get(idOf(node.traceId, node.spanId))
    },
    invocationsIn: (id) => {
      const kept = invocations.get(id)
      if (kept !== undefined) return kept
      const found = childrenOf(state, id).filter((node) => invokedBy(node) !== undefined)
      const sorted = found.sort(byStart)
      invocations.set(id, sorted)
      return sorted
    }
  }
}

const isAgentSpan = ({ kind }: SpanNode): boolean => kind === "agent" || kind === "step"

/** The agent whose boundary a span is: a named agent, a step with an agent or model inside, a tool that delegates. */
const invokedAgent = (state: TraceFold, node: SpanNode): string | undefined => {
  switch (kindOf(node)) {
    case "agent":
      return agentOf(node, belowOf(state, idOf(node.traceId, node.spanId)))
    case "step":
      return isInvokedStep(node, belowOf(state, idOf(node.traceId, node.spanId))) ? node.agent : undefined
    case "tool":
      return delegateOf(node, belowOf(state, idOf(node.traceId, node.spanId)))
    default:
      return undefined
  }
}

/** Whether a model call ends at a span: its inside is work of its own. */
export const endsCall = (kind: MeaningKind): boolean => kind === "tool" || kind === "retrieval" || kind === "handoff"

const scopeOf = (state: TraceFold, id: string, node: SpanNode, outer: Scope): Scope => {
  const invoked = invokedAgent(state, node)
  if (invoked !== undefined) {
    const isNested = outer.agent === invoked && outer.isDirect
    return {
      agent: invoked,
      invocation: isNested ? (outer.invocation ?? id) : id,
      isDirect: true,
      tool: node.tool,
      isGuess: node.isAgentAssumed === true,
      isComplete: true,
      isInCountedModel: false,
      call: undefined
    }
  }
  const kind = kindOf(node)
  const isBoundary = kind === "tool" || kind === "retrieval" || kind === "model" || kind === "handoff"
  const stated = isAgentSpan(node) ? undefined : node.agent
  return {
    agent: stated ?? outer.agent,
    invocation: stated === undefined || stated === outer.agent ? outer.invocation : undefined,
    isDirect: outer.isDirect && !isBoundary,
    tool: isBoundary ? node.tool : outer.tool,
    isGuess: stated === undefined && (outer.isGuess || node.hidesDelegate === true),
    isComplete: stated !== undefined || outer.isComplete,
    isInCountedModel: !endsCall(kind) && (outer.isInCountedModel || (kind === "model" && node.isCounted === true)),
    call: endsCall(kind) ? undefined : (outer.call ?? (kind === "model" ? id : undefined))
  }
}
