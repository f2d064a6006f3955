import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { JsonWebKeySet, type SigningKey, signingKeys } from "./JsonWebKeys.ts"

/** Milliseconds a fetched key set is used without asking again (runtime-wire section 6.3). */
export const KEYS_TTL_MS = 300_000

/** Milliseconds a key set may be used beyond that while it cannot be fetched again. */
export const KEYS_STALE_MS = 3_600_000

/** Milliseconds one fetch may take. */
export const KEYS_FETCH_TIMEOUT_MS = 5_000

/** There are no keys to check signatures with. */
export class KeysUnavailable extends Data.TaggedError("KeysUnavailable")<{ readonly message: string }> {}

/** Where the keys that signed tokens are checked with come from (runtime-wire section 6.3). */
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

/** Caches what `fetch` gives. One fetch at a time: callers that come meanwhile share its outcome. */
export const remember = Effect.fnUntraced(function* (fetch: Effect.Effect<ReadonlyArray<SigningKey>, KeysUnavailable>) {
  const turn = yield* Semaphore.make(1)
  let held: { readonly keys: ReadonlyArray<SigningKey>; readonly fetchedAt: number } | undefined
  const refresh = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const known = held
    if (known !== undefined && now - known.fetchedAt < KEYS_TTL_MS) return known.keys
    const canWait = known !== undefined && now - known.fetchedAt < KEYS_TTL_MS + KEYS_STALE_MS
    const keys = yield* canWait ? Effect.orElseSucceed(fetch, () => undefined) : fetch
    if (keys === undefined) return known?.keys ?? []
    held = { keys, fetchedAt: now }
    return keys
  })
  return turn.withPermits(1)(refresh)
})

const decodeSet = Schema.decodeUnknownEffect(JsonWebKeySet)

const download = (url: string): Effect.Effect<ReadonlyArray<SigningKey>, KeysUnavailable> =>
  Effect.tryPromise(async (signal) => {
    const answer = await fetch(url, { signal })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    return await answer.json()
  }).pipe(
    Effect.timeout(KEYS_FETCH_TIMEOUT_MS),
    Effect.flatMap(decodeSet),
    Effect.map(signingKeys),
    Effect.mapError((cause) => new KeysUnavailable({ message: `no keys from ${url}: ${cause.message}` }))
  )
