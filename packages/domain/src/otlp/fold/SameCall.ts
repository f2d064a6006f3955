import { byStart, type CallUsage, compareTimes, idOf, kindOf, parentOf, type SpanNode } from "./Node.ts"
import { childrenOf, get, type TraceFold } from "./State.ts"
import { endsCall, type Tree } from "./Tree.ts"

/** Why another span counts the call of a span. */
export type Repeats =
  | "a model call inside repeats it"
  | "a model call around it is counted"
  | "a span beside it is the same call"

/** Spans of one model call, as several instrumentations report it: nested, or beside each other. */
export interface SameCalls {
  /** Undefined for a span that counts its call itself. */
  readonly of: (node: SpanNode) => Repeats | undefined
}

/** Spans beside a span that are compared with it. */
const MOST_BESIDE = 64

/** Reads of the state as it is; valid until a span is added. */
export const sameCallsOf = (state: TraceFold, tree: Tree): SameCalls => {
  const nested = new Map<string, Repeats | undefined>()
  const beside = new Map<string, ReadonlyMap<string, string>>()

  const nestedRepeats = (node: SpanNode, id: string): Repeats | undefined => {
    if (nested.has(id)) return nested.get(id)
    const top = tree.cycleOf(node) === undefined ? (tree.around(node).call ?? id) : id
    const known = get(state.spans, top)?.node
    const from = known === undefined || tree.cycleOf(known) !== undefined ? node : known
    for (const [each, repeats] of decideNested(state, from)) nested.set(each, repeats)
    return nested.get(id)
  }
  const besideWinner = (node: SpanNode, parent: string): string | undefined => {
    const kept = beside.get(parent)
    if (kept !== undefined) return kept.get(node.key)
    const calls = childrenOf(state, parent).filter(
      (each) => isCall(each) && nestedRepeats(each, idOf(each.traceId, each.spanId)) === undefined
    )
    const found = decideBeside(calls)
    beside.set(parent, found)
    return found.get(node.key)
  }
  return {
    of: (node) => {
      const repeats = nestedRepeats(node, idOf(node.traceId, node.spanId))
      if (repeats !== undefined) return repeats
      const parent = parentOf(node)
      if (parent === undefined || !isCall(node)) return undefined
      const winner = besideWinner(node, parent)
      return winner === undefined || winner === node.key ? undefined : "a span beside it is the same call"
    }
  }
}

interface Nested {
  readonly node: SpanNode
  readonly id: string
  /** Index of the nearest model call around it in the list. */
  readonly around: number | undefined
  /** Sums over the calls inside that count. */
  calls: number
  withUsage: number
  tokens: number
  details: number
  /** Whether a call inside was counted in an earlier step. */
  hasCounted: boolean
}

/** Which of the nested calls count, from the outermost one: iterative, because they may be deeper than the stack. */
const decideNested = (state: TraceFold, top: SpanNode): ReadonlyMap<string, Repeats | undefined> => {
  const found = nestedCalls(state, top)
  const countsItself: Array<boolean> = []
  // Each call stands behind the one around it.
  for (let at = found.length - 1; at >= 0; at--) {
    const one = found[at]
    if (one === undefined) continue
    const isItself = countsBeforeInside(one)
    countsItself[at] = isItself
    const outer = one.around === undefined ? undefined : found[one.around]
    if (outer === undefined) continue
    const { usage } = one.node
    outer.calls += isItself ? 1 : one.calls
    outer.withUsage += isItself ? (one.node.hasUsage === true ? 1 : 0) : one.withUsage
    outer.tokens += isItself ? tokensOf(usage) : one.tokens
    outer.details += isItself ? (usage?.details ?? 0) : one.details
    outer.hasCounted ||= one.hasCounted || one.node.isCounted === true
  }
  const repeats = new Map<string, Repeats | undefined>()
  for (const [at, { around, id }] of found.entries()) {
    const outer = around === undefined ? undefined : found[around]
    const isCovered =
      around !== undefined &&
      outer !== undefined &&
      (countsItself[around] === true || repeats.get(outer.id) === "a model call around it is counted")
    const inside = countsItself[at] === true ? undefined : ("a model call inside repeats it" as const)
    repeats.set(id, isCovered ? "a model call around it is counted" : inside)
  }
  return repeats
}

