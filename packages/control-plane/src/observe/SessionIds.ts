import { cleanText } from "@runplane/domain"

/** Characters of a session id, as in `POST /runs`. */
const MAX_SESSION_ID_LENGTH = 512

/**
 * Whether a session with this id can be a run's. A runtime may name its sessions as it likes; the id is a unique key
 * here, so it has the same bound as in `POST /runs` (far below the 2,704 bytes of a PostgreSQL index entry, whatever
 * its characters), and it must be text that PostgreSQL can hold.
 */
export const isObservableSessionId = (sessionId: string): boolean =>
  sessionId !== "" && sessionId.length <= MAX_SESSION_ID_LENGTH && cleanText(sessionId) === sessionId

const SHOWN_CHARACTERS = 64

/** The id for a log line, whatever its length. */
export const shownSessionId = (sessionId: string): string =>
  sessionId.length <= SHOWN_CHARACTERS
    ? JSON.stringify(sessionId)
    : `${JSON.stringify(sessionId.slice(0, SHOWN_CHARACTERS))} and ${sessionId.length - SHOWN_CHARACTERS} characters more`
