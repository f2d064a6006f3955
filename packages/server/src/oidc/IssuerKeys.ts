import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose"
import { makeOutageLog } from "../OutageLog.ts"
import { isIssuerAddress } from "../settings/IssuerAddress.ts"

/** Milliseconds that fetched keys are used without a new fetch (docs/reference/http.md#tokens). */
export const KEYS_TTL_MS = 600_000

/** Milliseconds that keys may be used beyond that while the issuer does not answer. */
export const KEYS_STALE_MS = 3_600_000

/** Least milliseconds between two attempts while the issuer does not answer. */
export const RETRY_MS = 10_000

/** Least milliseconds between two attempts for tokens whose key is not known: every client can make up such a token. */
export const UNKNOWN_KEY_MS = 30_000

/** Milliseconds that one answer of the issuer may take. */
const FETCH_TIMEOUT_MS = 5_000

/** Largest answer of the issuer, bytes. */
export const MAX_ANSWER_BYTES = 262_144

/** There are no keys to check signatures with. */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable") {}

const Discovery = Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String })

/** Secret keys are left out: a published secret proves nothing. */
const PublicKey = Schema.StructWithRest(Schema.Struct({ kty: Schema.Literals(["RSA", "EC", "OKP"]) }), [
  Schema.Record(Schema.String, Schema.Unknown)
])
const isPublicKey = Schema.is(PublicKey)
const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Unknown) })

/** Finds the key that a token names among those of one fetch. */
export type FindKey = JWTVerifyGetKey

interface FetchedKeys {
  readonly find: FindKey
  /** Unix milliseconds. */
  readonly fetchedAt: number
}

/** The public keys of an issuer. */
export interface IssuerKeys {
  /** The keys in use; fails while there are none. */
  readonly current: Effect.Effect<FindKey, KeysUnavailable>
  /** Keys fetched after the given ones, which lack one; undefined when it is too early for another fetch. */
  readonly newerThan: (known: FindKey) => Effect.Effect<FindKey | undefined>
}

/**
 * Keeps the keys of an issuer, found by its discovery document. They are fetched at the start, when they are old, and
 * when a token names one that is not among them. An issuer that does not answer is logged once, and again at growing
 * intervals; the current keys stay in use meanwhile. One fetch at a time, and a caller that leaves does not end it for
 * the others.
 *
 * Kept beside the remote sets of `jose`, which bound no answer and drop the keys in hand once the issuer is away.
 */
export const makeIssuerKeys = Effect.fnUntraced(function* (issuer: string) {
  const scope = yield* Effect.scope
  const turn = yield* Semaphore.make(1)
  const outages = makeOutageLog(`the issuer of tokens ${issuer}`)
  let fetched: FetchedKeys | undefined
  let attemptedAt: number | undefined

  const attempt = Effect.fnUntraced(function* (pauseMs: number) {
    const now = yield* Clock.currentTimeMillis
    if (attemptedAt !== undefined && now < attemptedAt + pauseMs) return
    attemptedAt = now
    yield* Effect.matchEffect(fetchKeys(issuer), {
      onSuccess: (find) => {
        fetched = { find, fetchedAt: now }
        return outages.back
      },
      onFailure: (why) => outages.lost(why)
    })
  })

  const start = (pauseMs: number) => Effect.forkIn(turn.withPermits(1)(attempt(pauseMs)), scope)
  const finish = (pauseMs: number) => Effect.flatMap(start(pauseMs), Fiber.join)
  const ageOf = ({ fetchedAt }: FetchedKeys) => Effect.map(Clock.currentTimeMillis, (now) => now - fetchedAt)

  const current = Effect.gen(function* () {
    const age = fetched === undefined ? Number.POSITIVE_INFINITY : yield* ageOf(fetched)
    if (age >= KEYS_TTL_MS + KEYS_STALE_MS) {
      fetched = undefined
      yield* finish(RETRY_MS)
    } else if (age >= KEYS_TTL_MS) yield* start(RETRY_MS)
    return fetched?.find ?? (yield* new KeysUnavailable())
  })

  const newerThan = Effect.fnUntraced(function* (known: FindKey) {
    if (fetched?.find === known) yield* finish(UNKNOWN_KEY_MS)
    return fetched?.find === known ? undefined : fetched?.find
  })

  yield* start(0)
  return { current, newerThan } satisfies IssuerKeys
})

/** The keys behind the discovery document of an issuer; fails with a text that names the fault. */
const fetchKeys = Effect.fnUntraced(function* (issuer: string): Effect.fn.Return<FindKey, string> {
  const document = yield* fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, Discovery)
  if (document.issuer !== issuer) {
    return yield* Effect.fail(`its discovery document is of "${document.issuer.slice(0, 256)}"`)
  }
  if (!isIssuerAddress(document.jwks_uri)) {
    return yield* Effect.fail("the jwks_uri of its discovery document is not an https address")
  }
  const { keys } = yield* fetchJson(document.jwks_uri, KeySet)
  const usable = keys.filter(isPublicKey)
  if (usable.length === 0) return yield* Effect.fail(`${document.jwks_uri} has no public key`)
  const set: JSONWebKeySet = { keys: usable.map((key) => ({ ...key })) }
  return yield* Effect.try({ try: () => createLocalJWKSet(set), catch: (cause) => `its keys are unusable: ${cause}` })
})

/** A document of the issuer. A redirect is refused: it could lead away from TLS. */
const fetchJson = <A, I>(url: string, schema: Schema.Codec<A, I>): Effect.Effect<A, string> =>
  HttpClient.get(url, { headers: { accept: "application/json" } }).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap((response) => boundedText(response.stream)),
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(schema))),
    Effect.timeout(FETCH_TIMEOUT_MS),
    Effect.mapError((cause) => `${url}: ${typeof cause === "string" ? cause : cause.message}`),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
    Effect.provide(FetchHttpClient.layer)
  )

const boundedText = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  stream.pipe(
    Stream.runFoldEffect(
      () => ({ chunks: [] as ReadonlyArray<Uint8Array>, bytes: 0 }),
      ({ bytes, chunks }, chunk) =>
        bytes + chunk.length > MAX_ANSWER_BYTES
          ? Effect.fail(`the answer is over ${MAX_ANSWER_BYTES} bytes`)
          : Effect.succeed({ chunks: [...chunks, chunk], bytes: bytes + chunk.length })
    ),
    Effect.map(({ chunks }) => Buffer.concat(chunks).toString("utf8"))
  )
