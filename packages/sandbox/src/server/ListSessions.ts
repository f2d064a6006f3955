import type { ListSessionsRequest, SessionMetadata } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import type { Session } from "../core/Session.ts"
import { ArgumentInvalid } from "../kernel/KernelFailure.ts"

/** Sessions of one page when the caller names no size, and at most (docs/internals/runtime.md#watch-streams). */
export const DEFAULT_PAGE_SIZE = 100
export const MAX_PAGE_SIZE = 1_000

export interface SessionsPage {
  readonly sessions: Array<SessionMetadata>
  /** Empty when the list is complete. */
  readonly nextPageToken: string
}

/**
 * One page of all sessions by ascending id, ended ones included. Does not notice passed deadlines
 * (docs/internals/runtime.md#watch-streams).
 */
export const listSessions = Effect.fnUntraced(function* (
  sessions: ReadonlyArray<Session>,
  request: Pick<ListSessionsRequest, "pageSize" | "pageToken">
): Effect.fn.Return<SessionsPage, ArgumentInvalid> {
  if (request.pageSize < 0) return yield* new ArgumentInvalid({ message: "page_size must not be negative" })
  const after = readToken(request.pageToken)
  if (after === undefined) return yield* new ArgumentInvalid({ message: "page_token is not one of this runtime" })
  const size = request.pageSize === 0 ? DEFAULT_PAGE_SIZE : Math.min(request.pageSize, MAX_PAGE_SIZE)
  const rest = sessions
    .filter(({ binding }) => binding.sessionId > after)
    .sort((one, other) => (one.binding.sessionId < other.binding.sessionId ? -1 : 1))
  const page = rest.slice(0, size)
  const last = page.at(-1)
  return {
    sessions: page.map((session) => session.metadata()),
    nextPageToken: last === undefined || rest.length === page.length ? "" : writeToken(last.binding.sessionId)
  }
})

const PREFIX = "after:"

const writeToken = (sessionId: string): string => Buffer.from(PREFIX + sessionId).toString("base64url")

const readToken = (token: string): string | undefined => {
  if (token === "") return ""
  const text = Buffer.from(token, "base64url").toString()
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : undefined
}
