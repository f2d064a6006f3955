import type { CanonicalEvent } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** The remaining time of a session. It pauses while the session is suspended. */
export interface TimeLeft {
  readonly ms: number
  readonly isPaused: boolean
}

const Descriptor = Schema.Struct({
  executionRequest: Schema.Struct({ session: Schema.Struct({ ttlMs: Schema.Finite }) })
})
const readDescriptor = Schema.decodeUnknownOption(Descriptor)

/** The lifetime of the session in the descriptor of its run, milliseconds. */
const ttlOf = (metadata: Schema.JsonObject): number | undefined => {
  const read = readDescriptor(metadata)
  return read._tag === "Some" ? read.value.executionRequest.session.ttlMs : undefined
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined

/**
 * The remaining time by the deadline that the runtime has reported, else by the lifetime and the start of the session.
 * Suspensions since then extend it (docs/reference/runs.md#pause). `startedAt`: where the events lack the start.
 */
export const timeLeftOf = (
  events: Iterable<CanonicalEvent>,
  run: { readonly metadata: Schema.JsonObject; readonly startedAt?: string | undefined },
  now: number
): TimeLeft | undefined => {
  let ttl = ttlOf(run.metadata)
  let start: number | undefined
  let deadline: number | undefined
  /** Suspensions that the deadline does not include yet. */
  let suspended = 0
  let pausedAt: number | undefined
  const pause = (ts: string) => {
    pausedAt ??= Date.parse(ts)
  }
  const resume = (ts: string) => {
    if (pausedAt !== undefined) suspended += Date.parse(ts) - pausedAt
    pausedAt = undefined
  }
  for (const event of events) {
    if (event.type === "message.received" && event.data.sessionStart !== undefined) {
      start ??= Date.parse(event.ts)
      ttl = numberIn(event.data.payload["ttlMs"]) ?? numberIn(event.data.payload["ttl_ms"]) ?? ttl
    } else if (event.type === "run.suspended") pause(event.ts)
    else if (event.type === "run.resumed") resume(event.ts)
    else if (event.type === "session.state.changed") {
      if (event.data.state === "SUSPENDED") pause(event.ts)
      if (event.data.state === "OPEN") resume(event.ts)
      if (event.data.expiresAtUnixMs !== undefined) {
        deadline = event.data.expiresAtUnixMs
        suspended = 0
        if (pausedAt !== undefined) pausedAt = Date.parse(event.ts)
      }
    }
  }
  start ??= run.startedAt === undefined ? undefined : Date.parse(run.startedAt)
  const end = deadline ?? (start === undefined || ttl === undefined ? undefined : start + ttl)
  if (end === undefined) return undefined
  return { ms: Math.max(0, end + suspended - (pausedAt ?? now)), isPaused: pausedAt !== undefined }
}
