import type { CanonicalEvent } from "@runplane/domain"
import { call, callRuns } from "../client/Client.ts"
import { RunLog } from "./RunLog.ts"

/** Events of a page: first a few, because their size is unknown, then as many as fit. */
const FIRST_PAGE = 20
const LARGEST_PAGE = 1_000
const PAGE_BYTES = 16 * 1024 * 1024
/** Events of a run that are read to be compared. */
export const MOST_COMPARED = 5_000

type ReadPage = (query: { readonly afterSeq: number; readonly limit: number }) => Promise<ReadonlyArray<CanonicalEvent>>

/** Appends pages to the log until it has this many events, or a page makes no progress. */
const readUntil = async (log: RunLog, until: number, read: ReadPage): Promise<void> => {
  let limit = FIRST_PAGE
  while (log.count < until) {
    const pageSize = Math.min(limit, until - log.count)
    const events = await read({ afterSeq: log.lastSeq, limit: pageSize })
    const before = { bytes: log.bytesAppended, count: log.count }
    for (const event of events) log.append(event)
    const added = log.count - before.count
    if (events.length < pageSize || added === 0) return
    const fitting = Math.floor((added * PAGE_BYTES) / (log.bytesAppended - before.bytes))
    limit = Math.max(1, Math.min(LARGEST_PAGE, 4 * limit, fitting))
  }
}

const pagesOf =
  (runId: string, signal: AbortSignal): ReadPage =>
  async (query) => {
    const answer = await callRuns((api) => api.events.list({ params: { id: runId }, query }), signal)
    return "data" in answer ? answer.data : answer
  }

/** The first events of a run as a log. */
export const readLog = async (runId: string, signal: AbortSignal): Promise<RunLog> => {
  const log = new RunLog(runId)
  await readUntil(log, MOST_COMPARED, pagesOf(runId, signal))
  return log
}

/** The events of a run behind the event with this index and seq. */
export interface Stretch {
  readonly index: number
  readonly seq: number
  readonly length: number
}

/** Reads a part of a run that the browser has dropped. */
export const readStretch = async (
  runId: string,
  { index, length, seq }: Stretch,
  signal: AbortSignal
): Promise<RunLog> => {
  const params = { id: runId }
  const state = index === 0 ? undefined : await call((api) => api.replay.state({ params, query: { seq } }), signal)
  const log = new RunLog(runId, state && { index, seq, state })
  await readUntil(log, index + length, pagesOf(runId, signal))
  return log
}

/** One whole event. */
export const readEvent = async (runId: string, seq: number, signal: AbortSignal): Promise<CanonicalEvent> => {
  const [event] = await pagesOf(runId, signal)({ afterSeq: seq - 1, limit: 1 })
  if (event?.seq !== seq) throw new Error("the run does not have the event any more")
  return event
}
