import type { MeaningKind } from "../Meaning.ts"
import { kindOf, type SpanNode } from "./Node.ts"

/** Facts about the spans below a span, whether it arrived itself or not. */
export interface Below {
  /** A model call, at any depth. */
  readonly hasModel: boolean
  /** A model call with nothing but framework spans between. */
  readonly hasOwnModel: boolean
  /** Agents with nothing but framework spans between; at most `MAX_NAMES`. */
  readonly agents: ReadonlyArray<string>
  /** An agent without a name, with nothing but framework spans between. */
  readonly hasNameless: boolean
  /** An agent that its span names, at any depth. */
  readonly hasStated: boolean
  /** An agent, a model call or a tool, at any depth. */
  readonly hasWork: boolean
}

const MAX_NAMES = 16
export const NOTHING_BELOW: Below = {
  hasModel: false,
  hasOwnModel: false,
  agents: [],
  hasNameless: false,
  hasStated: false,
  hasWork: false
}

/** The facts that a span adds to those of its parent. */
export const addedBelow = (node: SpanNode, below: Below): Below => {
  const kind = kindOf(node)
  const agent = agentOf(node, below)
  const isStated = (kind === "agent" || kind === "step") && node.agent !== undefined
  const own: Below = {
    ...NOTHING_BELOW,
    hasModel: below.hasModel || kind === "model",
    hasStated: below.hasStated || isStated,
    hasWork: below.hasWork || isWork(kind)
  }
  if (kind === "agent" && agent !== undefined) return { ...own, agents: [agent] }
  if (kind === "step" && agent !== undefined) {
    if (!isInvokedStep(node, below)) return { ...own, agents: below.agents }
    return { ...own, agents: [agent, ...below.agents] }
  }
  const delegate = delegateOf(node, below)
  if (delegate !== undefined) return { ...own, agents: [delegate] }
  if (kind === "model") return { ...own, hasOwnModel: true }
  if (kind === "tool" || kind === "retrieval") return own
  const { agents, hasOwnModel } = below
  return { ...own, hasOwnModel, agents, hasNameless: below.hasNameless || kind === "agent" }
}

/**
 * The agent of a span: the one that it names, else its own name. An emitter that names the agents inside would have
 * named this one, too.
 */
export const agentOf = ({ agent, agentByName }: SpanNode, { hasStated }: Below): string | undefined =>
  agent ?? (hasStated ? undefined : agentByName)

export const isWork = (kind: MeaningKind): boolean => kind === "agent" || kind === "model" || kind === "tool"

/** A step is an invocation with a model call of its own inside, or with the agent of its name. */
export const isInvokedStep = ({ agent }: SpanNode, { agents, hasOwnModel }: Below): boolean =>
  agent !== undefined && (hasOwnModel || agents.includes(agent))

/** The agent that a tool calls: the one that it names, or one without a name that runs inside of it. */
export const delegateOf = ({ callee, delegate }: SpanNode, { agents, hasNameless }: Below): string | undefined =>
  delegate ?? (hasNameless && agents.length === 0 ? callee : undefined)

export const merged = (current: Below, added: Below): Below => {
  const names = added.agents.filter((name) => !current.agents.includes(name))
  const agents = current.agents.length < MAX_NAMES ? names.slice(0, MAX_NAMES - current.agents.length) : []
  const next: Below = {
    hasModel: current.hasModel || added.hasModel,
    hasOwnModel: current.hasOwnModel || added.hasOwnModel,
    agents: agents.length === 0 ? current.agents : [...current.agents, ...agents],
    hasNameless: current.hasNameless || added.hasNameless,
    hasStated: current.hasStated || added.hasStated,
    hasWork: current.hasWork || added.hasWork
  }
  const isSame =
    agents.length === 0 &&
    next.hasModel === current.hasModel &&
    next.hasOwnModel === current.hasOwnModel &&
    next.hasNameless === current.hasNameless &&
    next.hasStated === current.hasStated &&
    next.hasWork === current.hasWork
  return isSame ? current : next
}
