import * as HashSet from "effect/HashSet"
import { draftEvent, type EventDraft } from "../../events/CanonicalEvent.ts"
import { OTLP_MODE_NAME } from "../../events/MessageHeader.ts"
import { nameOf } from "../AttributeValues.ts"
import type { Meaning } from "../Meaning.ts"
import { lastTextOf } from "../meaning/Messages.ts"
import { type Counting, countingOf, uncountedBecause } from "./Counting.ts"
import { type Handoff, handoffsTo, statedHandoff } from "./Handoffs.ts"
import { headOf } from "./Head.ts"
import { consumeLogs, logNodeOf, withLogs } from "./Logs.ts"
import { byEnd, byStart, compareTimes, idOf, kindOf, loggedFacts, parentOf, type SpanNode } from "./Node.ts"
import { addArtifact, type StepOutput, type TraceFoldOptions } from "./Output.ts"
import { readinessOf } from "./Ready.ts"
import { shadowCalled, shadowOf, withoutSignals } from "./ShadowSpans.ts"
import {
  agentAnswered,
  agentInvoked,
  checked,
  handedOff,
  modelCalled,
  planReported,
  toolCalled,
  toolCompleted,
  USER
} from "./SpanEvents.ts"
import { addFacts, type Draft, decideSpan, get } from "./State.ts"
import type { Tree } from "./Tree.ts"
import { addMarks, type Stated, statementEvents, type Writing, writingOf } from "./Writing.ts"

/** What the decisions of one step share. */
interface Deciding {
  readonly draft: Draft
  readonly tree: Tree
  readonly out: StepOutput
  readonly options: TraceFoldOptions
  readonly counting: Counting
}

/**
 * Decides the waiting spans that are ready and appends their events in the order of the tree: those at the start of a
 * span, those of the spans inside it by their start, those at its end. Returns when the next span is due.
 */
export const decideSpans = (
  draft: Draft,
  tree: Tree,
  now: number,
  out: StepOutput,
  options: TraceFoldOptions
): number | undefined => {
  const readiness = readinessOf(draft, tree, now, options)
  const all = new Map<string, SpanNode>()
  let dueAt = Number.POSITIVE_INFINITY
  for (const [id, { node }] of draft.waiting) {
    if (readiness.isReady(node)) all.set(id, node)
    else dueAt = Math.min(dueAt, readiness.dueAt(node))
  }
  const ready = firstToEnd(all, options.maxDecisions)
  if (ready.size > 0) walk({ draft, tree, out, options, counting: countingOf(draft, tree) }, ready)
  if (ready.size < all.size) return now
  return Number.isFinite(dueAt) ? dueAt : undefined
}

/** The spans that ended first: as they would have arrived one by one. */
const firstToEnd = (ready: ReadonlyMap<string, SpanNode>, most: number | undefined): ReadonlyMap<string, SpanNode> =>
  most === undefined || ready.size <= most
    ? ready
    : new Map([...ready].toSorted(([, left], [, right]) => byEnd(left, right)).slice(0, Math.max(1, most)))

/** Iterative: a trace may be deeper than the stack. */
const walk = (deciding: Deciding, ready: ReadonlyMap<string, SpanNode>): void => {
  const { events } = deciding.out
  const inside = new Map<string | undefined, Array<SpanNode>>()
  for (const node of ready.values()) {
    const parent = parentOf(node)
    const at = parent !== undefined && ready.has(parent) ? parent : undefined
    const siblings = inside.get(at)
    if (siblings === undefined) inside.set(at, [node])
    else siblings.push(node)
  }
  for (const siblings of inside.values()) siblings.sort((left, right) => byStart(right, left))
  // Spans of a cycle are inside of each other, so the walk from the outside does not reach them.
  const others = [...ready.values()].sort((left, right) => byStart(right, left))
  const stack: Array<SpanNode | ReadonlyArray<EventDraft>> = [...others, ...(inside.get(undefined) ?? [])]
  const seen = new Set<string>()
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (isEvents(top)) {
      for (const event of top) events.push(event)
      continue
    }
    const id = idOf(top.traceId, top.spanId)
    if (seen.has(id)) continue
    seen.add(id)
    const { close, made = [], open } = decide(deciding, top, id)
    for (const event of open) events.push(event)
    stack.push(close)
    for (const item of latestFirst(inside.get(id) ?? [], made)) stack.push(item)
  }
}

