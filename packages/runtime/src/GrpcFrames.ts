/** Bytes before each message: a flag, and the length in four bytes. */
const PREFIX_BYTES = 5
/** First size of a message that arrives in parts. */
const FIRST_BYTES = 1_024

/** First bytes that are kept of a message that is not taken: enough for the ids of an envelope. */
const HEAD_BYTES = 8_192

/** What arrives is not what gRPC sends, or more than is taken. */
export class UnreadableFrame extends Error {
  readonly reason: "INTERNAL" | "RESOURCE_EXHAUSTED"
  /** Of a message above the limit: its size in bytes, and its first bytes. */
  readonly oversized: { readonly bytes: number; readonly head: Uint8Array } | undefined

  constructor(reason: UnreadableFrame["reason"], message: string, oversized?: UnreadableFrame["oversized"]) {
    super(message)
    this.reason = reason
    this.oversized = oversized
  }
}

/** The length of a message and the message, as it is sent. */
export const framed = (message: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(PREFIX_BYTES + message.length)
  new DataView(frame.buffer).setUint32(1, message.length)
  frame.set(message, PREFIX_BYTES)
  return frame
}

/**
 * Cuts the bytes of a stream into messages. The memory of a message grows with the bytes that have arrived, whatever
 * its length prefix says, and a message never retains the chunk it arrived in.
 */
export class FrameReader {
  readonly #mostBytes: number
  #chunk: Uint8Array | undefined
  #offset = 0
  /** The chunks after the current one. */
  #later: Array<Uint8Array> | undefined
  #prefixBytes = 0
  #length = 0
  #message: Uint8Array | undefined
  #filled = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Whether the bytes so far end inside a message. */
  get isInsideMessage(): boolean {
    return this.#prefixBytes > 0
  }

  push(chunk: Uint8Array): void {
    if (this.#chunk === undefined) this.#chunk = chunk
    else if (this.#later === undefined) this.#later = [chunk]
    else this.#later.push(chunk)
  }

  /** The next message; undefined when it has not arrived yet. Throws an `UnreadableFrame`. */
  next(): Uint8Array | undefined {
    for (let chunk = this.#unread(); chunk !== undefined; chunk = this.#unread()) {
      if (this.#prefixBytes < PREFIX_BYTES) this.#readPrefix(chunk)
      const message = this.#prefixBytes < PREFIX_BYTES ? undefined : this.#readMessage(chunk)
      if (message !== undefined) return message
    }
    return undefined
  }

  /** What is left to be read of the chunk; the next one when nothing is. */
  #unread(): Uint8Array | undefined {
    while (this.#chunk !== undefined && this.#offset >= this.#chunk.length) {
      this.#chunk = this.#later?.shift()
      this.#offset = 0
      if (this.#chunk === undefined) this.#later = undefined
    }
    return this.#chunk
  }

  #readPrefix(chunk: Uint8Array): void {
    while (this.#prefixBytes < PREFIX_BYTES) {
      const byte = chunk[this.#offset]
      if (byte === undefined) return
      this.#offset += 1
      if (this.#prefixBytes === 0) assertPlain(byte)
      else this.#length = this.#length * 256 + byte
      this.#prefixBytes += 1
    }
    if (this.#length > this.#mostBytes) {
      const bytes = this.#length
      const text =
        `a message of ${bytes} bytes is larger than the ${this.#mostBytes} bytes of ` +
        "RUNTIME_MAX_RECEIVE_MESSAGE_BYTES"
      const head = chunk.slice(this.#offset, this.#offset + Math.min(bytes, HEAD_BYTES))
      throw new UnreadableFrame("RESOURCE_EXHAUSTED", text, { bytes, head })
    }
  }

  #readMessage(chunk: Uint8Array): Uint8Array | undefined {
    const length = this.#length
    const part = chunk.subarray(this.#offset, this.#offset + length - this.#filled)
    const message = this.#buffer(this.#filled + part.length)
    message.set(part, this.#filled)
    this.#offset += part.length
    this.#filled += part.length
    if (this.#filled < length) return undefined
    this.#message = undefined
    this.#filled = 0
    this.#length = 0
    this.#prefixBytes = 0
    return message
  }

  /** A buffer for so many bytes, at most for the length of the message. */
  #buffer(bytes: number): Uint8Array {
    const message = this.#message
    if (message !== undefined && message.length >= bytes) return message
    const doubled = message === undefined ? FIRST_BYTES : message.length * 2
    const grown = new Uint8Array(Math.min(this.#length, Math.max(doubled, bytes)))
    if (message !== undefined) grown.set(message.subarray(0, this.#filled))
    this.#message = grown
    return grown
  }
}

const assertPlain = (flag: number): void => {
  if (flag === 0) return
  const text = flag === 1 ? "a message is compressed, which was not offered" : `a message has the flag ${flag}`
  throw new UnreadableFrame("INTERNAL", text)
}
