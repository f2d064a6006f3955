import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import type { Meaning } from "../Meaning.ts"
import type { LoggedMessage } from "../meaning/Messages.ts"
import type { Span } from "../Span.ts"
import { addedBelow, type Below, merged, NOTHING_BELOW } from "./Below.ts"
import { byEnd, byStart, idOf, isLogNode, parentOf, type SpanNode, type TraceFoldNode } from "./Node.ts"

/** A span of the run, whether its events are appended already or not. */
export interface Known {
  readonly node: SpanNode
  readonly isDecided: boolean
}

/** A span whose events are not appended. */
export interface WaitingSpan {
  readonly node: SpanNode
  readonly span: Span
  readonly meaning: Meaning
}

/** A log record that waits for its span. */
export interface WaitingLog {
  readonly key: string
  readonly at: number
  /** Unix nanoseconds. */
  readonly time: string
  readonly traceId: string
  readonly spanId: string
  readonly meaning: Meaning
  readonly message?: LoggedMessage
  /** `service.name` */
  readonly service?: string
}

interface Siblings {
  readonly id: string
  readonly next: Siblings | undefined
}

/**
 * The fold of a run so far. Nodes of decided spans, and whole spans and log records that still wait. A value; the maps
 * are persistent.
 */
export interface TraceFold {
  readonly spans: HashMap.HashMap<string, Known>
  readonly children: HashMap.HashMap<string, Siblings>
  readonly below: HashMap.HashMap<string, Below>
  readonly waiting: HashMap.HashMap<string, WaitingSpan>
  /** By the span that they wait for. */
  readonly logs: HashMap.HashMap<string, ReadonlyArray<WaitingLog>>
  /** Number of `logs`. */
  readonly waitingLogs: number
  readonly logKeys: HashSet.HashSet<string>
  /** Parents of a model call that states its tokens. */
  readonly withUsage: HashSet.HashSet<string>
  /** Response id -> the span that counts for it. */
  readonly responses: HashMap.HashMap<string, string>
  /** Spans whose tokens were counted from a log record. */
  readonly countedByLog: HashSet.HashSet<string>
  readonly participants: HashSet.HashSet<string>
  /** Proposals of the run, also of spans and log records that wait. */
  readonly proposals: HashSet.HashSet<string>
  readonly handoffs: HashSet.HashSet<string>
  /** Agents that handoffs state as their target. */
  readonly targets: HashSet.HashSet<string>
  /** Agents that spans name. */
  readonly agents: HashSet.HashSet<string>
  readonly models: ReadonlyArray<string>
  /** Spans that were not understood, by the scope of their instrumentation; at most `MAX_SCOPES`. */
  readonly unread: ReadonlyMap<string, number>
  /** Scopes of understood spans; at most `MAX_SCOPES`. */
  readonly readScopes: ReadonlySet<string>
  /** Root of each trace: the last one to end; null while none arrived. */
  readonly roots: HashMap.HashMap<string, string | null>
  /** First span by start, which says what the emitter is; the first with a framework. */
  readonly first: SpanNode | undefined
  readonly firstOfFramework: SpanNode | undefined
  /** Spans with clues about the run: the first by start for each clue. */
  readonly clues: Readonly<Record<string, SpanNode>>
  /** Span with the last answer. */
  readonly answer: SpanNode | undefined
  readonly startedAt: string | undefined
  readonly endedAt: string | undefined
  /** Spans and log records that were accepted, and those beyond the limit. */
  readonly accepted: number
  readonly overflow: number
  readonly lastAt: number
  readonly isCreated: boolean
  readonly isPolicyRecorded: boolean
  /** Whether a root stated the output of the run. */
  readonly hasOutput: boolean
  readonly isEnded: boolean
  /** Whether it ended by silence, so that a root that comes later corrects the end. */
  readonly isProvisional: boolean
}

/** A state that a step changes. */
export type Draft = { -readonly [Name in keyof TraceFold]: TraceFold[Name] }

export const emptyState = (isCreated: boolean, isEnded: boolean, isProvisional: boolean): Draft => ({
  spans: HashMap.empty(),
  children: HashMap.empty(),
  below: HashMap.empty(),
  waiting: HashMap.empty(),
  logs: HashMap.empty(),
  waitingLogs: 0,
  logKeys: HashSet.empty(),
  withUsage: HashSet.empty(),
  responses: HashMap.empty(),
  countedByLog: HashSet.empty(),
  participants: HashSet.empty(),
  proposals: HashSet.empty(),
  handoffs: HashSet.empty(),
  targets: HashSet.empty(),
  agents: HashSet.empty(),
  models: [],
  unread: new Map(),
  readScopes: new Set(),
  roots: HashMap.empty(),
  first: undefined,
  firstOfFramework: undefined,
  clues: {},
  answer: undefined,
  startedAt: undefined,
  endedAt: undefined,
  accepted: 0,
  overflow: 0,
  lastAt: 0,
  isCreated,
  isPolicyRecorded: false,
  hasOutput: false,
  isEnded,
  isProvisional
})

