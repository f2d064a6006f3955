import { callRuns } from "../client/Client.ts"
import { RunLog } from "./RunLog.ts"

const PAGE = 1_000
/** Events of a run that are read to be compared. */
export const MOST_COMPARED = 5_000

/** The first events of a run as a log that shows each place of it, read once. */
export const readLog = async (runId: string, signal: AbortSignal): Promise<RunLog> => {
  const log = new RunLog(runId)
  for (;;) {
    const query = { afterSeq: log.lastSeq, limit: PAGE }
    const answer = await callRuns((api) => api.events.list({ params: { id: runId }, query }), signal)
    const events = "data" in answer ? answer.data : answer
    const before = log.count
    for (const event of events) log.append(event)
    const isAllThere = events.length < PAGE || log.count >= MOST_COMPARED
    // What does not follow on what is here would come again and again.
    if (isAllThere || log.count === before) return log
  }
}