/** The spans inside a span, latest first, with its statements among them by their time. */
const latestFirst = (
  spans: ReadonlyArray<SpanNode>,
  made: Stated["made"]
): ReadonlyArray<SpanNode | ReadonlyArray<EventDraft>> => {
  if (made.length === 0) return spans
  const items = [
    ...spans.map((span) => ({ at: span.startedAt, item: span })),
    ...made.toReversed().map(({ at, event }) => ({ at, item: [event] }))
  ]
  return items.toSorted((left, right) => compareTimes(right.at, left.at)).map(({ item }) => item)
}

const isEvents = (item: SpanNode | ReadonlyArray<EventDraft>): item is ReadonlyArray<EventDraft> => Array.isArray(item)

/** Events at the start and at the end of a span, and between them the statements that were made inside it. */
interface Events {
  readonly open: ReadonlyArray<EventDraft>
  readonly made?: Stated["made"]
  readonly close: ReadonlyArray<EventDraft>
}

const NOTHING: Events = { open: [], close: [] }

const decide = (deciding: Deciding, node: SpanNode, id: string): Events => {
  const { counting, draft, options, out, tree } = deciding
  const waiting = get(draft.waiting, id)
  if (waiting === undefined) return NOTHING
  const logs = consumeLogs(draft, id)
  const meaning = withLogs(waiting.meaning, logs)
  const service = nameOf(waiting.span.resource["service.name"])
  const writing = writingOf(draft, node, meaning, service, options)
  const shadow = shadowOf(waiting.span.resource)
  if (shadow !== undefined) return decideShadow(deciding, writing, meaning, shadow)
  const { close, decided, open } = eventsOf(deciding, writing, meaning)
  const agent = tree.inside(id).agent
  const statements = [
    statementEvents(writing, meaning.statements ?? [], agent, node.spanId),
    ...logs.map((log) => statementEvents(writing, log.meaning.statements ?? [], agent, log.key))
  ]
  addMarks(out, writing, meaning.evaluations ?? [], agent, node.key, counting.winners)
  for (const log of logs) addMarks(out, writing, log.meaning.evaluations ?? [], agent, log.key, counting.winners)
  const policy = policyEvents(writing, node)
  const texts = parentOf(node) === undefined && options.joined === undefined ? rootTexts(deciding, node, meaning) : {}
  const { announced } = writing
  const facts = logs.length === 0 ? {} : loggedFacts(node, meaning, options.sha256)
  const whole = { ...node, ...facts, ...decided, ...texts, ...(announced.length > 0 && { announced }) }
  if (logs.length > 0) addFacts(draft, whole)
  const kept = decideSpan(draft, whole)
  out.consumed.push({ key: node.key, traceId: node.traceId, spanId: node.spanId, node: kept })
  for (const log of logs) {
    out.consumed.push({ key: log.key, traceId: log.traceId, spanId: log.spanId, node: logNodeOf(draft, log) })
  }
  return {
    open: [...policy, ...open, ...statements.flatMap(({ announced }) => announced)],
    made: statements.flatMap(({ made }) => made),
    close
  }
}

/** Of the spans of a shadow the log has its model calls alone: what it says and uses changes nothing in the run. */
const decideShadow = (
  { counting, draft, options, out, tree }: Deciding,
  { node, originOf }: Writing,
  meaning: Meaning,
  shadow: string
): Events => {
  const isModel = kindOf(node) === "model"
  const uncounted = isModel
    ? uncountedBecause(draft, tree, counting, node, meaning, withoutSignals(options))
    : undefined
  const kept = decideSpan(draft, { ...node, ...(isModel && uncounted === undefined && { isCounted: true }) })
  out.consumed.push({ key: node.key, traceId: node.traceId, spanId: node.spanId, node: kept })
  return isModel ? { open: [], close: [shadowCalled(originOf(shadow), uncounted)] } : NOTHING
}

