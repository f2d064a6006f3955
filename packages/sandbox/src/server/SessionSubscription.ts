import { create, type MessageInitShape } from "@bufbuild/protobuf"
import { Code, ConnectError } from "@connectrpc/connect"
import {
  type Envelope,
  EnvelopeSchema,
  type MACPError,
  type StreamSessionResponse,
  StreamSessionResponseSchema
} from "@runplane/runtime"
import type { AcceptedEnvelope, SessionLog } from "../core/SessionLog.ts"
import type { FaultyFrames } from "../faults/FaultyFrames.ts"

/** Inline error frames that may wait for one stream before its reader is paused. */
const INLINE_CAPACITY = 16

/**
 * The sending side of one StreamSession: follows a session's log by ordinal, mixes in inline errors, and ends when
 * closed or when the receiver lags more than `bound` envelopes behind (docs/internals/runtime.md#stream-frames).
 */
export class SessionSubscription {
  readonly #bound: number
  readonly #faults: FaultyFrames<typeof StreamSessionResponseSchema>
  readonly #inline: Array<MACPError> = []
  #log: SessionLog | undefined
  #sessionId = ""
  /** The last ordinal sent. */
  #cursor = 0
  /** Up to here it is replay: not counted as lag, and a missing client time is replaced. */
  #replayEnd = 0
  #unlisten: (() => void) | undefined
  #failure: ConnectError | undefined
  #finished = false
  #wake: (() => void) | undefined
  #onCapacity: (() => void) | undefined

  constructor(bound: number, faults: FaultyFrames<typeof StreamSessionResponseSchema>) {
    this.#bound = bound
    this.#faults = faults
  }

  get isFollowing(): boolean {
    return this.#log !== undefined
  }

  /** Sends everything after ordinal `after`, then what follows. An ordinal beyond the end just goes live. */
  follow(sessionId: string, log: SessionLog, after: number): void {
    this.#unlisten?.()
    this.#sessionId = sessionId
    this.#log = log
    this.#replayEnd = log.end
    this.#cursor = Math.min(after, log.end)
    this.#unlisten = log.listen(() => this.#wake?.())
    this.#wake?.()
  }

  /** Checks for due frames, and whether the stream has to be cut. */
  wake(): void {
    this.#wake?.()
  }

  /** Adds an inline frame; waits while too many are undelivered. */
  async sendError(error: MACPError): Promise<void> {
    this.#inline.push(error)
    this.#wake?.()
    if (this.#inline.length < INLINE_CAPACITY) return
    await new Promise<void>((resolve) => {
      this.#onCapacity = resolve
    })
  }

  /** Ends the stream with a status, after the frames that are already due. */
  fail(failure: ConnectError): void {
    this.#failure ??= failure
    this.#wake?.()
  }

  /** Ends the stream with OK, after the frames that are already due. */
  finish(): void {
    this.#finished = true
    this.#wake?.()
    this.#onCapacity?.()
  }

  async *frames(): AsyncGenerator<MessageInitShape<typeof StreamSessionResponseSchema>> {
    try {
      for (;;) {
        for (const frame of this.#due()) {
          if (this.#faults.passes()) {
            yield frame
            continue
          }
          yield* this.#faults.deliver(frame, { sessionId: this.#sessionId, messageType: messageTypeOf(frame) })
          const cut = this.#faults.cut(this.#sessionId)
          if (cut !== undefined) throw cut
        }
        const cut = this.#log === undefined ? undefined : this.#faults.cut(this.#sessionId)
        if (cut !== undefined) throw cut
        if (this.#failure !== undefined) throw this.#failure
        if (this.#finished) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.#unlisten?.()
      this.#finished = true
      this.#onCapacity?.()
    }
  }

  *#due(): Generator<StreamSessionResponse> {
    for (;;) {
      const error = this.#inline.shift()
      if (error !== undefined) {
        this.#onCapacity?.()
        yield create(StreamSessionResponseSchema, { response: { case: "error", value: error } })
        continue
      }
      const log = this.#log
      if (log === undefined || this.#cursor >= log.end) return
      if (log.end - Math.max(this.#cursor, this.#replayEnd) > this.#bound) {
        throw new ConnectError("receiver fell behind the session", Code.ResourceExhausted)
      }
      this.#cursor += 1
      const entry = log.at(this.#cursor)
      if (entry === undefined) continue
      const envelope = this.#cursor <= this.#replayEnd ? replayed(entry) : entry.envelope
      yield create(StreamSessionResponseSchema, { response: { case: "envelope", value: envelope } })
    }
  }
}

const messageTypeOf = ({ response }: StreamSessionResponse): string =>
  response.case === "envelope" ? response.value.messageType : ""

/**
 * Replay gives an envelope without a client time the time the server received it
 * (docs/internals/runtime.md#envelope-fields).
 */
const replayed = ({ envelope, receivedAt }: AcceptedEnvelope): Envelope =>
  envelope.timestampUnixMs === 0n
    ? create(EnvelopeSchema, { ...envelope, timestampUnixMs: BigInt(receivedAt) })
    : envelope
