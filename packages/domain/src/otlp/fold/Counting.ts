import * as HashSet from "effect/HashSet"
import type { Meaning } from "../Meaning.ts"
import { byStart, idOf, parentOf, type SpanNode } from "./Node.ts"
import type { TraceFoldOptions } from "./Output.ts"
import { type Repeats, type SameCalls, sameCallsOf } from "./SameCall.ts"
import { belowOf, childrenOf, get, type TraceFold } from "./State.ts"
import type { Tree } from "./Tree.ts"

/** Why the tokens of a model span are not counted. */
export type Uncounted =
  | Repeats
  | "another span has the same response id"
  | "another trace has counted the call"
  | "a model call beside it has the usage"
  | "a log record of the span was counted"
  | "the agents of the session may report it"
  | "an agent made it that is tried beside a participant"

/** What the decisions of one step share about model calls. */
export interface Counting {
  readonly same: SameCalls
  /** The span that counts for each response id among the waiting spans: the same for every order of arrival. */
  readonly winners: ReadonlyMap<string, string>
}

export const countingOf = (state: TraceFold, tree: Tree): Counting => {
  const same = sameCallsOf(state, tree)
  const winners = new Map<string, SpanNode>()
  for (const [id, { node }] of state.waiting) {
    const responseId = node.kind === "model" ? node.responseId : undefined
    if (responseId === undefined || repeatsOf(state, tree, same, node, id) !== undefined) continue
    const best = winners.get(responseId)
    if (best === undefined || isBetter(node, best)) winners.set(responseId, node)
  }
  return {
    same,
    winners: new Map([...winners].map(([responseId, node]) => [responseId, idOf(node.traceId, node.spanId)]))
  }
}

/** A span with usage counts before one without; then the smaller key. */
const isBetter = (node: SpanNode, best: SpanNode): boolean => {
  if (node.hasUsage !== best.hasUsage) return node.hasUsage === true
  return node.key < best.key
}

/** Of spans that are each other's ancestors one counts, unless a call hangs below them. */
const repeatsOf = (state: TraceFold, tree: Tree, same: SameCalls, node: SpanNode, id: string): Repeats | undefined => {
  if (tree.cycleOf(node) === undefined) return same.of(node)
  if (belowOf(state, id).hasModel && !isInnermost(state, tree, node)) return "a model call inside repeats it"
  return tree.around(node).isInCountedModel ? "a model call around it is counted" : undefined
}

/** Whether a model span counts, once per call (docs/reference/ingest.md#counted-once); else why not. */
export const uncountedBecause = (
  state: TraceFold,
  tree: Tree,
  { same, winners }: Counting,
  node: SpanNode,
  meaning: Meaning,
  options: TraceFoldOptions
): Uncounted | undefined => {
  const id = idOf(node.traceId, node.spanId)
  if (options.joined?.usage === false) return "the agents of the session may report it"
  if (HashSet.has(state.countedByLog, id)) return "a log record of the span was counted"
  const repeats = repeatsOf(state, tree, same, node, id)
  if (repeats !== undefined) return repeats
  const { responseId } = node
  if (responseId !== undefined) {
    const counted = get(state.responses, responseId) ?? winners.get(responseId)
    if (counted !== undefined && counted !== id) return "another span has the same response id"
  }
  const identity = callIdentityOf(node)
  if (identity !== undefined && options.countedElsewhere?.has(identity) === true) {
    return "another trace has counted the call"
  }
  const parent = parentOf(node)
  const isEmpty = meaning.usage === undefined && meaning.output === undefined && meaning.failure === undefined
  if (isEmpty && parent !== undefined && HashSet.has(state.withUsage, parent)) {
    return "a model call beside it has the usage"
  }
  return undefined
}

/** What a model call has in every trace that reports it: the response id and the tokens; undefined without them. */
export const callIdentityOf = ({ responseId, usage }: SpanNode): string | undefined =>
  responseId === undefined || usage === undefined ? undefined : `${usage.input} ${usage.output} ${responseId}`

/** Whether the model call below a span is only itself: of spans that are each other's ancestors the last to start. */
const isInnermost = (state: TraceFold, tree: Tree, node: SpanNode): boolean => {
  const cycle = tree.cycleOf(node)
  if (cycle === undefined) return false
  const calls = cycle.filter(({ kind }) => kind === "model").toSorted(byStart)
  if (calls.at(-1)?.key !== node.key) return false
  const keys = new Set(cycle.map(({ key }) => key))
  const hasModel = (child: SpanNode): boolean =>
    child.kind === "model" || belowOf(state, idOf(child.traceId, child.spanId)).hasModel
  return !cycle.some(({ spanId, traceId }) =>
    childrenOf(state, idOf(traceId, spanId)).some((child) => !keys.has(child.key) && hasModel(child))
  )
}
