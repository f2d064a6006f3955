import type { IngestHealth } from "@runplane/api"
import { receivedTelemetry, SHADOW_ATTRIBUTE, shadowOf, type Telemetry } from "@runplane/domain"
import {
  type BodyMalformed,
  BodyTooLarge,
  type ContentCoding,
  type Dropped,
  inflateBody,
  OTLP_LIMITS,
  type OtlpEncoding,
  type OtlpSignal,
  readEach,
  receiveBody,
  releaseBody,
  TooManyParts
} from "@runplane/otlp"
import { makeFairTurns, RequestFacts, type TurnRefused } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Record from "effect/Record"
import type * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { Redactor } from "../../platform/deployment/Redactor.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { sha256Hex } from "../../platform/Sha256.ts"
import { DROPPED_BECAUSE, Drops } from "./Drops.ts"
import { type ExportRefused, makeExportBudgets } from "./ExportBudgets.ts"
import { GrpcState } from "./GrpcReceiver.ts"
import { IngestSettings } from "./IngestSettings.ts"
import { JoinTokens } from "./JoinTokens.ts"
import { type SourceSize, SpanInbox, type SpanInboxEntry, spanInboxEntry, type TraceRef } from "./SpanInbox.ts"
import { SpanProcessor } from "./SpanProcessor.ts"

/** An inflated body may have so many times the bytes of the largest body as sent, up to a bound. */
const INFLATED = 8
const MOST_INFLATED_BYTES = 32 * 1024 * 1024
/** Requests whose bodies are in memory at the same time. */
const CONCURRENT_REQUESTS = 8
/** Those of one caller: bodies that do not arrive leave others free. */
const REQUESTS_OF_CALLER = 6
/** A body that inflates to more, or has more, is read alone: memory has the spans of one of them. */
const LARGE_BODY_BYTES = 4 * 1024 * 1024
/** Bodies with more bytes as sent that arrive at the same time, and those of one caller. */
const LARGE_ARRIVALS = 3
const LARGE_ARRIVALS_OF_CALLER = 2
/** The spans of a request may have so many times the bytes of its largest inflated body: each repeats its resource. */
const STORED = 2
/** A body arrives within this time. */
const ARRIVAL = "30 seconds"
/** The size of the span inbox is read again after so long; until then own rows are added. Milliseconds. */
const SIZE_TTL_MS = 1_000

/**
 * A source may have so many times the bytes waiting that are free: one source fills three quarters of the span inbox,
 * and there is always capacity for another one.
 */
const SHARE_OF_FREE = 3

const NOTHING_STORED = { stored: 0, beyond: 0, deleted: 0 }

const NO_TOKEN = { sessionId: undefined, shadow: undefined, refusal: undefined }

/** Spans with such a token are received as those without one. */
const REFUSED_TOKENS = {
  token_invalid: "the token in x-runplane-join is not valid: spans join no run by it",
  token_expired: "the token in x-runplane-join has expired: spans join no run by it"
}

const BEYOND_BYTES = "the spans and log records of a request have too many bytes with their resources"

const WITHOUT_SPAN = "log records without a span, and without the session (session.id) of an agent, belong to no run"

const PARTS = {
  groups: "groups of resources or scopes",
  attributes: "attributes",
  events: "events",
  links: "links",
  values: "ends of values with too many members"
}

/** What a request lost beside whole spans; empty without any. */
const droppedText = (dropped: Dropped): string => {
  const parts = Record.toEntries(dropped).filter(([, count]) => count > 0)
  return parts.length === 0
    ? ""
    : `dropped beyond the limits: ${parts.map(([part, count]) => `${count} ${PARTS[part]}`).join(", ")}`
}

/** The token of a shadow says which one has sent the telemetry, whatever its exporter states. */
const ofShadow = (telemetry: Telemetry, shadow: string | undefined): Telemetry =>
  shadow === undefined ? telemetry : { ...telemetry, resource: { ...telemetry.resource, [SHADOW_ATTRIBUTE]: shadow } }

/** The span inbox has its bound of bytes, or a body does not arrive. */
export class SpanInboxFull extends Data.TaggedError("SpanInboxFull") {}

/** An export request as its headers describe it. */
export interface ExportRequest<E> {
  readonly signal: OtlpSignal
  readonly encoding: OtlpEncoding
  readonly coding: ContentCoding | undefined
  readonly body: Stream.Stream<Uint8Array, E>
  /** The name of the caller's key. */
  readonly source: string
  /** The caller that budgets and turns count: the key, or the network of a caller without one. */
  readonly client: string
  /** Lets the spans join the run of a session, when it is valid. */
  readonly joinToken?: string | undefined
}

