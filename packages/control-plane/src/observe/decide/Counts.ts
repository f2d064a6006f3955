import type { SessionSnapshot } from "@runplane/domain"
import type { Bound } from "./State.ts"

/** Accepted envelopes of a session; its SessionStart is there always, and in nobody's activity. */
export const historyLength = (session: SessionSnapshot): number =>
  1 + session.participantActivity.reduce((sum, activity) => sum + activity.messageCount, 0)

/** Without any activity the runtime may be one that does not count. */
export const isCounted = (session: SessionSnapshot): boolean => session.participantActivity.length > 0

/** Stored envelopes of participants. */
export const received = (state: Bound): number => state.cursor - state.annotations.size