export const get = <V>(map: HashMap.HashMap<string, V>, key: string): V | undefined =>
  Option.getOrUndefined(HashMap.get(map, key))

export const belowOf = (state: TraceFold, id: string): Below => get(state.below, id) ?? NOTHING_BELOW

/** The children of a span, in no order. */
export const childrenOf = (state: TraceFold, id: string): Array<SpanNode> => {
  const nodes: Array<SpanNode> = []
  for (let each = get(state.children, id); each !== undefined; each = each.next) {
    const known = get(state.spans, each.id)
    if (known !== undefined) nodes.push(known.node)
  }
  return nodes
}

const MAX_MODELS = 32
const MAX_SCOPES = 16

/** Adds a span to the tree. */
export const addSpan = (draft: Draft, node: SpanNode): void => {
  const id = idOf(node.traceId, node.spanId)
  const parent = parentOf(node)
  draft.spans = HashMap.set(draft.spans, id, { node, isDecided: false })
  draft.accepted += 1
  draft.lastAt = Math.max(draft.lastAt, node.at)
  if (parent === undefined) addRoot(draft, node, id)
  else {
    draft.children = HashMap.set(draft.children, parent, { id, next: get(draft.children, parent) })
    if (!HashMap.has(draft.roots, node.traceId)) draft.roots = HashMap.set(draft.roots, node.traceId, null)
    if (node.kind === "model" && node.hasUsage) draft.withUsage = HashSet.add(draft.withUsage, parent)
  }
  if (node.kind === "handoff" && node.to !== undefined) draft.targets = HashSet.add(draft.targets, node.to)
  const named = node.kind === "agent" || node.kind === "step" ? node.agent : node.delegate
  if (named !== undefined) draft.agents = HashSet.add(draft.agents, named)
  if (draft.startedAt === undefined || byText(node.startedAt, draft.startedAt) < 0) draft.startedAt = node.startedAt
  if (draft.endedAt === undefined || byText(node.endedAt, draft.endedAt) > 0) draft.endedAt = node.endedAt
  addFacts(draft, node)
  propagate(draft, id)
}

const byText = (left: string, right: string): number => left.length - right.length || (left < right ? -1 : 1)

const addRoot = (draft: Draft, node: SpanNode, id: string): void => {
  const current = get(draft.roots, node.traceId)
  const known = current === undefined || current === null ? undefined : get(draft.spans, current)
  if (known === undefined || byEnd(known.node, node) < 0) draft.roots = HashMap.set(draft.roots, node.traceId, id)
}

/** Adds what the span says about the run as a whole. */
export const addFacts = (draft: Draft, node: SpanNode): void => {
  addProposals(draft, node)
  if (draft.first === undefined || byStart(node, draft.first) < 0) draft.first = node
  const isOfFramework = node.emitter?.framework !== undefined
  if (isOfFramework && (draft.firstOfFramework === undefined || byStart(node, draft.firstOfFramework) < 0)) {
    draft.firstOfFramework = node
  }
  for (const name of Object.keys(node.clues ?? {})) {
    const current = draft.clues[name]
    if (current === undefined || isBetterClue(node, current)) draft.clues = { ...draft.clues, [name]: node }
  }
  const hasAnswer = node.answer !== undefined && node.isError !== true
  if (hasAnswer && (draft.answer === undefined || byEnd(node, draft.answer) > 0)) draft.answer = node
}

export const addProposals = (draft: Draft, { proposals = [] }: Pick<SpanNode, "proposals">): void => {
  for (const id of proposals) draft.proposals = HashSet.add(draft.proposals, id)
}

/** A root says more about the run than a span inside; of two of one sort, the earlier one. */
const isBetterClue = (node: SpanNode, current: SpanNode): boolean => {
  const isRoot = parentOf(node) === undefined
  const isCurrentRoot = parentOf(current) === undefined
  return isRoot === isCurrentRoot ? byStart(node, current) < 0 : isRoot
}

