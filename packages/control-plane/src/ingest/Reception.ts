import { createHash } from "node:crypto"
import type { IngestHealth } from "@runplane/api"
import { receivedTelemetry } from "@runplane/domain"
import {
  type BodyMalformed,
  type BodyTooLarge,
  type OtlpEncoding,
  type OtlpSignal,
  readBody,
  readTelemetry
} from "@runplane/otlp"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import type * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { Redactor } from "../event-log/append/Redactor.ts"
import { Metrics } from "../platform/metrics/Metrics.ts"
import { Drain } from "./Drain.ts"
import { DROPPED_BECAUSE, Drops } from "./Drops.ts"
import { Inbox, type InboxEntry, inboxEntry, type TraceRef } from "./Inbox.ts"
import { IngestSettings } from "./IngestSettings.ts"

/** An inflated body may have so many times the bytes of the largest body as sent. */
const INFLATED = 8
/** Requests whose bodies are in memory at the same time, and requests of a process with those that wait. */
const CONCURRENT_REQUESTS = 8
const MOST_REQUESTS = 100
/** Spans and log records that are prepared at a time, before the thread is given back. */
const SLICE = 250
/** The size of the inbox is read again after so long; until then own rows are added. Milliseconds. */
const SIZE_TTL_MS = 1_000

/**
 * A source may have so many times the bytes waiting that are free: one source fills three quarters of the inbox, and
 * there is always capacity for another one.
 */
const SHARE_OF_FREE = 3

const NOTHING_STORED = { stored: 0, beyond: 0, deleted: 0 }

/** The inbox has its bound of bytes, or too many requests are being read. */
export class InboxFull extends Data.TaggedError("InboxFull") {}

/** An export request as its headers describe it. */
export interface ExportRequest<E> {
  readonly signal: OtlpSignal
  readonly encoding: OtlpEncoding
  readonly gzip: boolean
  readonly body: Stream.Stream<Uint8Array, E>
  /** The name of the caller's key. */
  readonly source: string
}

/** What a request loses; without any, everything is received. */
export interface Rejected {
  readonly rejected: number
  readonly message: string
}

/** Receives export requests: reads them, stores them in the inbox, and wakes the drain after the commit. */
export class Reception extends Context.Service<
  Reception,
  {
    readonly receive: <E>(
      request: ExportRequest<E>
    ) => Effect.Effect<Rejected | undefined, E | BodyTooLarge | BodyMalformed | InboxFull | SqlError>
    /** The inbox of all processes; undefined where nothing is received. */
    readonly health: Effect.Effect<IngestHealth | undefined, SqlError>
  }
>()("runplane/control-plane/Reception") {
  static readonly layer = Layer.effect(
    Reception,
    Effect.gen(function* () {
      const drain = yield* Drain
      const { drop } = yield* Drops
      const inbox = yield* Inbox
      const metrics = yield* Metrics
      const redactor = yield* Redactor
      const { dropsContent, inboxBytes, isEnabled, keepUser, maxBodyBytes } = yield* IngestSettings
      const slots = yield* Semaphore.make(CONCURRENT_REQUESTS)
      const options = {
        redactor,
        content: dropsContent ? ("drop" as const) : ("keep" as const),
        keepUser,
        sha256: (text: string) => createHash("sha256").update(text).digest("hex")
      }

      const counts = { received: 0, rejected: 0, duplicates: 0 }

      /** The bytes as read last, with what this process has stored since. */
      let known = { readAt: Number.NEGATIVE_INFINITY, bytes: 0, bytesOf: new Map<string, number>() }
      const size = Effect.gen(function* () {
        const readAt = yield* Clock.currentTimeMillis
        const read = yield* inbox.size
        known = { readAt, bytes: read.bytes, bytesOf: new Map(read.bytesOf) }
        metrics.otlpInbox(read)
        return read
      })
      const added = (source: string, bytes: number) => {
        known.bytes += bytes
        known.bytesOf.set(source, (known.bytesOf.get(source) ?? 0) + bytes)
      }
      const checkCapacity = Effect.fnUntraced(function* (source: string) {
        if ((yield* Clock.currentTimeMillis) - known.readAt > SIZE_TTL_MS) yield* size
        const free = inboxBytes - known.bytes
        if (free <= 0 || (known.bytesOf.get(source) ?? 0) >= SHARE_OF_FREE * free) return yield* new InboxFull()
      })

      const read = Effect.fnUntraced(function* <E>({ body, encoding, gzip, signal, source }: ExportRequest<E>) {
        const bytes = yield* readBody(body, { gzip, maxBytes: maxBodyBytes, maxInflatedBytes: INFLATED * maxBodyBytes })
        const { ignored, message, rejected: invalid, telemetry } = yield* readTelemetry(signal, encoding, bytes)
        const kept: Array<InboxEntry> = []
        for (let from = 0; from < telemetry.length; from += SLICE) {
          if (from > 0) yield* Effect.yieldNow
          for (const one of telemetry.slice(from, from + SLICE)) kept.push(inboxEntry(receivedTelemetry(options, one)))
        }
        const { beyond, deleted, stored } = kept.length === 0 ? NOTHING_STORED : yield* inbox.store(source, kept)
        added(source, bytes.length)
        const rejected = invalid + beyond + deleted
        const received = kept.length - beyond - deleted
        yield* drop("invalid", invalid, source)
        yield* drop("run_full", beyond, source)
        yield* drop("run_deleted", deleted, source)
        yield* drop("without_span", ignored, source)
        const counted = { received, rejected, duplicates: received - stored }
        metrics.otlpReceived(counted)
        counts.received += counted.received
        counts.rejected += counted.rejected
        counts.duplicates += counted.duplicates
        const traces = new Map(kept.map(({ traceId }): [string, TraceRef] => [traceId, { source, traceId }]))
        yield* drain.received([...traces.values()])
        const reasons = [
          message,
          ...(beyond > 0 ? [DROPPED_BECAUSE.run_full] : []),
          ...(deleted > 0 ? [DROPPED_BECAUSE.run_deleted] : [])
        ]
        return rejected === 0 ? undefined : { rejected, message: reasons.filter((why) => why !== "").join("; ") }
      })

      let requests = 0
      const receive = Effect.fn("Reception.receive")(function* <E>(request: ExportRequest<E>) {
        yield* checkCapacity(request.source)
        if (requests >= MOST_REQUESTS) return yield* new InboxFull()
        requests += 1
        // A request that waits has none of its body in memory.
        return yield* Effect.ensuring(
          slots.withPermits(1)(read(request)),
          Effect.sync(() => (requests -= 1))
        )
      })
      const health = Effect.suspend(() =>
        isEnabled
          ? Effect.map(size, ({ bytes, lagSeconds, rows }) => ({
              waiting: rows,
              waitingBytes: bytes,
              limitBytes: inboxBytes,
              lagSeconds,
              ...counts
            }))
          : Effect.undefined
      )
      return Reception.of({ receive, health })
    })
  )
}
