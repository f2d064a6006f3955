import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"

/** PROTO_AUTH_SERVICE_TIMEOUT_MS: the timeout of a request for a token. */
export const MINT_TIMEOUT_MS = 5000
/** PROTO_AUTH_TOKEN_TTL_SECONDS: the requested lifetime. */
export const TOKEN_TTL_SECONDS = 3600

export interface AuthService {
  readonly url: string
  readonly timeoutMs: number
}

export interface TokenRequest {
  /** The identity in the token. */
  readonly sender: string
  readonly ttlSeconds: number
  /** What the bearer may do, in the auth service's own names. */
  readonly scopes: Readonly<Record<string, unknown>>
}

export interface MintedToken {
  readonly token: Redacted.Redacted
  /** The lifetime that the auth service granted, else the requested one; at least a second. */
  readonly lifeMs: number
}

/** The auth service did not answer, refused, or answered without a token; `status` is its HTTP status if it refused. */
export class TokenNotMinted extends Data.TaggedError("TokenNotMinted")<{
  readonly message: string
  readonly status?: number
}> {}

/** Requests one token from the auth service (`POST /tokens`), once; the caller handles a failure. */
export const mintToken = Effect.fn("mintToken")(function* (
  { timeoutMs, url }: AuthService,
  { scopes, sender, ttlSeconds }: TokenRequest
): Effect.fn.Return<MintedToken, TokenNotMinted, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const request = HttpClientRequest.post(`${url.replace(/\/+$/, "")}/tokens`).pipe(
    HttpClientRequest.bodyJsonUnsafe({ sender, ttl_seconds: ttlSeconds, scopes })
  )
  const response = yield* client.execute(request).pipe(
    Effect.timeout(timeoutMs),
    Effect.mapError(({ message }) => new TokenNotMinted({ message: `auth-service request failed: ${message}` }))
  )
  const { status } = response
  if (status < 200 || status > 299) {
    return yield* new TokenNotMinted({ message: `auth-service returned ${status}`, status })
  }
  const body = yield* response.json.pipe(
    Effect.timeout(timeoutMs),
    Effect.mapError(({ message }) => new TokenNotMinted({ message: `auth-service response parse failed: ${message}` }))
  )
  const token = Predicate.hasProperty(body, "token") ? body.token : undefined
  if (typeof token !== "string" || token === "") {
    return yield* new TokenNotMinted({ message: "auth-service response missing token" })
  }
  const granted = Predicate.hasProperty(body, "expires_in_seconds") ? body.expires_in_seconds : undefined
  const lifeSeconds = typeof granted === "number" ? Math.max(1, Math.floor(granted)) : ttlSeconds
  return { token: Redacted.make(token), lifeMs: lifeSeconds * 1000 }
})
