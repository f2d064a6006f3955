import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/** Default life of a token, seconds. */
export const DEFAULT_TTL_SECONDS = 300
/** Longest life of a token, seconds; a request for more gets this. */
export const MAX_TTL_SECONDS = 3_600

/** A parsed request; `ttlSeconds` is the life that the token gets. */
export interface MintRequest {
  readonly sender: string
  readonly ttlSeconds: number
  /** Copied into the token as they are. */
  readonly scopes: object
}

/**
 * Parses the body of `POST /tokens`; the failure is the text of the answer
 * (docs/internals/runtime.md#token-service).
 */
export const parseMintRequest = (text: string): Result.Result<MintRequest, string> => {
  const body = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(body)) return Result.fail("invalid JSON body")
  const { scopes = {}, sender, ttl_seconds: ttl } = fieldsOf(body.success)
  if (typeof sender !== "string" || sender.trim() === "") return Result.fail("sender is required")
  if (!Predicate.isReadonlyObject(scopes)) return Result.fail("scopes must be an object")
  if (ttl === undefined || ttl === null) return Result.succeed({ sender, scopes, ttlSeconds: DEFAULT_TTL_SECONDS })
  if (typeof ttl !== "number" || !(ttl > 0)) return Result.fail("ttl_seconds must be a positive number")
  // Times of a token are whole seconds.
  return Result.succeed({ sender, scopes, ttlSeconds: Math.max(1, Math.floor(Math.min(ttl, MAX_TTL_SECONDS))) })
}

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  Predicate.isReadonlyObject(body) ? { ...body } : {}