/** The model calls from `top` inwards, with framework spans between. */
const nestedCalls = (state: TraceFold, top: SpanNode): ReadonlyArray<Nested> => {
  const found: Array<Nested> = []
  const seen = new Set<string>()
  const stack: Array<readonly [node: SpanNode, around: number | undefined]> = [[top, undefined]]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, around] = next
    const id = idOf(node.traceId, node.spanId)
    const kind = kindOf(node)
    if (seen.has(id) || endsCall(kind) || isNamed(node)) continue
    seen.add(id)
    if (kind === "model") {
      found.push({ node, id, around, calls: 0, withUsage: 0, tokens: 0, details: 0, hasCounted: false })
    }
    const inside = kind === "model" ? found.length - 1 : around
    for (const child of childrenOf(state, id)) stack.push([child, inside])
  }
  return found
}

/** Agents and delegating tools begin a part of their own. */
const isNamed = ({ agent, agentByName, kind }: SpanNode): boolean =>
  (kind === "agent" || kind === "step") && (agent ?? agentByName) !== undefined

/** Whether a call counts itself rather than the calls inside of it: where the usage is the richest. */
const countsBeforeInside = ({ calls, details, hasCounted, node, tokens, withUsage }: Nested): boolean => {
  if (node.isCounted === true) return true
  if (hasCounted) return false
  if (calls === 0) return true
  if (node.hasUsage !== true) return false
  if (withUsage === 0) return true
  const own = tokensOf(node.usage)
  if (calls > 1) return withUsage < calls && own > tokens
  return own === tokens ? (node.usage?.details ?? 0) > details : own > tokens
}

const tokensOf = (usage: CallUsage | undefined): number => (usage === undefined ? 0 : usage.input + usage.output)

const isCall = ({ kind, scope, usage }: SpanNode): boolean =>
  kind === "model" && usage !== undefined && scope !== undefined && usage.input + usage.output > 0

/** The span that counts for each of the calls that several instrumentations report beside each other, by key. */
const decideBeside = (calls: ReadonlyArray<SpanNode>): ReadonlyMap<string, string> => {
  const winners = new Map<string, string>()
  for (const alike of Map.groupBy(calls, ({ usage }) => `${usage?.input} ${usage?.output}`).values()) {
    if (alike.length < 2) continue
    const scopes = new Set(alike.map(({ scope }) => scope)).size
    const groups: Array<Array<SpanNode>> = []
    // The groups that lack a scope, the latest last.
    const open: Array<Array<SpanNode>> = []
    for (const node of alike.toSorted(byStart)) {
      const group = open
        .slice(-MOST_BESIDE)
        .filter((members) => members.every((member) => isSameCall(member, node)))
        .toSorted((left, right) => compareDistance(left, right, node))[0]
      if (group === undefined) {
        const begun = [node]
        groups.push(begun)
        open.push(begun)
        continue
      }
      group.push(node)
      if (group.length === scopes) open.splice(open.lastIndexOf(group), 1)
    }
    for (const group of groups) {
      const [winner] = group.toSorted(byWorth)
      if (winner !== undefined && group.length > 1) for (const { key } of group) winners.set(key, winner.key)
    }
  }
  return winners
}

/** Of two scopes, one model, equal counts and overlapping times. Calls of one scope are two. */
const isSameCall = (left: SpanNode, right: SpanNode): boolean =>
  left.scope !== right.scope &&
  isSameModel(left.model, right.model) &&
  compareTimes(left.startedAt, right.endedAt) <= 0 &&
  compareTimes(right.startedAt, left.endedAt) <= 0

/** Equal, or one with more at its end: `gpt-5.2` and `gpt-5.2-2025-12-11`. */
const isSameModel = (left: string | undefined, right: string | undefined): boolean =>
  left !== undefined && right !== undefined && (left.startsWith(right) || right.startsWith(left))

const compareDistance = (
  [left]: ReadonlyArray<SpanNode>,
  [right]: ReadonlyArray<SpanNode>,
  { startedAt }: SpanNode
): number => {
  const away = (node: SpanNode | undefined) => BigInt(startedAt) - BigInt(node?.startedAt ?? startedAt)
  return away(left) < away(right) ? -1 : away(left) > away(right) ? 1 : 0
}

/** A counted one stays; then the one with more facts, with a response id, the first by start. */
const byWorth = (left: SpanNode, right: SpanNode): number =>
  Number(right.isCounted === true) - Number(left.isCounted === true) ||
  (right.usage?.details ?? 0) - (left.usage?.details ?? 0) ||
  Number(right.responseId !== undefined) - Number(left.responseId !== undefined) ||
  byStart(left, right)
