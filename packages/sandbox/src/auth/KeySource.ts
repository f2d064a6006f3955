import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { JsonWebKeySet, type SigningKey, signingKeys } from "./JsonWebKeys.ts"

/** Milliseconds for which a fetched key set is used (docs/internals/runtime.md#signed-tokens). */
export const KEYS_TTL_MS = 300_000

/** Milliseconds a key set may be used beyond that while it cannot be fetched again. */
export const KEYS_STALE_MS = 3_600_000

/** Milliseconds between two attempts while the keys are stale. */
export const KEYS_RETRY_MS = 10_000

/** Milliseconds one fetch may take. */
export const KEYS_FETCH_TIMEOUT_MS = 5_000

/** There are no keys to check signatures with. */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{ readonly message: string }> {}

/** Where the keys that signed tokens are checked with come from (docs/internals/runtime.md#signed-tokens). */
export class KeySource extends Context.Service<
  KeySource,
  { readonly keys: Effect.Effect<ReadonlyArray<SigningKey>, KeysUnavailable> }
>()("runplane/sandbox/KeySource") {
  /** A set that is known from the start. */
  static readonly layerInline = (set: JsonWebKeySet): Layer.Layer<KeySource> =>
    Layer.sync(KeySource, () => ({ keys: Effect.succeed(signingKeys(set)) }))

  /** A set behind a URL, kept for a while and, when the URL stops answering, for a while longer. */
  static readonly layerUrl = (url: string): Layer.Layer<KeySource> =>
    Layer.effect(
      KeySource,
      Effect.map(remember(download(url)), (keys) => ({ keys }))
    )
}

/** The last fetched keys, and the time of the next fetch. Unix milliseconds. */
interface FetchedKeys {
  readonly keys: ReadonlyArray<SigningKey>
  readonly fetchedAt: number
  readonly refreshAt: number
}

/**
 * Caches what `fetch` gives. One fetch at a time: callers that come meanwhile share its outcome. Kept beside the remote
 * sets of `jose`, which drop the keys they have once their URL stops answering and read the system's clock.
 */
export const remember = Effect.fnUntraced(function* (fetch: Effect.Effect<ReadonlyArray<SigningKey>, KeysUnavailable>) {
  const turn = yield* Semaphore.make(1)
  let current: FetchedKeys | undefined
  const renew = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const old = current
    if (old !== undefined && now < old.refreshAt) return old
    const fetched = Effect.map(fetch, (keys) => ({ keys, fetchedAt: now, refreshAt: now + KEYS_TTL_MS }))
    const mayUseOld = old !== undefined && now < old.fetchedAt + KEYS_TTL_MS + KEYS_STALE_MS
    current = yield* mayUseOld
      ? Effect.catch(fetched, (failure) =>
          Effect.as(Effect.logWarning(failure.message), { ...old, refreshAt: now + KEYS_RETRY_MS })
        )
      : fetched
    return current
  })
  return Effect.map(turn.withPermits(1)(renew), ({ keys }) => keys)
})

const download = (url: string): Effect.Effect<ReadonlyArray<SigningKey>, KeysUnavailable> =>
  HttpClient.get(url).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap(HttpClientResponse.schemaBodyJson(JsonWebKeySet)),
    Effect.timeout(KEYS_FETCH_TIMEOUT_MS),
    Effect.map(signingKeys),
    Effect.mapError((cause) => new KeysUnavailable({ message: `no keys from ${url}: ${cause.message}` })),
    Effect.provide(FetchHttpClient.layer)
  )
