import { sumUsd } from "@runplane/domain"
import type { RunSpan, SpanSums } from "./Spans.ts"

/** A span in the tree, with the sums over itself and all spans below it. */
export interface TreeNode {
  readonly span: RunSpan
  /** By start, then by end, the longest first. */
  readonly children: ReadonlyArray<TreeNode>
  /** 0 for a root. */
  readonly depth: number
  /** Whether the parent that it names is unknown, or is a span below it. */
  readonly isOrphan: boolean
  readonly total: SpanSums
  /** Spans of the subtree, itself included. */
  readonly count: number
  /** Milliseconds, from start to end. */
  readonly totalMs: number
  /** The part of it in which no child ran. */
  readonly ownMs: number
  /** Whether a span below it failed. */
  readonly hasFailedBelow: boolean
}

export interface SpanTree {
  readonly roots: ReadonlyArray<TreeNode>
  readonly total: SpanSums
  readonly count: number
  readonly failed: number
  /** Earliest start and latest end of all spans, Unix milliseconds. */
  readonly start: number
  readonly end: number
}

/** A node while the tree is made. */
interface Draft {
  readonly span: RunSpan
  readonly children: Array<Draft>
  parent: Draft | undefined
  isOrphan: boolean
}

const NOTHING: SpanSums = { calls: 0, tokens: 0, costUsd: 0, guessedCostUsd: 0, callsWithoutUsage: 0 }

/**
 * The spans as a tree. A span whose parent is unknown is a root. Spans that are each other's ancestors have the
 * earliest of them as their root. Clocks differ and have whole milliseconds, so the tree decides the order first, then
 * the time.
 */
export const treeOfSpans = (spans: ReadonlyArray<RunSpan>): SpanTree => {
  const drafts = new Map<string, Draft>()
  for (const span of spans) {
    if (!drafts.has(span.id)) drafts.set(span.id, { span, children: [], parent: undefined, isOrphan: false })
  }
  const roots: Array<Draft> = []
  for (const draft of drafts.values()) {
    const { id, parentId } = draft.span
    const parent = parentId === undefined || parentId === id ? undefined : drafts.get(parentId)
    draft.isOrphan = parent === undefined && parentId !== undefined && parentId !== id
    draft.parent = parent
    if (parent === undefined) roots.push(draft)
    else parent.children.push(draft)
  }
  const order = preOrder(roots)
  if (order.length < drafts.size) {
    cutCycles([...drafts.values()], new Set(order), roots)
    order.splice(0, order.length, ...preOrder(roots))
  }
  const made = new Map<Draft, TreeNode>()
  const depths = new Map<Draft, number>()
  for (const draft of order) depths.set(draft, draft.parent === undefined ? 0 : (depths.get(draft.parent) ?? 0) + 1)
  // The children of a node are made before it.
  for (const draft of order.toReversed()) made.set(draft, nodeOf(draft, depths.get(draft) ?? 0, made))
  const tops = roots.toSorted(byTime).flatMap((root) => made.get(root) ?? [])
  return {
    roots: tops,
    total: tops.reduce((sum, { total }) => plus(sum, total), NOTHING),
    count: drafts.size,
    failed: spans.filter(({ error }) => error !== undefined).length,
    start: spans.reduce((earliest, { start }) => Math.min(earliest, start), Number.POSITIVE_INFINITY),
    end: spans.reduce((latest, { end }) => Math.max(latest, end), Number.NEGATIVE_INFINITY)
  }
}

/** By start; a span around another one that starts with it comes first, then the first in the log. */
const byTime = ({ span: one }: Draft, { span: other }: Draft): number =>
  one.start - other.start ||
  other.end - one.end ||
  (one.index ?? 0) - (other.index ?? 0) ||
  (one.id < other.id ? -1 : one.id > other.id ? 1 : 0)

/** Each node before its children. Not recursive: a trace may be deeper than the stack. */
const preOrder = (roots: ReadonlyArray<Draft>): Array<Draft> => {
  const order: Array<Draft> = []
  const stack = [...roots]
  for (let draft = stack.pop(); draft !== undefined; draft = stack.pop()) {
    order.push(draft)
    for (const child of draft.children) stack.push(child)
  }
  return order
}