/** Why a request is refused. */
export type Refusal =
  | BodyTooLarge
  | BodyMalformed
  | ExportRefused
  | SpanInboxFull
  | SqlError
  | TooManyParts
  | TurnRefused

/** What a request loses; without any, everything is received. */
export interface Rejected {
  readonly rejected: number
  readonly message: string
}

/** Receives export requests: reads them, stores them in the span inbox, and wakes the processor after the commit. */
export class Receiver extends Context.Service<
  Receiver,
  {
    readonly receive: <E>(request: ExportRequest<E>) => Effect.Effect<Rejected | undefined, E | Refusal>
    /** What waits of each source, the one that has waited the longest first. */
    readonly sources: Effect.Effect<ReadonlyArray<SourceSize>, SqlError>
    /** The span inbox of all processes; undefined where nothing is received. */
    readonly health: Effect.Effect<IngestHealth | undefined, SqlError>
  }
>()("runplane/control-plane/Receiver") {
  static readonly layer = Layer.effect(
    Receiver,
    Effect.gen(function* () {
      const processor = yield* SpanProcessor
      const { drop, refuse } = yield* Drops
      const spanInbox = yield* SpanInbox
      const grpc = yield* GrpcState
      const tokens = yield* JoinTokens
      const metrics = yield* Metrics
      const redactor = yield* Redactor
      const { dropsContent, spanInboxBytes, isEnabled, keepUser, maxBodyBytes, tracesPerRequest } =
        yield* IngestSettings
      const budgets = yield* makeExportBudgets
      const lane = makeFairTurns("exports", CONCURRENT_REQUESTS, { ofCaller: REQUESTS_OF_CALLER })
      const largeLane = makeFairTurns("large exports", 1)
      const arrivals = makeFairTurns("large bodies", LARGE_ARRIVALS, { ofCaller: LARGE_ARRIVALS_OF_CALLER })
      const limits = { ...OTLP_LIMITS, traces: tracesPerRequest }
      const maxInflatedBytes = Math.max(maxBodyBytes, Math.min(INFLATED * maxBodyBytes, MOST_INFLATED_BYTES))
      const options = {
        redactor,
        content: dropsContent ? ("drop" as const) : ("keep" as const),
        keepUser,
        sha256: sha256Hex
      }

      const counts = { received: 0, rejected: 0, duplicates: 0 }

      /** The bytes as read last, with what this process has stored since. */
      let known = { readAt: Number.NEGATIVE_INFINITY, bytes: 0, bytesOf: new Map<string, number>() }
      const size = Effect.gen(function* () {
        const readAt = yield* Clock.currentTimeMillis
        const read = yield* spanInbox.size
        known = {
          readAt,
          bytes: read.bytes,
          bytesOf: new Map(read.sources.map(({ bytes, source }) => [source, bytes]))
        }
        metrics.otlpInbox(read)
        return read
      })
      const added = (source: string, bytes: number) => {
        known.bytes += bytes
        known.bytesOf.set(source, (known.bytesOf.get(source) ?? 0) + bytes)
      }
      const checkCapacity = Effect.fnUntraced(function* (source: string) {
        if ((yield* Clock.currentTimeMillis) - known.readAt > SIZE_TTL_MS) yield* size
        const free = spanInboxBytes - known.bytes
        if (free <= 0 || (known.bytesOf.get(source) ?? 0) >= SHARE_OF_FREE * free) return yield* new SpanInboxFull()
      })

      /** Reads a body, and stores what it brings. */
      const read = Effect.fnUntraced(function* (
        { encoding, joinToken, signal, source }: Omit<ExportRequest<never>, "body">,
        body: Buffer
      ) {
        const joins = joinToken === undefined ? NO_TOKEN : yield* tokens.check(joinToken)
        const kept: Array<SpanInboxEntry> = []
        const traces = new Map<string, TraceRef>()
        let keptBytes = 0
        const take = (received: Telemetry) => {
          const telemetry = ofShadow(received, joins.shadow)
          // A log record of a shadow states nothing of the run.
          if (telemetry.kind === "log" && shadowOf(telemetry.resource) !== undefined) return undefined
          const entry = spanInboxEntry(receivedTelemetry(options, telemetry))
          if (keptBytes + entry.bytes > STORED * maxInflatedBytes) return BEYOND_BYTES
          keptBytes += entry.bytes
          kept.push(entry)
          traces.set(entry.traceId, { source, traceId: entry.traceId })
          return undefined
        }
        const report = yield* readEach({ signal, encoding, body }, take, limits)
        if (joins.refusal !== undefined) metrics.otlpJoinRefused(joins.refusal)
        yield* budgets.addTraces(source, new Set(traces.keys()))
        const { beyond, deleted, stored } =
          kept.length === 0 ? NOTHING_STORED : yield* spanInbox.store(source, kept, joins.sessionId)
        added(source, keptBytes)
        const rejected = report.rejected + report.withoutSpan + beyond + deleted
        const received = kept.length - beyond - deleted
        yield* drop("invalid", report.rejected, source)
        yield* drop("run_full", beyond, source)
        yield* drop("run_deleted", deleted, source)
        yield* drop("without_span", report.withoutSpan, source)
        yield* drop("log_unread", report.nameless, source)
        for (const [part, count] of Record.toEntries(report.dropped)) yield* drop(part, count, source)
        const counted = { received, rejected, duplicates: received - stored }
        metrics.otlpReceived(counted)
        counts.received += counted.received
        counts.rejected += counted.rejected
        counts.duplicates += counted.duplicates
        yield* processor.received([...traces.values()])
        const reasons = [
          report.message,
          ...(report.withoutSpan > 0 ? [WITHOUT_SPAN] : []),
          ...(joins.refusal === undefined ? [] : [REFUSED_TOKENS[joins.refusal]]),
          ...(beyond > 0 ? [DROPPED_BECAUSE.run_full] : []),
          ...(deleted > 0 ? [DROPPED_BECAUSE.run_deleted] : []),
          droppedText(report.dropped)
        ]
        const message = reasons.filter((reason) => reason !== "").join("; ")
        return message === "" ? undefined : { rejected, message }
      })

      /** Reads the bytes of a body, which `inflated` makes; a large body alone. */
      const readAlone = Effect.fnUntraced(function* <E>(
        request: Omit<ExportRequest<E>, "body">,
        inflated: Effect.Effect<Buffer, BodyTooLarge | BodyMalformed>
      ) {
        const whole = yield* inflated
        return yield* Effect.ensuring(
          Effect.andThen(budgets.spend(request.client, whole.length, 1), read(request, whole)),
          Effect.sync(() => releaseBody(whole))
        )
      })

      const receiveInTurn = Effect.fnUntraced(function* <E>({ body, ...request }: ExportRequest<E>) {
        const { client, coding } = request
        // Bodies that do not arrive hold no turn that the large ones of another caller need.
        const sent = yield* receiveBody(body, maxBodyBytes, { above: LARGE_BODY_BYTES, turn: arrivals.scoped }).pipe(
          Effect.timeoutOrElse({ duration: ARRIVAL, orElse: () => Effect.fail(new SpanInboxFull()) })
        )
        const isLarge = sent.length > LARGE_BODY_BYTES
        if (coding === undefined) {
          if (isLarge) return yield* largeLane.run(readAlone(request, Effect.succeed(sent)))
          yield* budgets.spend(client, sent.length, 1)
          return yield* read(request, sent)
        }
        const small = isLarge
          ? undefined
          : yield* inflateBody(sent, coding, Math.min(LARGE_BODY_BYTES, maxInflatedBytes)).pipe(
              Effect.catchIf(
                (error) => error._tag === "BodyTooLarge" && maxInflatedBytes > LARGE_BODY_BYTES,
                () => Effect.undefined
              )
            )
        if (small === undefined) {
          return yield* largeLane.run(readAlone(request, inflateBody(sent, coding, maxInflatedBytes)))
        }
        yield* budgets.spend(client, small.length, 1)
        return yield* read(request, small)
      }, Effect.scoped)

      const receive = Effect.fn("Receiver.receive")(function* <E>(request: ExportRequest<E>) {
        yield* budgets.spend(request.client, 1)
        yield* checkCapacity(request.source)
        // A request that waits for its turn has none of its body in memory.
        return yield* lane.run(receiveInTurn(request)).pipe(
          Effect.tapError((error) =>
            error instanceof BodyTooLarge || error instanceof TooManyParts
              ? refuse(request.source, error.message)
              : Effect.void
          ),
          Effect.updateService(RequestFacts, (facts) => ({ ...facts, client: request.client }))
        )
      })
      const health = Effect.suspend(() =>
        isEnabled
          ? Effect.map(size, ({ bytes, lagSeconds, rows }) => ({
              waiting: rows,
              waitingBytes: bytes,
              limitBytes: spanInboxBytes,
              lagSeconds,
              grpc: grpc.text,
              ...counts
            }))
          : Effect.undefined
      )
      const sources = Effect.map(size, (read) =>
        read.sources.toSorted((one, other) => other.lagSeconds - one.lagSeconds)
      )
      return Receiver.of({ receive, sources, health })
    })
  )
}
