import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** Messages held back for a slow reader, per stream; beyond it HTTP/2 flow control holds the server. */
export const STREAM_BUFFER_MESSAGES = 256

interface WireStreamOptions<Message, Frame, E> {
  /** Starts the call; the signal ends it. */
  readonly open: (signal: AbortSignal) => AsyncIterable<Message>
  /** Undefined drops the message. */
  readonly convert: (message: Message) => Frame | undefined
  /** Size of the frame's content. */
  readonly bytesOf: (frame: Frame) => number
  /** Content held back for a slow reader, besides the bound in messages; a frame beyond it is held alone. */
  readonly bufferBytes: number
  readonly onError: (cause: unknown) => E
}

/**
 * A server stream as a Stream whose chunks are whatever one read of the socket brought. An AsyncIterable cannot say
 * whether another message is at hand, so pulling it one by one costs a fiber round trip a message; a pump collects them
 * and wakes the reader after the current burst of microtasks. Closing the stream aborts the call.
 */
export const wireStream = <Message, Frame, E>(options: WireStreamOptions<Message, Frame, E>): Stream.Stream<Frame, E> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new Pump(options)),
        (pump) => Effect.sync(() => pump.close())
      ),
      (pump) => Stream.fromPull(Effect.succeed<Pull<Frame, E>>(pump.pull))
    )
  )

type Pull<Frame, E> = Effect.Effect<NonEmptyReadonlyArray<Frame>, E | Cause.Done, never>

class Pump<Message, Frame, E> {
  readonly pull: Pull<Frame, E>
  readonly #controller = new AbortController()
  #buffer: Array<Frame> = []
  #bufferedBytes = 0
  #end: Pull<Frame, E> | undefined
  #reader: (() => void) | undefined
  #writer: (() => void) | undefined
  #wakeScheduled = false

  constructor(options: WireStreamOptions<Message, Frame, E>) {
    this.pull = Effect.suspend(() => this.#take() ?? this.#wait)
    // Runs until the call ends; run() catches everything that can go wrong inside it.
    void this.#run(options)
  }

  close(): void {
    this.#controller.abort()
    this.#writer?.()
  }

  async #run({ bufferBytes, bytesOf, convert, onError, open }: WireStreamOptions<Message, Frame, E>): Promise<void> {
    try {
      for await (const message of open(this.#controller.signal)) {
        const frame = convert(message)
        if (frame === undefined) continue
        this.#buffer.push(frame)
        this.#bufferedBytes += bytesOf(frame)
        this.#wakeReader()
        if (this.#buffer.length >= STREAM_BUFFER_MESSAGES || this.#bufferedBytes >= bufferBytes) await this.#drained()
      }
      this.#end = Cause.done()
    } catch (cause) {
      this.#end = Effect.fail(onError(cause))
    }
    this.#wakeReader()
  }

  #take(): Pull<Frame, E> | undefined {
    const frames = this.#buffer
    if (!isReadonlyArrayNonEmpty(frames)) return this.#end
    this.#buffer = []
    this.#bufferedBytes = 0
    this.#writer?.()
    return Effect.succeed(frames)
  }

  readonly #wait: Pull<Frame, E> = Effect.callback((resume) => {
    this.#reader = () => resume(this.pull)
    // The pump may have delivered between the reader's look and this registration.
    if (this.#buffer.length > 0 || this.#end !== undefined) this.#wakeReader()
    return Effect.sync(() => {
      this.#reader = undefined
    })
  })

  #wakeReader(): void {
    if (this.#wakeScheduled || this.#reader === undefined) return
    this.#wakeScheduled = true
    setImmediate(() => {
      this.#wakeScheduled = false
      const reader = this.#reader
      this.#reader = undefined
      reader?.()
    })
  }

  #drained(): Promise<void> {
    if (this.#controller.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#writer = () => {
        this.#writer = undefined
        resolve()
      }
    })
  }
}
