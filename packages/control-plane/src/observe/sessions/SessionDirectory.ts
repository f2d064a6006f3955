/**
 * Without this: a restart sends a GetSession for each of thousands of sessions at the same time, and each observer has
 * a watch and a listing of its own; costs up to a second for a query.
 */
import type { RuntimeSessionState, SessionLifecycleEvent, SessionSnapshot } from "@runplane/domain"
import { eachSessionPage, RuntimeClient, RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { reopened } from "../../platform/loop/Reopened.ts"
import type { SessionUpdate, SessionView } from "../decide/Input.ts"
import { isCounted } from "../decide/State.ts"
import { ObserverSettings } from "../ObserverSettings.ts"

/** Queries in one window that are sent one by one; for more of them a listing may be cheaper. */
const FEW_QUERIES = 20
/** How long further queries wait for each other. Milliseconds. */
const WINDOW_MS = 1_000
/** Concurrent GetSession calls for queries that a listing has not answered: streams of one connection. */
const CONCURRENT_QUERIES = 100
/** Listed sessions that cost as much as one query. */
const SESSIONS_PER_QUERY = 10
/** How long the length of the last listing is valid. Milliseconds. */
const LENGTH_VALID_MS = 600_000
/** Timeout of a listing that answers queries. Milliseconds. */
const LISTING_MS = 10_000
/** How long a runtime that refuses to list its sessions is not called again. Milliseconds. */
const REFUSED_MS = 600_000

/** Receives each update of a session; it neither waits nor fails. */
type Listener = (update: SessionUpdate) => void

/** An event of the watch, with the state of the session after it. */
export interface SessionChange extends SessionView {
  readonly type: SessionLifecycleEvent["type"]
  readonly snapshot: SessionSnapshot
}

export interface WatchHandlers {
  /** A session is open, and the watch did not report it before. */
  readonly opened: (session: SessionSnapshot) => Effect.Effect<void>
  /** A session without an observer has changed; the watch waits for the handler. */
  readonly unobserved: (change: SessionChange) => Effect.Effect<void>
}

/** What to do after a page of the listing. */
type AfterPage = "more" | "enough"

class ListedSession extends Request.Class<{ readonly sessionId: string }, SessionSnapshot | undefined> {}

/**
 * The sessions of the runtime, from its two sources: the watch of all sessions (docs/internals/runtime.md#watches) and
 * the listing (docs/internals/runtime.md#silence). No copy is kept; an observer queries the runtime when it starts.
 */
export class SessionDirectory extends Context.Service<
  SessionDirectory,
  {
    /**
     * Watches all sessions for ever, and publishes their changes to their observers. After a failure it connects again,
     * and has every observer check its session.
     */
    readonly watch: (handlers: WatchHandlers) => Effect.Effect<void>
    /** Whether the watch is open, so that a new session is received as soon as it exists. */
    readonly isWatching: () => boolean
    /** Receives updates under any of the observer's names: the id of its session and of its run. */
    readonly subscribe: (names: ReadonlySet<string>, listener: Listener) => Effect.Effect<void, never, Scope.Scope>
    readonly isObserved: (name: string) => boolean
    readonly publish: (name: string, update: SessionUpdate) => void
    /**
     * Reads a listing that begins now, page by page, until `use` returns "enough". False when the limits cut it short;
     * a failure of `use` ends it.
     */
    readonly list: <E extends Error>(
      use: (page: ReadonlyArray<SessionSnapshot>) => Effect.Effect<AfterPage, E>,
      timeoutMs?: number
    ) => Effect.Effect<boolean, RuntimeError | E>
    /** Whether a listing is cheaper than so many single queries. */
    readonly isListingCheaper: (queries: number) => Effect.Effect<boolean>
    /**
     * The session as it is now, for queries that can wait: a listing answers many of them together. An answer is never
     * older than its query.
     */
    readonly query: (sessionId: string) => Effect.Effect<SessionSnapshot, RuntimeError>
  }
>()("runplane/control-plane/SessionDirectory") {
  static readonly layer = Layer.effect(
    SessionDirectory,
    Effect.gen(function* () {
      const runtime = yield* RuntimeClient
      const { watchReconnectMs } = yield* ObserverSettings

      /** Nearly every name has one, so arrays. */
      const listeners = new Map<string, ReadonlyArray<Listener>>()
      let isWatching = false
      const isObserved = (name: string) => listeners.has(name)
      const publish = (name: string, update: SessionUpdate) => {
        for (const listener of listeners.get(name) ?? []) listener(update)
      }
      const subscribe = (names: ReadonlySet<string>, listener: Listener) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            for (const name of names) listeners.set(name, [...(listeners.get(name) ?? []), listener])
          }),
          () =>
            Effect.sync(() => {
              for (const name of names) {
                const others = (listeners.get(name) ?? []).filter((other) => other !== listener)
                if (others.length === 0) listeners.delete(name)
                else listeners.set(name, others)
              }
            })
        )

      const watch = ({ opened, unobserved }: WatchHandlers) =>
        runtime.watchSessions.pipe(
          Stream.onStart(Effect.sync(() => (isWatching = true))),
          Stream.runForEach(
            Effect.fnUntraced(function* (event) {
              const { session: snapshot, type } = event
              if (snapshot === undefined) return
              const state = stateOf(event)
              if (type === "CREATED" && state === "OPEN") yield* opened(snapshot)
              if (isObserved(snapshot.sessionId)) publish(snapshot.sessionId, { _tag: "State", state, snapshot })
              else yield* unobserved({ type, state, snapshot })
            })
          ),
          Effect.ensuring(Effect.sync(() => (isWatching = false))),
          Effect.matchEffect({
            onSuccess: () => Effect.logInfo("the session watch ended"),
            onFailure: (error) => Effect.logWarning(`the session watch broke: ${error.message}`)
          }),
          // The next watch does not repeat the changes in between.
          Effect.ensuring(
            Effect.sync(() => {
              for (const listener of new Set([...listeners.values()].flat())) listener({ _tag: "Check" })
            })
          ),
          (once) => reopened("session-watch", once, watchReconnectMs)
        )

      let refusedUntil = Number.NEGATIVE_INFINITY
      /** Sessions in the last listing. */
      let length = { sessions: 0, until: Number.NEGATIVE_INFINITY }

      const list = Effect.fn("SessionDirectory.list")(function* <E extends Error>(
        use: (page: ReadonlyArray<SessionSnapshot>) => Effect.Effect<AfterPage, E>,
        timeoutMs = Math.min(runtime.listing.timeoutMs, LISTING_MS)
      ) {
        let sessions = 0
        const end = yield* Effect.result(
          eachSessionPage(runtime.listSessionsPage, { ...runtime.listing, timeoutMs }, (page) => {
            sessions += page.length
            return Effect.flatMap(use(page), (after) => (after === "enough" ? Effect.fail(after) : Effect.void))
          })
        )
        const now = yield* Clock.currentTimeMillis
        const isCut = Result.isFailure(end)
        if (isCut && end.failure !== "enough") {
          const { failure } = end
          if (failure instanceof RuntimeError) {
            yield* Effect.logDebug(`the runtime does not list its sessions: ${failure.message}`)
            if (isRefusal(failure)) refusedUntil = now + REFUSED_MS
          }
          return yield* Effect.fail(failure)
        }
        // A listing that was not read to its end has at least the length of the one before.
        const least = isCut && now < length.until ? length.sessions : 0
        length = { sessions: Math.max(sessions, least), until: now + LENGTH_VALID_MS }
        return isCut || end.success
      })

      const isListingCheaper = (queries: number) =>
        Effect.map(
          Clock.currentTimeMillis,
          (now) =>
            now >= refusedUntil &&
            queries > FEW_QUERIES &&
            (now >= length.until || queries * SESSIONS_PER_QUERY >= length.sessions)
        )

      const oneListing = yield* Semaphore.make(1)
      // A query that arrives while a listing is read waits for the next one.
      const listed = RequestResolver.make<ListedSession>((entries) => {
        const pending = Map.groupBy(entries, ({ request }) => request.sessionId)
        const complete = (sessionId: string, session: SessionSnapshot | undefined) => {
          for (const entry of pending.get(sessionId) ?? []) entry.completeUnsafe(Exit.succeed(session))
          pending.delete(sessionId)
        }
        const answer = list((page) =>
          Effect.sync(() => {
            for (const session of page) if (isCounted(session)) complete(session.sessionId, session)
            return pending.size === 0 ? "enough" : "more"
          })
        )
        return Effect.andThen(isListingCheaper(pending.size), (isCheaper) =>
          isCheaper ? Effect.ignore(answer) : Effect.void
        ).pipe(
          oneListing.withPermits(1),
          Effect.ensuring(
            Effect.sync(() => {
              for (const sessionId of [...pending.keys()]) complete(sessionId, undefined)
            })
          )
        )
      }).pipe(
        RequestResolver.setDelayEffect(Effect.andThen(Effect.sleep(WINDOW_MS), oneListing.withPermits(1)(Effect.void)))
      )

      const slots = yield* Semaphore.make(CONCURRENT_QUERIES)
      let window = { since: Number.NEGATIVE_INFINITY, queries: 0 }
      const query = Effect.fnUntraced(function* (sessionId: string) {
        const now = yield* Clock.currentTimeMillis
        if (now - window.since >= WINDOW_MS) window = { since: now, queries: 0 }
        window.queries += 1
        if (window.queries <= FEW_QUERIES) return yield* runtime.getSession(sessionId)
        const found = now < refusedUntil ? undefined : yield* Effect.request(new ListedSession({ sessionId }), listed)
        return found ?? (yield* slots.withPermits(1)(runtime.getSession(sessionId)))
      })

      return SessionDirectory.of({
        watch,
        isWatching: () => isWatching,
        subscribe,
        isObserved,
        publish,
        list,
        isListingCheaper,
        query
      })
    })
  )
}

const stateOf = (event: SessionLifecycleEvent): RuntimeSessionState => {
  switch (event.type) {
    // The watch opens with a CREATED for every session it knows, whatever its state
    // (docs/internals/runtime.md#watch-streams).
    case "CREATED":
      return event.session?.state ?? "UNSPECIFIED"
    case "RESUMED":
      return "OPEN"
    default:
      return event.type
  }
}

/** A failure that the same call meets again. */
const isRefusal = ({ reason }: RuntimeError): boolean =>
  reason === "PERMISSION_DENIED" || reason === "UNAUTHENTICATED" || reason === "UNIMPLEMENTED"
