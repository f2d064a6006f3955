import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { OtherCredentials } from "./GrpcCalls.ts"
import type { RuntimeClientShape } from "./RuntimeClient.ts"
import type { CredentialHeaders } from "./RuntimeCredentials.ts"
import type { RuntimeError } from "./RuntimeError.ts"

/** Sessions whose reader is remembered; a full memory starts afresh. */
const REMEMBERED_SESSIONS = 10_000

/** Ourselves where the runtime lets us, else the session's initiator. */
type Reader = string | undefined

/**
 * Reads sessions with development credentials. Under development authentication a runtime lets nobody observe, but takes
 * every name for its bearer (runtime-wire section 6.1): a session that is closed to us is read in its initiator's name, which
 * the listing tells. Reads only; cancel, suspend and resume stay in our own name. Development only, because no other
 * credential can speak for somebody else.
 */
export const readAsMember = (
  client: Pick<RuntimeClientShape, "getSession" | "streamSession" | "listSessions">,
  inNameOf: (sender: string) => CredentialHeaders
): Pick<RuntimeClientShape, "getSession" | "streamSession"> => {
  const readers = new Map<string, Reader>()
  const remember = (sessionId: string, reader: Reader) => {
    if (readers.size >= REMEMBERED_SESSIONS) readers.clear()
    readers.set(sessionId, reader)
  }

  const getAs = (sessionId: string, reader: Reader) =>
    reader === undefined
      ? client.getSession(sessionId)
      : Effect.provideService(client.getSession(sessionId), OtherCredentials, inNameOf(reader))

  const asInitiator = Effect.fnUntraced(function* (sessionId: string, refused: RuntimeError) {
    const { sessions } = yield* client.listSessions
    const initiator = sessions.find((session) => session.sessionId === sessionId)?.initiator
    if (initiator === undefined || initiator === "") return yield* refused
    remember(sessionId, initiator)
    return yield* getAs(sessionId, initiator)
  })

  const getSession: RuntimeClientShape["getSession"] = (sessionId) => {
    if (readers.has(sessionId)) return getAs(sessionId, readers.get(sessionId))
    return client.getSession(sessionId).pipe(
      Effect.tap(() => Effect.sync(() => remember(sessionId, undefined))),
      Effect.catchIf(
        (error) => error.reason === "PERMISSION_DENIED",
        (error) => asInitiator(sessionId, error)
      )
    )
  }

  const streamSession: RuntimeClientShape["streamSession"] = (request) =>
    Stream.unwrap(
      Effect.gen(function* () {
        if (!readers.has(request.sessionId)) yield* getSession(request.sessionId)
        const reader = readers.get(request.sessionId)
        const stream = client.streamSession(request)
        return reader === undefined ? stream : Stream.provideService(stream, OtherCredentials, inNameOf(reader))
      })
    )

  return { getSession, streamSession }
}
