import * as HashMap from "effect/HashMap"
import { withoutMethod } from "../AttributeValues.ts"
import { SESSION_PARENT } from "../meaning/CodingAgents.ts"
import type { RunEnd, RunFacts } from "../TraceBinding.ts"
import { agentOf, isWork } from "./Below.ts"
import { byEnd, byStart, idOf, kindOf, parentOf, type SpanNode } from "./Node.ts"
import type { TraceFoldOptions } from "./Output.ts"
import { belowOf, childrenOf, get, type TraceFold, unreadOf } from "./State.ts"
import { isoOf, isoOfNanos, recordedTimes } from "./Times.ts"
import type { Tree } from "./Tree.ts"

const UNKNOWN_ERROR = "APPLICATION_ERROR"

/** The end of the run when it has come: by its roots, or by silence (docs/reference/ingest.md#the-end-of-a-run). */
export const endOf = (state: TraceFold, tree: Tree, now: number, options: TraceFoldOptions): RunEnd | undefined => {
  const { joined, settleMs } = options
  if (state.isEnded || !state.isCreated || joined !== undefined || HashMap.size(state.waiting) > 0) return undefined
  const roots = rootsOf(state)
  if (isRooted(state) && now >= state.lastAt + settleMs) return judged(state, tree, roots, now, "root")
  if (now < silentUntil(state, now, options)) return undefined
  return judged(state, tree, roots, now, "idle")
}

/** The end by the roots, once they came, of a run that ended by silence (docs/reference/ingest.md#corrections). */
export const correctionOf = (
  state: TraceFold,
  tree: Tree,
  now: number,
  { joined, settleMs }: TraceFoldOptions
): RunEnd | undefined => {
  if (!state.isEnded || !state.isProvisional || joined !== undefined || HashMap.size(state.waiting) > 0)
    return undefined
  if (!isRooted(state) || now < state.lastAt + settleMs) return undefined
  return judged(state, tree, rootsOf(state), now, "root")
}

/** When the run ends, or its end is corrected, without new telemetry; Unix milliseconds. */
export const endsAt = (state: TraceFold, now: number, options: TraceFoldOptions): number | undefined => {
  if (!state.isCreated || options.joined !== undefined) return undefined
  if (isRooted(state)) return !state.isEnded || state.isProvisional ? state.lastAt + options.settleMs : undefined
  return state.isEnded ? undefined : silentUntil(state, now, options)
}

/** When silence ends a run without all its roots. Its spans are only searched when the shorter time is over. */
const silentUntil = (state: TraceFold, now: number, { idleMs, parentWaitMs }: TraceFoldOptions): number => {
  const idleAt = state.lastAt + idleMs
  const awaited = () => orphansOf(state).some(({ parentSpanId }) => parentSpanId !== SESSION_PARENT)
  return now < idleAt || !awaited() ? idleAt : state.lastAt + Math.max(idleMs, parentWaitMs)
}

/** Whether each trace of the run has its root. */
const isRooted = (state: TraceFold): boolean =>
  HashMap.size(state.roots) > 0 && rootsOf(state).length === HashMap.size(state.roots)

/** The roots of the traces of the run, as far as they have arrived. */
const rootsOf = (state: TraceFold): ReadonlyArray<SpanNode> => {
  const roots: Array<SpanNode> = []
  for (const id of HashMap.values(state.roots)) {
    const root = id === null ? undefined : get(state.spans, id)?.node
    if (root !== undefined) roots.push(root)
  }
  return roots
}

/** The spans whose parent never came. */
const orphansOf = (state: TraceFold): ReadonlyArray<SpanNode> => {
  const orphans: Array<SpanNode> = []
  for (const { node } of HashMap.values(state.spans)) {
    const parent = parentOf(node)
    if (parent !== undefined && !HashMap.has(state.spans, parent)) orphans.push(node)
  }
  return orphans
}

const lastToEnd = (nodes: ReadonlyArray<SpanNode>): SpanNode | undefined => {
  let last: SpanNode | undefined
  for (const node of nodes) {
    if (node.kind !== "construction" && (last === undefined || byEnd(node, last) > 0)) last = node
  }
  return last
}

const judged = (
  state: TraceFold,
  tree: Tree,
  roots: ReadonlyArray<SpanNode>,
  now: number,
  endedBecause: RunEnd["endedBecause"]
): RunEnd => {
  const working = roots.filter((each) => hasWork(state, each))
  const root = lastToEnd(working.length > 0 ? working : roots.length > 0 ? roots : orphansOf(state))
  const from = roots.toSorted(byStart)[0]?.startedAt ?? state.startedAt
  const to = roots.toSorted(byEnd).at(-1)?.endedAt ?? state.endedAt
  const times =
    from === undefined || to === undefined
      ? { startedAt: isoOf(state.lastAt), endedAt: isoOf(state.lastAt) }
      : recordedTimes(from, to, now)
  const end = { endedBecause, ...times }
  const failing = root?.isError === true ? root : root && failedAgent(state, tree, root)
  if (root === undefined || failing === undefined) return { status: "completed", ...end }
  const chain = [root, ...failureChain(state, failing)].filter(({ isError }) => isError === true)
  // A request of HTTP says no more than its status: the last failure inside says why.
  const isExplained = chain.some(({ errorMessage }) => errorMessage !== undefined)
  const inside = isExplained ? undefined : lastFailure(state)
  const all = inside === undefined ? chain : [...chain, inside]
  const errorMessage = all.find((node) => node.errorMessage !== undefined)?.errorMessage
  const typed = hasType(root) ? root : all.findLast(hasType)
  return {
    status: "failed",
    errorCode: typed?.errorType ?? root.errorType ?? UNKNOWN_ERROR,
    ...(errorMessage !== undefined && { errorMessage }),
    ...end
  }
}

