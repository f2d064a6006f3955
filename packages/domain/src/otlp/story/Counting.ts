import * as HashSet from "effect/HashSet"
import type { Meaning } from "../Meaning.ts"
import { byStart, idOf, parentOf, type SpanNode } from "./Node.ts"
import type { StoryOptions } from "./Output.ts"
import { belowOf, childrenOf, get, type StoryState } from "./State.ts"
import type { Tree } from "./Tree.ts"

/** Why the tokens of a model span are not counted. */
export type Uncounted =
  | "a model call inside repeats it"
  | "a model call around it is counted"
  | "another span has the same response id"
  | "a model call beside it has the usage"
  | "a log record of the span was counted"
  | "the agents of the session may report it"

/** The span that counts for each response id among the waiting spans: the same for every order of arrival. */
export const winnersOf = (state: StoryState): ReadonlyMap<string, string> => {
  const winners = new Map<string, SpanNode>()
  for (const [id, { node }] of state.waiting) {
    const responseId = node.kind === "model" ? node.responseId : undefined
    if (responseId === undefined || belowOf(state, id).hasModel) continue
    const best = winners.get(responseId)
    if (best === undefined || isBetter(node, best)) winners.set(responseId, node)
  }
  return new Map([...winners].map(([responseId, node]) => [responseId, idOf(node.traceId, node.spanId)]))
}

/** A span with usage counts before one without; then the smaller key. */
const isBetter = (node: SpanNode, best: SpanNode): boolean => {
  if (node.hasUsage !== best.hasUsage) return node.hasUsage === true
  return node.key < best.key
}

/** Whether a model span counts, once per call (docs/reference/ingest.md#counted-once); else why not. */
export const uncountedBecause = (
  state: StoryState,
  tree: Tree,
  winners: ReadonlyMap<string, string>,
  node: SpanNode,
  meaning: Meaning,
  options: StoryOptions
): Uncounted | undefined => {
  const id = idOf(node.traceId, node.spanId)
  if (options.joined?.usage === false) return "the agents of the session may report it"
  if (HashSet.has(state.countedByLog, id)) return "a log record of the span was counted"
  if (belowOf(state, id).hasModel && !isInnermost(state, tree, node)) return "a model call inside repeats it"
  if (tree.around(node).isInCountedModel) return "a model call around it is counted"
  const { responseId } = node
  if (responseId !== undefined) {
    const counted = get(state.responses, responseId) ?? winners.get(responseId)
    if (counted !== undefined && counted !== id) return "another span has the same response id"
  }
  const parent = parentOf(node)
  const isEmpty = meaning.usage === undefined && meaning.output === undefined && meaning.failure === undefined
  if (isEmpty && parent !== undefined && HashSet.has(state.withUsage, parent)) {
    return "a model call beside it has the usage"
  }
  return undefined
}

/** Whether the model call below a span is only itself: of spans that are each other's ancestors the last to start. */
const isInnermost = (state: StoryState, tree: Tree, node: SpanNode): boolean => {
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
