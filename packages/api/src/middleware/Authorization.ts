import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import type { Role } from "../caller/Access.ts"
import { Forbidden, TooManyRequests, Unauthenticated } from "../errors/ControlPlaneErrors.ts"

/** How a caller is known: by a key, by a token of the issuer, or not at all. */
export const actorTypes = ["api-key", "user", "anonymous", "rule"] as const
export type ActorType = (typeof actorTypes)[number]

/** Who makes the request: written into audit entries (docs/reference/http.md#actors). */
export interface Actor {
  /**
   * The key's name, else `key:<8 hex of the key's SHA-256>`; `user:<subject>` of a token's holder, which is never the
   * name of a key; `anonymous` when authentication is off. Budgets, owners and filters compare it.
   */
  readonly actorId: string
  /** `user:<name>` of a token's holder, for readers: two subjects may have the same. Absent: the id is all there is. */
  readonly name?: string
  readonly actorType: ActorType
  /** What it may do. */
  readonly role: Role
  /** Whether the role `voter`, which is beside the order of the others, is held as well. */
  readonly isVoter?: boolean
  /** The groups of a token's holder. */
  readonly groups?: ReadonlyArray<string>
  /** Whether the token is one that an agent presents to the runtime: it never answers for a person. */
  readonly isAgent?: boolean
  /** Whether the caller is known by the cookie of a page. */
  readonly isPage?: boolean
  /** When the holder of a token signed in at the issuer, Unix milliseconds; absent when the token does not say. */
  readonly signedInAtUnixMs?: number
  /** When the token of the holder is refused from; a stream of its caller ends then. */
  readonly expiresAtUnixMs?: number
}

export const anonymousActor: Actor = { actorId: "anonymous", actorType: "anonymous", role: "admin" }

/** The actor of the current request; every endpoint behind `Authorization` has it. */
export class CurrentActor extends Context.Service<CurrentActor, Actor>()("runplane/api/CurrentActor") {}

const bearer = HttpApiSecurity.bearer.pipe(
  HttpApiSecurity.annotate(
    OpenApi.Description,
    "An API key: `Authorization: Bearer <key>`, or the bare key as the value of the header; or a signed token of the " +
      "configured issuer. A service without configured keys and without an issuer needs none"
  )
)

const apiKey = HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }).pipe(
  HttpApiSecurity.annotate(OpenApi.Description, "The same key in a header of its own")
)

/**
 * Demands a configured API key, or a token, of the role that the endpoint needs (docs/reference/http.md#api-keys,
 * docs/reference/http.md#tokens, docs/reference/http.md#roles); implemented in `@runplane/server`.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentActor }>()(
  "runplane/api/Authorization",
  { security: { bearer, apiKey }, error: [Unauthenticated, Forbidden, TooManyRequests] }
) {}
