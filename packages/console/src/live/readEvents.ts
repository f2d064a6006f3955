import type { CanonicalEvent } from "@runplane/domain"
import { call, callRuns } from "../client/Client.ts"
import { RunLog } from "./RunLog.ts"

/** Events of one answer: first a few, since nobody knows how large they are, then as many as fit. */
const FIRST_PAGE = 20
const MOST_OF_A_PAGE = 1_000
const BYTES_OF_A_PAGE = 16 * 1024 * 1024
/** Events of a run that are read to be compared. */
export const MOST_COMPARED = 5_000

type ReadPage = (query: { readonly afterSeq: number; readonly limit: number }) => Promise<ReadonlyArray<CanonicalEvent>>

/**
 * Reads events onto the log until it has so many. The answers grow and shrink with what is in them. What does not
 * follow on what is here would come again and again, so it ends the reading.
 */
const readOn = async (log: RunLog, until: number, read: ReadPage): Promise<void> => {
  let limit = FIRST_PAGE
  while (log.count < until) {
    const asked = Math.min(limit, until - log.count)
    const events = await read({ afterSeq: log.lastSeq, limit: asked })
    const before = { bytes: log.bytesTaken, count: log.count }
    for (const event of events) log.append(event)
    const taken = log.count - before.count
    if (events.length < asked || taken === 0) return
    const fitting = Math.floor((taken * BYTES_OF_A_PAGE) / (log.bytesTaken - before.bytes))
    limit = Math.max(1, Math.min(MOST_OF_A_PAGE, 4 * limit, fitting))
  }
}

const pagesOf =
  (runId: string, signal: AbortSignal): ReadPage =>
  async (query) => {
    const answer = await callRuns((api) => api.events.list({ params: { id: runId }, query }), signal)
    return "data" in answer ? answer.data : answer
  }

/** The first events of a run as a log that shows each place of it, read once. */
export const readLog = async (runId: string, signal: AbortSignal): Promise<RunLog> => {
  const log = new RunLog(runId)
  await readOn(log, MOST_COMPARED, pagesOf(runId, signal))
  return log
}

/** A stretch of a run: the events that follow on the event with this place. */
export interface Stretch {
  readonly index: number
  readonly seq: number
  readonly length: number
}

/** A stretch of a run that the browser no longer has, read again. */
export const readStretch = async (
  runId: string,
  { index, length, seq }: Stretch,
  signal: AbortSignal
): Promise<RunLog> => {
  const params = { id: runId }
  const state = index === 0 ? undefined : await call((api) => api.replay.state({ params, query: { seq } }), signal)
  const log = new RunLog(runId, state && { index, seq, state })
  await readOn(log, index + length, pagesOf(runId, signal))
  return log
}

/** One event as it was recorded, whole. */
export const readEvent = async (runId: string, seq: number, signal: AbortSignal): Promise<CanonicalEvent> => {
  const [event] = await pagesOf(runId, signal)({ afterSeq: seq - 1, limit: 1 })
  if (event?.seq !== seq) throw new Error("the run does not have the event any more")
  return event
}
