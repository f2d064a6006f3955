import * as HashMap from "effect/HashMap"
import type { Meaning } from "../Meaning.ts"
import { consumeLogs, logNodeOf, withLogs } from "./Logs.ts"
import type { SpanNode } from "./Node.ts"
import type { StepOutput, TraceFoldOptions } from "./Output.ts"
import { modelCalled } from "./SpanEvents.ts"
import { type Draft, get, type WaitingLog } from "./State.ts"
import type { Tree } from "./Tree.ts"
import { addMarks, statementEvents, writingOf } from "./Writing.ts"

/**
 * Decides log records without a waiting span: those of decided spans at once, statements and judgements when their
 * agent is stated or the run is silent, and messages at the end of the run. Returns when the next ones are due.
 */
export const decideLogs = (
  draft: Draft,
  tree: Tree,
  now: number,
  isFinal: boolean,
  out: StepOutput,
  options: TraceFoldOptions
): number | undefined => {
  if (draft.waitingLogs === 0) return undefined
  const silentAt = draft.lastAt + options.settleMs
  let isDue = false
  for (const id of HashMap.keys(draft.logs)) {
    if (HashMap.has(draft.waiting, id)) continue
    const isDecided = HashMap.has(draft.spans, id)
    const isReady = (log: WaitingLog) =>
      isDecided || isFinal || (isStatement(log) && (now >= silentAt || isStated(log)))
    const consumed = consumeLogs(draft, id, isReady)
    isDue ||= get(draft.logs, id)?.some(isStatement) === true
    if (consumed.length > 0) write(draft, tree, id, consumed, isDecided, out, options)
  }
  if (draft.waitingLogs === 0) return undefined
  return isDue ? silentAt : options.joined === undefined ? undefined : draft.lastAt + options.idleMs
}

const isStatement = ({ meaning }: WaitingLog): boolean =>
  meaning.statements !== undefined || meaning.evaluations !== undefined

const isStated = ({ meaning }: WaitingLog): boolean =>
  meaning.statements?.every(({ agent }) => agent !== undefined) === true

const write = (
  draft: Draft,
  tree: Tree,
  id: string,
  logs: ReadonlyArray<WaitingLog>,
  isDecided: boolean,
  out: StepOutput,
  options: TraceFoldOptions
): void => {
  const [first] = logs
  if (first === undefined) return
  const { agent } = tree.inside(id)
  const counted = isDecided ? undefined : countedIn(logs)
  for (const log of logs) {
    const isCounted = log === counted
    const meaning: Meaning = isCounted ? { ...withLogs(log.meaning, logs), kind: "model" } : log.meaning
    const writing = writingOf(draft, nodeOfLog(log), meaning, log.service, options)
    const { announced: participants, made } = statementEvents(writing, log.meaning.statements ?? [], agent, log.key)
    out.events.push(...participants, ...made.map(({ event }) => event))
    addMarks(out, writing, log.meaning.evaluations ?? [], log.meaning.agent ?? agent, log.key)
    if (isCounted) {
      const origin = writing.originOf(log.meaning.agent ?? agent)
      const uncounted = options.joined?.usage === false ? "the agents of the session may report it" : undefined
      out.events.push(...writing.announce(origin), modelCalled(origin, uncounted))
    }
    const { announced } = writing
    const node = logNodeOf(draft, log, {
      ...(announced.length > 0 && { announced }),
      ...(isCounted && { isCounted: true })
    })
    out.consumed.push({ key: log.key, traceId: log.traceId, spanId: log.spanId, node })
  }
}

/** The record that stands for the model call of a span that never came. */
const countedIn = (logs: ReadonlyArray<WaitingLog>): WaitingLog | undefined =>
  logs.find(({ meaning }) => meaning.usage !== undefined)

const nodeOfLog = ({ at, key, spanId, time, traceId }: WaitingLog): SpanNode => ({
  key,
  kind: "other",
  traceId,
  spanId,
  name: "log",
  startedAt: time,
  endedAt: time,
  at
})
