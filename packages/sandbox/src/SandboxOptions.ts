import { PINNED_RELEASE, type Release } from "@runplane/domain"
import { DEFAULT_MAX_PAYLOAD_BYTES } from "./core/EnvelopeShape.ts"

/** Per sender in a sliding minute; exceeding answers RATE_LIMITED (docs/internals/runtime.md#runtime-limits). */
export interface RateLimitOptions {
  readonly sessionStartsPerMinute: number
  /** Signal and Progress count too. */
  readonly messagesPerMinute: number
}

/** `off` is how releases before 0.11 behave. */
export const RECEIPT_MODES = ["signed", "unsigned", "off"] as const
export type ReceiptMode = (typeof RECEIPT_MODES)[number]

/** How the sandbox behaves. Every field has a default, see `DEFAULT_OPTIONS`. */
export interface SandboxOptions {
  readonly host: string
  /** 0 takes a free port; `Sandbox.address` names it. */
  readonly port: number
  /** Undelivered envelopes a StreamSession receiver may have before it ends with RESOURCE_EXHAUSTED. */
  readonly sessionBuffer: number
  /** The same for WatchSignals. */
  readonly signalBuffer: number
  /** The same for WatchSessions, after the initial sync. */
  readonly lifecycleBuffer: number
  readonly maxPayloadBytes: number
  /** HTTP/2 streams of one connection. */
  readonly maxConcurrentStreams: number
  /** Undefined: no limits, so that benchmarks run at full speed. */
  readonly rateLimits: RateLimitOptions | undefined
  /** Milliseconds between two checks for expired and outlived sessions. */
  readonly sweepIntervalMs: number
  /**
   * Milliseconds, from its start, that an ended session can still be read
   * (docs/internals/runtime.md#session-retention).
   */
  readonly retentionMs: number
  /**
   * Drop the history of a session when it ends, as runtimes with a compacting store do
   * (docs/internals/runtime.md#compaction).
   */
  readonly compactOnTerminal: boolean
  /** The release of the reference runtime whose rules are followed. */
  readonly release: Release
  /** Show cancel, suspend and resume as envelopes on the stream, which no release up to the pinned one does. */
  readonly annotateStream: boolean
  /**
   * Let a policy denial escape as the status FAILED_PRECONDITION with its details in the trailer, on Send and
   * StreamSession, instead of an acknowledgement or an inline frame (docs/internals/runtime.md#denial-details).
   */
  readonly denialsAsStatus: boolean
  /** Whether receipts of decisions are issued, and signed with a key of the process. */
  readonly receipts: ReceiptMode
  /** Development credentials: whether the identities of `observers` may observe. Real runtimes allow none. */
  readonly devObserver: boolean
  readonly observers: ReadonlyArray<string>
}

export const DEFAULT_OPTIONS: SandboxOptions = {
  host: "127.0.0.1",
  port: 50_051,
  sessionBuffer: 256,
  signalBuffer: 256,
  lifecycleBuffer: 1_024,
  maxPayloadBytes: DEFAULT_MAX_PAYLOAD_BYTES,
  maxConcurrentStreams: 128,
  rateLimits: undefined,
  sweepIntervalMs: 250,
  retentionMs: 3_600_000,
  compactOnTerminal: false,
  release: PINNED_RELEASE,
  annotateStream: false,
  denialsAsStatus: false,
  receipts: "signed",
  devObserver: true,
  observers: ["macp-control-plane", "control-plane", "runplane-control-plane"]
}

/** The limits a real runtime starts with, for tests of clients that must cope with them. */
export const REAL_RATE_LIMITS: RateLimitOptions = { sessionStartsPerMinute: 60, messagesPerMinute: 600 }
