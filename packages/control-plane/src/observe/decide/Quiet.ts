import type { Quiet } from "./Action.ts"
import { received } from "./Counts.ts"
import type { Bound } from "./State.ts"

/**
 * What makes the next alarm needless: the session goes on, its stream stands and is not doubted, and all that the alarm
 * is for is to ask whether that is still so (docs/runtime.md#quiet).
 */
export const quietUntil = (state: Bound, at: number): Quiet | undefined => {
  const { drain, look, stream } = state
  const { announced, deadline, endCheckAt, question, suspended } = look
  const isStanding = stream.connection._tag === "Open" && stream.connection.silence !== "asked"
  const isSettled = drain === undefined && question === undefined && announced === undefined
  // While suspended the runtime's clock stands still, so the deadline says nothing.
  const isOverdue = deadline !== undefined && deadline <= at && !suspended
  const isEndExpected = endCheckAt !== undefined || isOverdue
  return isStanding && isSettled && !isEndExpected ? { received: received(state), suspended } : undefined
}
