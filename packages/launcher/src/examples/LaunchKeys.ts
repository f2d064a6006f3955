import { createHash } from "node:crypto"
import type { ExampleRun, ExampleRunRequest, LauncherError } from "@runplane/api"
import { canonicalJson, uuidOfHash } from "@runplane/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { keyExhausted, keyUsed, launchesFull } from "../common/LaunchErrors.ts"
import type { FoundRun, LaunchedRuns } from "../control-plane/LaunchedRuns.ts"

/** Most keys that are remembered, and most bytes of their answers; the control plane knows the runs of others. */
const MOST_KEYS = 1_000
const MOST_BYTES = 16 * 1024 * 1024
/** Launches of one key that may fail before their sessions are open. */
const MOST_ATTEMPTS = 100

/** A key in the metadata of its run. */
export interface LaunchKey {
  readonly key: string
  /** Hash of the request without the key. */
  readonly request: string
}

/** One launch of a key: the session that it has to have. */
export interface KeyedLaunch extends LaunchKey {
  readonly sessionId: string
}

interface Entry {
  readonly request: string
  readonly answer: Deferred.Deferred<ExampleRun, LauncherError>
  /** Launches of the key that have failed. */
  readonly failed: number
  /** Of the answer; undefined while the launch is under way, 0 after a failure. */
  bytes: number | undefined
}

export interface LaunchKeysOptions {
  readonly runs: Pick<LaunchedRuns["Service"], "find">
  readonly launch: (
    request: ExampleRunRequest,
    keyed: KeyedLaunch,
    requester: string | undefined
  ) => Effect.Effect<ExampleRun, LauncherError>
  /** The answer for a run that an earlier launch of the key has made. */
  readonly replay: (
    request: ExampleRunRequest,
    keyed: KeyedLaunch,
    run: FoundRun
  ) => Effect.Effect<ExampleRun, LauncherError>
}

/**
 * Launches with an `idempotencyKey` (docs/internals/launch.md#launch-keys). The session's id follows from the key, so
 * that a restarted service finds the run of an earlier launch at the control plane, and the runtime opens the session
 * once. A launch that fails before its session is open frees its key for the next attempt.
 */
export const makeLaunchKeys = ({ launch, replay, runs }: LaunchKeysOptions, service: Scope.Scope) => {
  /** The oldest first. */
  const entries = new Map<string, Entry>()
  let bytes = 0

  /** Forgets the oldest settled keys. False when all keys are under way. */
  const freeCapacity = (): boolean => {
    for (const [key, entry] of entries) {
      if (entries.size < MOST_KEYS && bytes <= MOST_BYTES) break
      if (entry.bytes === undefined) continue
      bytes -= entry.bytes
      entries.delete(key)
    }
    return entries.size < MOST_KEYS
  }

  const settle = (key: string, entry: Entry, exit: Exit.Exit<ExampleRun, LauncherError>) =>
    Effect.suspend(() => {
      if (Exit.isSuccess(exit)) {
        entry.bytes = Buffer.byteLength(JSON.stringify(exit.value))
        bytes += entry.bytes
        freeCapacity()
      } else {
        // A next request is another launch, unless the control plane has a run whose session was open.
        entry.bytes = 0
        entries.set(key, { ...entry, failed: entry.failed + 1 })
      }
      return Deferred.done(entry.answer, exit)
    })

  /** The first session of the key that is free, or has a run that has begun. */
  const begin = Effect.fnUntraced(function* (
    key: string,
    request: ExampleRunRequest,
    entry: Entry,
    requester: string | undefined
  ) {
    for (let attempt = entry.failed; attempt < MOST_ATTEMPTS; attempt++) {
      const keyed = { key, request: entry.request, sessionId: sessionIdOf(key, attempt) }
      const found = yield* runs
        .find(keyed.sessionId)
        .pipe(
          Effect.catchTag("NoAnswer", ({ message }) =>
            Effect.as(
              Effect.logWarning(`the control plane did not say whether a launch with this key has a run: ${message}`),
              undefined
            )
          )
        )
      if (found === undefined) return yield* launch(request, keyed, requester)
      if (found.request !== undefined && found.request !== entry.request) return yield* keyUsed(key)
      if (!found.isUnopened) return yield* replay(request, keyed, found)
    }
    return yield* keyExhausted(key, MOST_ATTEMPTS)
  })

  return Effect.fnUntraced(function* (key: string, given: ExampleRunRequest, requester?: string) {
    const { idempotencyKey, ...request } = given
    const hash = requestHash(request)
    const known = entries.get(key)
    if (known !== undefined && known.request !== hash) return yield* keyUsed(key)
    if (known !== undefined && known.bytes !== 0) return yield* Deferred.await(known.answer)
    if (known === undefined && !freeCapacity()) return yield* launchesFull("too many launches with keys", entries.size)
    const entry: Entry = {
      request: hash,
      answer: Deferred.makeUnsafe<ExampleRun, LauncherError>(),
      failed: known?.failed ?? 0,
      bytes: undefined
    }
    entries.set(key, entry)
    // It goes on when the caller disconnects: that is when callers repeat.
    yield* Effect.forkIn(
      Effect.onExit(begin(key, request, entry, requester), (exit) => settle(key, entry, exit)),
      service
    )
    return yield* Deferred.await(entry.answer)
  })
}

/** Equal for bodies that mean the same, whatever the order of their keys. */
const requestHash = (request: ExampleRunRequest): string => sha256(canonicalJson(JSON.parse(JSON.stringify(request))))

/** A UUID of version 4 in form, as every session of a launch has. */
const sessionIdOf = (key: string, attempt: number): string =>
  uuidOfHash(sha256(JSON.stringify(["runplane launch", key, attempt])), 4)

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
