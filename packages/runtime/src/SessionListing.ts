import type { SessionSnapshot } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RuntimeError } from "./RuntimeError.ts"

/** How often an answer of RESOURCE_EXHAUSTED halves the page size before it counts as a failure. */
export const LIST_PAGE_HALVINGS = 2

export interface ListingLimits {
  /** Sessions a page. */
  readonly pageSize: number
  readonly maxPages: number
  /** For the whole listing, milliseconds. */
  readonly timeoutMs: number
}

export const defaultListingLimits: ListingLimits = { pageSize: 200, maxPages: 200, timeoutMs: 60_000 }

export interface SessionPageRequest {
  readonly pageSize: number
  /** Empty for the first page. */
  readonly pageToken: string
}

export interface SessionPage {
  readonly sessions: ReadonlyArray<SessionSnapshot>
  /** Empty on the last page; runtimes before 0.7 answer everything in one page. */
  readonly nextPageToken: string
}

export interface SessionListing {
  readonly sessions: ReadonlyArray<SessionSnapshot>
  /** False when the page cap or the time-out cut the listing short. */
  readonly complete: boolean
}

type ReadPage = (request: SessionPageRequest) => Effect.Effect<SessionPage, RuntimeError>

/** All sessions of the runtime; a failure discards the pages so far. */
export const collectSessions = Effect.fnUntraced(function* (page: ReadPage, limits: ListingLimits) {
  const sessions: Array<SessionSnapshot> = []
  const collect = (read: ReadonlyArray<SessionSnapshot>) => Effect.sync(() => sessions.push(...read))
  const complete = yield* eachSessionPage(page, limits, collect)
  return { sessions, complete }
})

/**
 * Reads the sessions of the runtime page by page, and goes on once a page has been used. A page refused with
 * RESOURCE_EXHAUSTED is requested again with half the size. False when the limits have cut the listing short.
 */
export const eachSessionPage = Effect.fnUntraced(function* <E, R>(
  page: ReadPage,
  limits: ListingLimits,
  use: (sessions: ReadonlyArray<SessionSnapshot>) => Effect.Effect<unknown, E, R>
) {
  const deadline = (yield* Clock.currentTimeMillis) + limits.timeoutMs
  let pageSize = limits.pageSize
  let halvings = 0
  let pageToken = ""
  let pages = 0
  while (pages < limits.maxPages) {
    const left = deadline - (yield* Clock.currentTimeMillis)
    if (left <= 0) break
    const answer = yield* Effect.timeoutOption(
      page({ pageSize, pageToken }).pipe(
        Effect.catchIf(
          (error) => error.reason === "RESOURCE_EXHAUSTED" && halvings < LIST_PAGE_HALVINGS && pageSize > 1,
          () => Effect.succeed("too large" as const)
        )
      ),
      left
    )
    if (Option.isNone(answer)) break
    if (answer.value === "too large") {
      halvings += 1
      pageSize = Math.floor(pageSize / 2)
      continue
    }
    pages += 1
    yield* use(answer.value.sessions)
    pageToken = answer.value.nextPageToken
    if (pageToken === "") return true
  }
  return false
})