/** The events of a span by its kind, and what its node keeps of them. */
const eventsOf = (
  deciding: Deciding,
  writing: Writing,
  meaning: Meaning
): Events & { readonly decided?: Partial<SpanNode> } => {
  const { counting, draft, options, tree } = deciding
  const { announce, node, originOf } = writing
  const kind = kindOf(node)
  const origin = originOf(tree.callerOf(node), tree.isGuess(node))
  const isJoined = options.joined !== undefined
  switch (kind) {
    case "agent":
    case "step":
      return isJoined ? NOTHING : invocation(deciding, writing)
    case "tool":
    case "retrieval": {
      // A client of the tool inside repeats its call.
      if (node.tool !== undefined && tree.around(node).tool === node.tool) return NOTHING
      const inner = isJoined ? NOTHING : invocation(deciding, writing)
      return {
        ...inner,
        open: [...announce(origin), toolCalled(origin), ...inner.open],
        close: [...inner.close, toolCompleted(origin)]
      }
    }
    case "model": {
      const uncounted = uncountedBecause(draft, tree, counting, node, meaning, options)
      const model = meaning.model ?? node.model
      return {
        open: announce(origin),
        close: [modelCalled(origin, uncounted)],
        ...(uncounted === undefined && { decided: { isCounted: true, ...(model !== undefined && { model }) } })
      }
    }
    case "handoff":
      return isJoined ? NOTHING : handoff(deciding, writing, meaning)
    case "plan":
      return isJoined ? NOTHING : { open: [...announce(origin), planReported(origin)], close: [] }
    case "guardrail":
    case "approval":
      return isJoined ? NOTHING : { open: [...announce(origin), checked(origin, kind)], close: [] }
    default:
      return NOTHING
  }
}

/** The events of an agent's boundary. */
const invocation = ({ draft, tree }: Deciding, { announce, node, originOf }: Writing) => {
  const agent = tree.invokedBy(node)
  if (agent === undefined) return NOTHING
  const origin = originOf(agent, node.isAgentAssumed === true)
  // A tool is called by a participant, also where only the service is known: an agent outside of all is the user's.
  const calling = node.kind === "tool" ? originOf(tree.callerOf(node), tree.isGuess(node)) : undefined
  const caller = calling?.sender ?? tree.around(node).agent ?? USER
  const message = { ...origin, isAssumed: origin.isAssumed || calling?.isAssumed === true }
  const handoffs = made(draft, handoffsTo(draft, tree, node, agent))
  return {
    open: [
      ...announce(origin),
      ...handoffs.map((each, nth) => handedOff(origin, each, nth)),
      agentInvoked(message, caller, agent)
    ],
    close: [agentAnswered(message, caller, agent)],
    decided: handoffs.length === 0 ? {} : { handoffs: handoffs.map(({ key }) => key) }
  }
}

/** The handoffs that were not made before; they are recorded as made. */
const made = (draft: Draft, handoffs: ReadonlyArray<Handoff>): ReadonlyArray<Handoff> =>
  handoffs.filter(({ key }) => {
    const isNew = !HashSet.has(draft.handoffs, key)
    draft.handoffs = HashSet.add(draft.handoffs, key)
    return isNew
  })

const handoff = ({ draft, tree }: Deciding, { announce, node, originOf }: Writing, meaning: Meaning) => {
  const origin = originOf(meaning.from ?? tree.callerOf(node))
  const found = statedHandoff(draft, tree, node, origin.sender, meaning.to)
  const [handoff] = made(draft, found === undefined ? [] : [found])
  if (handoff === undefined) return NOTHING
  return {
    open: [...announce(origin), handedOff(origin, handoff, 0)],
    close: [],
    decided: { handoffs: [handoff.key] }
  }
}

/** The registered policy that a span names: the rules come from the registry. */
const policyEvents = ({ draft, options, originOf }: Writing, node: SpanNode): ReadonlyArray<EventDraft> => {
  const policy = node.clues?.policy
  if (policy === undefined || draft.isPolicyRecorded || options.joined !== undefined) return []
  return [
    draftEvent("policy.resolved", headOf(originOf(undefined), "policy", policy), {
      modeName: OTLP_MODE_NAME,
      messageType: "PolicyResolved",
      sessionId: options.sessionId,
      policyVersion: policy,
      decodedPayload: { policyVersion: policy, policyId: policy }
    })
  ]
}

/** Input and output of a root are artifacts of the run. */
const rootTexts = ({ options, out }: Deciding, node: SpanNode, meaning: Meaning): Partial<SpanNode> => {
  const input = textOf(meaning.input ?? meaning.tool?.arguments)
  const output = textOf(meaning.output ?? meaning.tool?.result)
  if (input !== undefined) addArtifact(out, options, "otlp.input", node.traceId, node.spanId, input, node.at)
  if (output !== undefined) addArtifact(out, options, "otlp.output", node.traceId, node.spanId, output, node.at)
  return output === undefined ? {} : { hasOutput: true }
}

/** The text that a value says, else its JSON. */
const textOf = (value: Meaning["input"]): string | undefined =>
  value === undefined ? undefined : (lastTextOf(value) ?? JSON.stringify(value))
