import { type IncomingMessage, request } from "node:http"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { EventCounter, FrameScanner } from "./FrameScanner.ts"
import { makeStreamProgress, type StreamBroken } from "./StreamProgress.ts"

/** The stream of a run. */
export const streamOf = (runId: string): string => `/runs/${runId}/stream`
/** The stream of the whole log, which begins with a heartbeat. */
export const LOG_STREAM = "/events/stream"

/** A service, and what a request to it has to carry. */
export interface StreamTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface EventStream {
  /** Waits until the stream has brought so many events in all. */
  readonly brought: (events: number) => Effect.Effect<void, StreamBroken>
  /** Bytes that came so far. */
  readonly bytes: () => number
}

/**
 * Called for each event with the bytes of its frame and the microsecond of its arrival, by the monotonic clock.
 */
export type EventListener = (frame: Buffer, receivedMicros: number) => void

const OK = 200
const NANOS_PER_MICRO = 1_000n

/**
 * Follows an event stream over the real port, on a connection of its own, until the scope closes. Answers when
 * something has come, from when on nothing is missed. Apart from the reader of the tests because it shares the
 * machine with what it measures: it decodes nothing, and without a listener it only counts.
 */
export const followEvents = Effect.fnUntraced(function* (
  { headers, url }: StreamTarget,
  path: string,
  listener?: EventListener
) {
  const clock = yield* Clock.Clock
  const progress = yield* makeStreamProgress
  const scanner = new FrameScanner()
  const counter = new EventCounter()
  let events = 0
  let bytes = 0

  const receive = (chunk: Buffer) => {
    const now = Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MICRO)
    bytes += chunk.length
    if (listener === undefined) {
      counter.push(chunk)
      events = counter.events
    } else {
      for (const frame of scanner.push(chunk)) {
        events += 1
        listener(frame, now)
      }
    }
    if (listener === undefined || scanner.frames > 0) progress.open()
    progress.reach(events)
  }
  const follow = (response: IncomingMessage) => {
    if (response.statusCode !== OK) return progress.broken(`status ${response.statusCode}`)
    response.on("data", receive)
    response.once("end", () => progress.broken("it ended"))
    response.once("error", ({ message }) => progress.broken(message))
  }

  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const outgoing = request(`${url}${path}`, { agent: false, headers }, follow)
      outgoing.on("error", ({ message }) => progress.broken(message))
      outgoing.end()
      return outgoing
    }),
    (outgoing) => Effect.sync(() => outgoing.destroy())
  )
  yield* progress.opened
  return { brought: progress.brought, bytes: () => bytes } satisfies EventStream
})

/** The same of the control plane under measurement. */
export const openEventStream = Effect.fnUntraced(function* (path: string, listener?: EventListener) {
  return yield* followEvents(yield* ControlPlaneProcess, path, listener)
})
