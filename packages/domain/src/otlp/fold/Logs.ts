import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import { nameOf } from "../AttributeValues.ts"
import type { Meaning } from "../Meaning.ts"
import { meaningOfLog } from "../MeaningOf.ts"
import { messageOf } from "../meaning/Messages.ts"
import type { LogRecord } from "../Span.ts"
import type { Arrival } from "../TraceBinding.ts"
import { idOf, type LogNode, proposalsIn } from "./Node.ts"
import { addLogNode, addProposals, type Draft, get, type WaitingLog } from "./State.ts"

/** Log records that wait for one span; further ones are consumed without an effect. */
const MAX_LOGS_PER_SPAN = 1_000

/** A log record that just arrived, with the time by which its messages are ordered. */
export const waitingLog = ({ at, key }: Arrival, log: LogRecord): WaitingLog => {
  const message = messageOf(log.name, log.body, log.attributes)
  const service = nameOf(log.resource["service.name"])
  return {
    key,
    at,
    time: log.at,
    traceId: log.traceId,
    spanId: log.spanId,
    meaning: meaningOfLog(log),
    ...(message !== undefined && { message }),
    ...(service !== undefined && { service })
  }
}

export const logsOf = (draft: Draft, id: string): ReadonlyArray<WaitingLog> => get(draft.logs, id) ?? []

/** Lets the record wait for its span; false when too many wait for it. */
export const addLog = (draft: Draft, log: WaitingLog): boolean => {
  const id = idOf(log.traceId, log.spanId)
  const waiting = logsOf(draft, id)
  if (waiting.length >= MAX_LOGS_PER_SPAN) return false
  draft.logs = HashMap.set(draft.logs, id, [...waiting, log])
  draft.logKeys = HashSet.add(draft.logKeys, log.key)
  draft.lastAt = Math.max(draft.lastAt, log.at)
  addProposals(draft, proposalsIn(log.meaning))
  draft.waitingLogs += 1
  return true
}

/** Removes waiting records and returns their nodes. */
export const consumeLogs = (
  draft: Draft,
  id: string,
  which: (log: WaitingLog) => boolean = () => true
): ReadonlyArray<WaitingLog> => {
  const waiting = logsOf(draft, id)
  const consumed = waiting.filter(which)
  if (consumed.length === 0) return consumed
  const left = waiting.filter((log) => !consumed.includes(log))
  draft.logs = left.length === 0 ? HashMap.remove(draft.logs, id) : HashMap.set(draft.logs, id, left)
  draft.waitingLogs -= consumed.length
  return consumed
}

export const logNodeOf = (draft: Draft, log: WaitingLog, more: Partial<LogNode> = {}): LogNode => {
  const { at, key, spanId, traceId } = log
  const node: LogNode = { key, kind: "log", traceId, spanId, at, ...proposalsIn(log.meaning), ...more }
  addLogNode(draft, node)
  return node
}

/** The meaning of a span with what its log records add: messages, and members that the span itself does not state. */
export const withLogs = (meaning: Meaning, logs: ReadonlyArray<WaitingLog>): Meaning => {
  if (logs.length === 0) return meaning
  const ordered = logs.toSorted(byTime)
  const details = ordered.map((log) => log.meaning)
  const stated = <K extends keyof Meaning>(name: K): Meaning[K] | undefined =>
    meaning[name] ?? details.find((each) => each[name] !== undefined)?.[name]
  const messages = (isOutput: boolean) => {
    const said = ordered.flatMap(({ message }) => (message?.isOutput === isOutput ? [message.message] : []))
    return said.length === 0 ? undefined : said
  }
  const input = stated("input") ?? messages(false)
  const output = stated("output") ?? messages(true)
  const instructions = stated("instructions")
  const usage = meaning.kind === "agent" || meaning.kind === "workflow" ? undefined : stated("usage")
  const model = stated("model")
  const responseId = stated("responseId")
  return {
    ...meaning,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(instructions !== undefined && { instructions }),
    ...(usage !== undefined && { usage }),
    ...(model !== undefined && { model }),
    ...(responseId !== undefined && { responseId })
  }
}

const byTime = (left: WaitingLog, right: WaitingLog): number =>
  left.time.length - right.time.length ||
  (left.time < right.time ? -1 : left.time > right.time ? 1 : left.key < right.key ? -1 : 1)