const STATUS_OF_HTTP = /^\d{3}$/

const hasType = ({ errorType }: SpanNode): boolean => errorType !== undefined && !STATUS_OF_HTTP.test(errorType)

/** The last agent, model call or tool of the run to end that failed with a message. */
const lastFailure = (state: TraceFold): SpanNode | undefined => {
  const failed: Array<SpanNode> = []
  for (const { node } of HashMap.values(state.spans)) {
    if (node.isError === true && node.errorMessage !== undefined && isWork(kindOf(node))) failed.push(node)
  }
  return lastToEnd(failed)
}

/** Whether a trace is of agents: an acknowledgement that ends later does not judge the run. */
const hasWork = (state: TraceFold, root: SpanNode): boolean =>
  isWork(kindOf(root)) || belowOf(state, idOf(root.traceId, root.spanId)).hasWork

/**
 * The last agent directly below the root when it failed: some frameworks leave the root without an error. A later
 * agent, tool or model call answered an earlier failure.
 */
const failedAgent = (state: TraceFold, tree: Tree, root: SpanNode): SpanNode | undefined => {
  let last: SpanNode | undefined
  const seen = new Set<string>()
  const stack = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const id = idOf(node.traceId, node.spanId)
    if (seen.has(id)) continue
    seen.add(id)
    for (const child of childrenOf(state, id)) {
      const kind = kindOf(child)
      const isAgent =
        tree.invokedBy(child) !== undefined || (kind === "agent" && (child.agent ?? child.agentByName) !== undefined)
      if (isAgent || kind === "tool" || kind === "model" || kind === "retrieval") {
        if (last === undefined || byStart(child, last) > 0) last = child
      } else stack.push(child)
    }
  }
  const isAgent = last !== undefined && (last.kind === "agent" || last.kind === "step")
  return isAgent && last?.isError === true ? last : undefined
}

/** A failure and the failures inside it that it comes from: at each level the last one to end. */
const failureChain = (state: TraceFold, failing: SpanNode): ReadonlyArray<SpanNode> => {
  const chain: Array<SpanNode> = []
  const seen = new Set<string>()
  for (let node: SpanNode | undefined = failing; node !== undefined; ) {
    const id = idOf(node.traceId, node.spanId)
    if (seen.has(id)) return chain
    seen.add(id)
    chain.push(node)
    node = lastToEnd(childrenOf(state, id).filter(({ isError }) => isError === true))
  }
  return chain
}

/** What lists and searches show of the run so far. */
export const factsOf = (state: TraceFold, tree: Tree): RunFacts => {
  const clue = (name: keyof NonNullable<SpanNode["clues"]>): string | undefined => {
    const value = state.clues[name]?.clues?.[name]
    return typeof value === "string" ? value : undefined
  }
  const roots = rootsOf(state).filter(({ kind }) => kind !== "construction")
  const root = roots.toSorted(byStart)[0]
  const named = state.clues["workflow"]
  const isOuter = named !== undefined && (named === root || tree.around(named).agent === undefined)
  const name =
    clue("scenario") ??
    (isOuter ? clue("workflow") : undefined) ??
    (root?.kind === "agent" ? agentOf(root, belowOf(state, idOf(root.traceId, root.spanId))) : undefined) ??
    (root === undefined ? undefined : withoutMethod(root.name))
  const conversation = root === undefined ? clue("conversation") : (root.clues?.conversation ?? outerClue(state, tree))
  const emitter = state.first?.emitter ?? {}
  const framework = state.firstOfFramework?.emitter?.framework
  const policy = clue("policy")
  const unread = unreadOf(state)
  const metadata: Record<string, string | undefined> = {
    conversationId: conversation,
    framework,
    promptName: clue("promptName"),
    promptVersion: clue("promptVersion"),
    promptHash: clue("promptHash"),
    user: clue("user"),
    serviceVersion: emitter.serviceVersion,
    serviceInstance: emitter.serviceInstance,
    sdk: emitter.sdk
  }
  return {
    ...(name !== undefined && name !== "" && { name }),
    ...(emitter.service !== undefined && { sourceRef: emitter.service }),
    ...(emitter.environment !== undefined && { environment: emitter.environment }),
    tags: state.clues["tags"]?.clues?.tags ?? [],
    ...(policy !== undefined && { policy }),
    metadata: Object.fromEntries(
      Object.entries(metadata).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
    ),
    ...(Object.keys(unread).length > 0 && { unread }),
    models: state.models,
    ...(state.startedAt !== undefined && { startedAt: isoOfNanos(state.startedAt) }),
    ...(state.endedAt !== undefined && { endedAt: isoOfNanos(state.endedAt) })
  }
}

/** The conversation of the first span that no agent gave to another: a delegated agent has one of its own. */
const outerClue = (state: TraceFold, tree: Tree): string | undefined => {
  const node = state.clues["conversation"]
  return node !== undefined && tree.around(node).agent === undefined ? node.clues?.conversation : undefined
}
