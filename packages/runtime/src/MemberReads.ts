import type { SessionSnapshot } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { OtherCredentials } from "./GrpcCalls.ts"
import type { RuntimeClientShape } from "./RuntimeClientShape.ts"
import type { CredentialHeaders } from "./RuntimeCredentials.ts"
import type { RuntimeError } from "./RuntimeError.ts"

/** Capacity of the cache of readers; the least recently read session is evicted first. */
const REMEMBERED_SESSIONS = 10_000

/** Ourselves where the runtime lets us, else the session's initiator. */
type Reader = string | undefined

/**
 * Reads sessions with development credentials. Under development authentication a runtime rejects observers, but
 * accepts every name as its own credential: the client reads a closed session in the name of its initiator, from the
 * listing. Cancel, suspend and resume keep our own name. Only development credentials can act for another name.
 */
export const readAsMember = (
  client: Pick<
    RuntimeClientShape,
    "getSession" | "getDecisionReceipt" | "streamSession" | "listSessions" | "watchSessions"
  >,
  inNameOf: (sender: string) => CredentialHeaders
): Pick<RuntimeClientShape, "getSession" | "getDecisionReceipt" | "streamSession" | "watchSessions"> => {
  /** Initiators of the sessions that the watch has reported, oldest first. */
  const initiators = new Map<string, string>()
  /** Readers that wait for the watch to report their session. */
  const listeners = new Map<string, Set<(initiator: string) => void>>()
  const note = ({ initiator, sessionId }: SessionSnapshot) => {
    if (initiator === "" || initiators.has(sessionId)) return
    for (const resume of listeners.get(sessionId) ?? []) resume(initiator)
    if (initiators.size >= REMEMBERED_SESSIONS) initiators.delete(initiators.keys().next().value ?? "")
    initiators.set(sessionId, initiator)
  }
  /** The runtime has kept a session from us: it does so with all of them. */
  let closed = false

  const getAs = (sessionId: string, reader: Reader) =>
    reader === undefined
      ? client.getSession(sessionId)
      : Effect.provideService(client.getSession(sessionId), OtherCredentials, inNameOf(reader))

  const initiatorOf = (sessionId: string): Effect.Effect<Reader, RuntimeError> =>
    initiators.has(sessionId)
      ? Effect.succeed(initiators.get(sessionId))
      : Effect.raceFirst(notedInitiatorOf(sessionId), listedInitiatorOf(sessionId))

  /** A new session may end before a long listing is complete; the watch reports it sooner. */
  const notedInitiatorOf = (sessionId: string) =>
    Effect.callback<string>((resume) => {
      const waiting = listeners.get(sessionId) ?? new Set()
      const listener = (initiator: string) => resume(Effect.succeed(initiator))
      listeners.set(sessionId, waiting.add(listener))
      return Effect.sync(() => {
        waiting.delete(listener)
        if (waiting.size === 0) listeners.delete(sessionId)
      })
    })

  const listedInitiatorOf = (sessionId: string) =>
    Effect.map(client.listSessions, ({ sessions }) => {
      const initiator = sessions.find((session) => session.sessionId === sessionId)?.initiator
      return initiator === "" ? undefined : initiator
    })

  /** Who may read the session, and the session when it had to be read to find out. */
  const readerOf = Effect.fnUntraced(function* (sessionId: string) {
    if (closed && initiators.has(sessionId)) return { reader: initiators.get(sessionId), session: undefined }
    const own = yield* Effect.result(client.getSession(sessionId))
    if (Result.isSuccess(own)) return { reader: undefined, session: own.success }
    if (own.failure.reason !== "PERMISSION_DENIED") return yield* own.failure
    const reader = yield* initiatorOf(sessionId)
    if (reader === undefined) return yield* own.failure
    closed = true
    return { reader, session: undefined }
  })

  /** Readers that were found, the one that was not read for longest first. */
  const readers = new Map<string, Reader>()
  const remember = (sessionId: string, reader: Reader) => {
    readers.delete(sessionId)
    if (readers.size >= REMEMBERED_SESSIONS) readers.delete(readers.keys().next().value ?? "")
    readers.set(sessionId, reader)
  }

  /**
   * The reader that is remembered, else the one that is found now: a call never shares the answer of one that began
   * before it, which may be from before the session was opened.
   */
  const knownReaderOf = Effect.fnUntraced(function* (sessionId: string) {
    const found = readers.has(sessionId)
      ? { reader: readers.get(sessionId), session: undefined }
      : yield* readerOf(sessionId)
    remember(sessionId, found.reader)
    return found
  })

  return {
    watchSessions: Stream.tap(client.watchSessions, ({ session }) =>
      Effect.sync(() => (session === undefined ? undefined : note(session)))
    ),
    getSession: Effect.fnUntraced(function* (sessionId) {
      const { reader, session } = yield* knownReaderOf(sessionId)
      return session ?? (yield* getAs(sessionId, reader))
    }),
    getDecisionReceipt: Effect.fnUntraced(function* (sessionId) {
      const { reader } = yield* knownReaderOf(sessionId)
      const receipt = client.getDecisionReceipt(sessionId)
      return yield* reader === undefined ? receipt : Effect.provideService(receipt, OtherCredentials, inNameOf(reader))
    }),
    streamSession: (request) =>
      Stream.unwrap(
        Effect.map(knownReaderOf(request.sessionId), ({ reader }) => {
          const stream = client.streamSession(request)
          return reader === undefined ? stream : Stream.provideService(stream, OtherCredentials, inNameOf(reader))
        })
      )
  }
}
