import type { AgentStartFailed } from "@runplane/api"
import { jitteredBackoff, type MintedToken, mintToken } from "@runplane/runtime"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { authMintFailed } from "../common/LaunchErrors.ts"
import { type AuthSettings, LauncherSettings } from "../LauncherSettings.ts"

/** A cached token is given out until this long before its end, ms. */
const EXPIRY_MARGIN_MS = 10_000

/** A token of this age at most counts as just minted, ms. */
const FRESH_MS = 1_000

/** A token of an agent that still runs is replaced this long before its end, ms; of a short life the last third. */
const RENEW_EARLY_MS = 60_000
/** Between two attempts to renew a token, ms. */
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 10_000

/** Tokens kept at most; every launch has its own participants, but their names repeat. */
const MAX_CACHED_TOKENS = 1_024

export interface TokenRequest {
  /** The participant that the token is for: its sender at the runtime. */
  readonly participantId: string
  readonly modeName: string
  readonly isInitiator: boolean
  /** The participant is a person: its token sends no Signal and no Progress. */
  readonly isSeat?: boolean
  /** The token reads sessions alone, as an observer. */
  readonly isObserver?: boolean
  /** The token suspends and resumes sessions alone: it sends no message. */
  readonly isControl?: boolean
  /** How long the session may last, ms: agents that cannot read a renewed token have this one only. */
  readonly minLifeMs: number
}

/**
 * The agents' credentials at the runtime. With an auth service configured every agent gets a
 * token minted for it, without retry and without fallback. Without one, the development bearer of a runtime that trusts
 * its callers is used: the participant id itself. A runtime with real authentication refuses that bearer.
 */
export class AgentTokens extends Context.Service<
  AgentTokens,
  {
    readonly tokenFor: (request: TokenRequest) => Effect.Effect<string, AgentStartFailed>
    /** Tokens that replace the first one, each before the last one ends. The stream never ends. */
    readonly renewals: (request: TokenRequest) => Stream.Stream<string>
  }
>()("runplane/launcher/AgentTokens") {
  static readonly layer = Layer.effect(
    AgentTokens,
    Effect.gen(function* () {
      const { auth } = yield* LauncherSettings
      const client = yield* HttpClient.HttpClient
      if (auth !== undefined) return yield* minted(auth, client)
      yield* Effect.logInfo("PROTO_AUTH_SERVICE_URL is not set: agents use development credentials")
      return AgentTokens.of({
        tokenFor: ({ participantId }) => Effect.succeed(participantId),
        renewals: () => Stream.never
      })
    })
  )
}

interface MintRequest {
  readonly sender: string
  readonly scopes: Readonly<Record<string, unknown>>
}

interface CachedToken extends MintedToken {
  /** Epoch ms. */
  readonly expiresAt: number
}

const minted = Effect.fnUntraced(function* (auth: AuthSettings, client: HttpClient.HttpClient) {
  const mint = ({ scopes, sender }: MintRequest) =>
    mintToken(auth, { sender, ttlSeconds: auth.tokenTtlSeconds, scopes }).pipe(
      Effect.flatMap((token) =>
        Effect.map(Clock.currentTimeMillis, (now): CachedToken => ({ ...token, expiresAt: now + token.lifeMs }))
      ),
      Effect.mapError(({ message, status }) => authMintFailed(message, status)),
      Effect.provideService(HttpClient.HttpClient, client)
    )
  const tokens = yield* Cache.makeWith(mint, {
    capacity: MAX_CACHED_TOKENS,
    timeToLive: (exit, _request) =>
      Exit.isSuccess(exit) ? Duration.millis(exit.value.lifeMs - EXPIRY_MARGIN_MS) : Duration.zero
  })
  const keyOf = (request: TokenRequest) => ({ sender: request.participantId, scopes: scopesOf(request, auth) })

  const tokenFor = Effect.fn("AgentTokens.tokenFor")(function* (request: TokenRequest) {
    if (request.participantId === "") {
      return yield* authMintFailed("mintToken requires a non-empty sender")
    }
    const key = keyOf(request)
    const current = yield* Cache.get(tokens, key)
    const now = yield* Clock.currentTimeMillis
    const age = now - (current.expiresAt - current.lifeMs)
    // An older token may end before the session does; a fresh one is the best there is.
    if (current.expiresAt - now >= request.minLifeMs) return Redacted.value(current.token)
    if (age >= FRESH_MS) yield* Cache.invalidate(tokens, key)
    const fresh = yield* Cache.get(tokens, key)
    if (fresh.lifeMs < request.minLifeMs) {
      yield* Effect.logWarning(
        `the token of ${request.participantId} lives for ${fresh.lifeMs / 1_000} s and its session for up to ${request.minLifeMs / 1_000} s`
      )
    }
    return Redacted.value(fresh.token)
  })

  /** The token that is there, or a new one when it ends soon: another agent of the same name may have renewed it. */
  const renewed = Effect.fnUntraced(function* (request: TokenRequest) {
    const key = keyOf(request)
    const current = yield* Cache.get(tokens, key)
    if ((yield* Clock.currentTimeMillis) < dueAt(current)) return current
    yield* Cache.invalidate(tokens, key)
    return yield* Cache.get(tokens, key)
  })

  const renewals = (request: TokenRequest) =>
    Stream.unwrap(
      Effect.map(Ref.make<CachedToken | undefined>(undefined), (last) => {
        const next = Effect.gen(function* () {
          const before = yield* Ref.get(last)
          const now = yield* Clock.currentTimeMillis
          if (before !== undefined) yield* Effect.sleep(Math.max(dueAt(before) - now, SHORTEST_PAUSE_MS))
          const token = yield* renewed(request).pipe(
            Effect.tapError(({ message }) =>
              Effect.logWarning(`the token of ${request.participantId} is not renewed yet, trying again: ${message}`)
            ),
            Effect.retry(jitteredBackoff(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS)),
            // Every failure is tried again for ever.
            Effect.orDie
          )
          yield* Ref.set(last, token)
          return before === undefined || before.expiresAt === token.expiresAt ? [] : [Redacted.value(token.token)]
        })
        return Stream.fromEffectRepeat(next).pipe(Stream.flatMap(Stream.fromIterable))
      })
    )
  return AgentTokens.of({ tokenFor, renewals })
})

/** When a token is to be replaced, epoch ms: in time for a try or two, however short its life is. */
const dueAt = ({ expiresAt, lifeMs }: CachedToken) => expiresAt - Math.min(RENEW_EARLY_MS, lifeMs / 3)

/**
 * Default scopes with the overrides of PROTO_AUTH_SCOPES_JSON for this sender, values as they were written
 * (docs/internals/launch.md#tokens). The empty mode is that of Signal and Progress envelopes.
 */
const scopesOf = (
  { participantId, modeName, isInitiator, isControl = false, isObserver = false, isSeat = false }: TokenRequest,
  auth: AuthSettings
): Readonly<Record<string, unknown>> => {
  const scopes: Record<string, unknown> = {
    can_start_sessions: isInitiator,
    is_observer: isObserver,
    // Control calls need the name of the initiator, and no mode.
    allowed_modes: isControl || isObserver ? [] : isSeat ? [modeName] : [modeName, ""],
    ...(Object.hasOwn(auth.scopeOverrides, participantId) ? auth.scopeOverrides[participantId] : {})
  }
  return Object.fromEntries(Object.entries(scopes).filter(([, value]) => value !== null))
}
