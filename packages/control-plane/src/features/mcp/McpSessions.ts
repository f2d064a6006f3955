import { controlPlaneForm } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { IN_PROCESS } from "./InProcess.ts"
import { refusal } from "./McpRequests.ts"

/** Sessions of the 2025 revisions that one key has at most in a process. */
export const MAX_SESSIONS = 64

const SESSION_ID = "mcp-session-id"

interface Session {
  readonly owner: string
  /** Requests of the session that are in progress. */
  active: number
}

const decodeInitialize = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ method: Schema.Literal("initialize") }))
)
const isInitialize = (text: string) => Option.isSome(decodeInitialize(text))

/**
 * The sessions of each key (docs/reference/mcp.md#sessions). The MCP module knows neither their owners nor an end of
 * them: a request of another key gets 404, and a new session of a key with `MAX_SESSIONS` ends its oldest idle one,
 * whose client begins anew. It gets 429 while requests of all of them are in progress.
 */
export const makeMcpSessions = (inProcess: HttpClient.HttpClient) => {
  // In order of last use.
  const sessions = new Map<string, Session>()

  /** Ends a session of the current caller at the module, through the same endpoint. */
  const end = (id: string) =>
    Effect.map(
      Effect.orDie(inProcess.execute(HttpClientRequest.delete(`${IN_PROCESS}/mcp`, { headers: { [SESSION_ID]: id } }))),
      ({ status }) => status === 204 || status === 404
    )

  /** Whether the key may begin a session; ends its oldest idle one when it has as many as it may. */
  const hasCapacity = Effect.fnUntraced(function* (owner: string) {
    const own = [...sessions].filter(([, session]) => session.owner === owner)
    if (own.length < MAX_SESSIONS) return true
    const [id] = own.find(([, { active }]) => active === 0) ?? []
    return id !== undefined && (yield* end(id))
  })

  /** Serves a request of this caller by the module. */
  const serve = <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    owner: string,
    httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | Scope.Scope | HttpServerRequest.HttpServerRequest> =>
    Effect.gen(function* () {
      const id = request.headers[SESSION_ID]
      if (id === undefined) {
        const text = request.method === "POST" ? yield* Effect.orElseSucceed(request.text, () => "") : ""
        if (isInitialize(text) && !(yield* hasCapacity(owner))) {
          return controlPlaneForm.tooManyRequests
        }
        const response = yield* httpEffect
        // The module adds the id of a new session by such a handler too.
        yield* HttpEffect.appendPreResponseHandler((_, answer) =>
          Effect.sync(() => {
            const begun = answer.headers[SESSION_ID]
            if (begun !== undefined) sessions.set(begun, { owner, active: 0 })
            return answer
          })
        )
        return response
      }
      const session = sessions.get(id)
      if (session?.owner !== owner) return refusal(404)
      sessions.delete(id)
      sessions.set(id, session)
      if (request.method === "DELETE") {
        const response = yield* httpEffect
        if (response.status === 204) sessions.delete(id)
        return response
      }
      session.active += 1
      // The scope of the request ends with its answer, also of one that streams.
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          session.active -= 1
        })
      )
      return yield* httpEffect
    })

  return { serve }
}