/** Carries the facts of a span to its ancestors, as far as they change. */
const propagate = (draft: Draft, from: string): void => {
  let id = from
  for (;;) {
    const known = get(draft.spans, id)
    const parent = known === undefined ? undefined : parentOf(known.node)
    if (known === undefined || parent === undefined) return
    const current = belowOf(draft, parent)
    const next = merged(current, addedBelow(known.node, belowOf(draft, id)))
    if (next === current) return
    draft.below = HashMap.set(draft.below, parent, next)
    id = parent
  }
}

/** Records the decision about a span: its node then says what was decided. */
export const decideSpan = (draft: Draft, node: SpanNode): SpanNode => {
  const id = idOf(node.traceId, node.spanId)
  // Only one span says what the emitter is; the others need not keep it, nor an answer that is not the last one.
  const { answer, emitter, ...rest } = isEmptyWrapper(draft, id) ? withoutUnread(node) : node
  const isFirst = draft.first?.key === node.key || draft.firstOfFramework?.key === node.key
  const kept: SpanNode = {
    ...rest,
    ...(isFirst && emitter !== undefined && { emitter }),
    ...(draft.answer?.key === node.key && answer !== undefined && { answer })
  }
  draft.spans = HashMap.set(draft.spans, id, { node: kept, isDecided: true })
  draft.waiting = HashMap.remove(draft.waiting, id)
  record(draft, kept, id)
  return kept
}

/** Whether a span that is not understood says nothing itself, around spans that are: the run lacks nothing with it. */
const isEmptyWrapper = (draft: Draft, id: string): boolean =>
  get(draft.waiting, id)?.meaning.isBare === true && belowOf(draft, id).hasWork

const withoutUnread = ({ isUnread: _unread, scope: _scope, ...rest }: SpanNode): SpanNode => rest

const record = (draft: Draft, node: SpanNode, id: string): void => {
  for (const name of node.announced ?? []) draft.participants = HashSet.add(draft.participants, name)
  for (const handoff of node.handoffs ?? []) draft.handoffs = HashSet.add(draft.handoffs, handoff)
  if (node.hasOutput === true) draft.hasOutput = true
  if (node.clues?.policy !== undefined) draft.isPolicyRecorded = true
  addScope(draft, node)
  if (node.isCounted !== true) return
  const { model, responseId } = node
  if (responseId !== undefined && !HashMap.has(draft.responses, responseId)) {
    draft.responses = HashMap.set(draft.responses, responseId, id)
  }
  if (model !== undefined && draft.models.length < MAX_MODELS && !draft.models.includes(model)) {
    draft.models = [...draft.models, model].toSorted()
  }
}

const addScope = (draft: Draft, { isUnread, scope }: SpanNode): void => {
  if (scope === undefined) return
  if (isUnread === true) {
    const label = draft.unread.has(scope) || draft.unread.size < MAX_SCOPES ? scope : "others"
    draft.unread = new Map(draft.unread).set(label, (draft.unread.get(label) ?? 0) + 1)
  } else if (!draft.readScopes.has(scope) && draft.readScopes.size < MAX_SCOPES) {
    draft.readScopes = new Set(draft.readScopes).add(scope)
  }
}

/** Spans that were not understood, of instrumentations of which none was: others have steps between their calls. */
export const unreadOf = ({ readScopes, unread }: TraceFold): Readonly<Record<string, number>> =>
  Object.fromEntries([...unread].filter(([scope]) => !readScopes.has(scope)))

/** The state that stored nodes leave. */
export const stateOf = (
  nodes: Iterable<TraceFoldNode>,
  isCreated: boolean,
  isEnded: boolean,
  isProvisional: boolean
): TraceFold => {
  const draft = emptyState(isCreated, isEnded, isProvisional)
  for (const node of nodes) {
    if (isLogNode(node)) {
      addLogNode(draft, node)
      continue
    }
    addSpan(draft, node)
    const id = idOf(node.traceId, node.spanId)
    draft.spans = HashMap.set(draft.spans, id, { node, isDecided: true })
    record(draft, node, id)
  }
  return draft
}

/** Records a consumed log record. */
export const addLogNode = (draft: Draft, node: Extract<TraceFoldNode, { readonly kind: "log" }>): void => {
  draft.logKeys = HashSet.add(draft.logKeys, node.key)
  draft.lastAt = Math.max(draft.lastAt, node.at)
  for (const name of node.announced ?? []) draft.participants = HashSet.add(draft.participants, name)
  addProposals(draft, node)
  if (node.isCounted === true) {
    draft.countedByLog = HashSet.add(draft.countedByLog, idOf(node.traceId, node.spanId))
  }
}