/** Makes a root of the earliest span of each cycle. */
const cutCycles = (drafts: ReadonlyArray<Draft>, reached: Set<Draft>, roots: Array<Draft>): void => {
  for (const draft of drafts.toSorted(byTime)) {
    if (reached.has(draft)) continue
    // The span may hang below the cycle: its ancestors lead into it.
    const path = new Set<Draft>()
    let at = draft
    while (!path.has(at) && at.parent !== undefined && !reached.has(at.parent)) {
      path.add(at)
      at = at.parent
    }
    const [first = at] = [...cycleFrom(at)].toSorted(byTime)
    const siblings = first.parent?.children ?? []
    siblings.splice(siblings.indexOf(first), 1)
    first.parent = undefined
    first.isOrphan = true
    roots.push(first)
    for (const found of preOrder([first])) reached.add(found)
  }
}

const cycleFrom = (start: Draft): ReadonlySet<Draft> => {
  const cycle = new Set<Draft>()
  for (let at: Draft | undefined = start; at !== undefined && !cycle.has(at); at = at.parent) cycle.add(at)
  return cycle
}

const nodeOf = ({ children, isOrphan, span }: Draft, depth: number, made: ReadonlyMap<Draft, TreeNode>): TreeNode => {
  const nodes = children.toSorted(byTime).flatMap((child) => made.get(child) ?? [])
  const totalMs = Math.max(0, span.end - span.start)
  return {
    span,
    children: nodes,
    depth,
    isOrphan,
    total: nodes.reduce((sum, { total }) => plus(sum, total), span.own),
    count: nodes.reduce((sum, { count }) => sum + count, 1),
    totalMs,
    ownMs: Math.max(0, totalMs - coveredMs(span, nodes)),
    hasFailedBelow: nodes.some(({ hasFailedBelow, span: { error } }) => hasFailedBelow || error !== undefined)
  }
}

const plus = (one: SpanSums, other: SpanSums): SpanSums => ({
  calls: one.calls + other.calls,
  tokens: one.tokens + other.tokens,
  costUsd: sumUsd([one.costUsd, other.costUsd]),
  guessedCostUsd: sumUsd([one.guessedCostUsd, other.guessedCostUsd]),
  callsWithoutUsage: one.callsWithoutUsage + other.callsWithoutUsage
})

/** How long at least one child ran within the span. The children are sorted by start. */
const coveredMs = ({ end, start }: RunSpan, children: ReadonlyArray<TreeNode>): number => {
  let covered = 0
  let until = start
  for (const { span } of children) {
    const from = Math.max(span.start, until)
    const to = Math.min(span.end, end)
    if (to <= from) continue
    covered += to - from
    until = to
  }
  return covered
}

/** What the spans of one parent are sorted by. */
export const spanOrders = ["start", "total", "own", "tokens", "cost"] as const
export type SpanOrder = (typeof spanOrders)[number]

const sortKeys: Readonly<Record<Exclude<SpanOrder, "start">, (node: TreeNode) => number>> = {
  total: ({ totalMs }) => totalMs,
  own: ({ ownMs }) => ownMs,
  tokens: ({ total }) => total.tokens,
  cost: ({ total }) => total.costUsd
}

/** The rows of the tree: each node, and what is below it unless it is closed. Greatest first, except by start. */
export const rowsOfTree = (
  roots: ReadonlyArray<TreeNode>,
  closed: ReadonlySet<string>,
  order: SpanOrder = "start"
): ReadonlyArray<TreeNode> => {
  const sorted = (nodes: ReadonlyArray<TreeNode>) => {
    if (order === "start") return nodes
    const key = sortKeys[order]
    return nodes.toSorted((one, other) => key(other) - key(one))
  }
  const rows: Array<TreeNode> = []
  const stack = sorted(roots).toReversed()
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    rows.push(node)
    if (!closed.has(node.span.id)) for (const child of sorted(node.children).toReversed()) stack.push(child)
  }
  return rows
}

/** The ids of the spans that have others below them, from `depth` on. */
export const parentsFrom = (tree: SpanTree, depth: number): ReadonlySet<string> =>
  new Set(
    rowsOfTree(tree.roots, new Set())
      .filter((node) => node.depth >= depth && node.children.length > 0)
      .map(({ span }) => span.id)
  )
