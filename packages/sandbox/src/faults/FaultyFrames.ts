import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf"
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { ConnectError } from "@connectrpc/connect"
import { GRPC_CODES } from "@runplane/domain"
import { toUpperCase } from "effect/String"
import type { FaultStatus, FaultStream } from "./Fault.ts"
import type { FaultPlan, FrameAddress } from "./FaultPlan.ts"

/** Waits; resolves after `ms` milliseconds. */
export type Sleep = (ms: number) => Promise<unknown>

/** One stream as the faults see it: which one it is, and how many frames it has delivered. */
export class FaultyFrames<Desc extends DescMessage> {
  readonly #plan: FaultPlan
  readonly #stream: FaultStream
  readonly #schema: Desc
  readonly #sleep: Sleep
  #delivered = 0

  constructor(plan: FaultPlan, stream: FaultStream, schema: Desc, sleep: Sleep) {
    this.#plan = plan
    this.#stream = stream
    this.#schema = schema
    this.#sleep = sleep
  }

  /** Whether the next frame can be sent unchanged. Counts the frame, so call it once for each. */
  passes(): boolean {
    this.#delivered += 1
    return this.#plan.isEmpty
  }

  /** What is delivered of a frame for which `passes` answered false. */
  async *deliver(
    frame: MessageInitShape<Desc>,
    address: Omit<FrameAddress, "stream">
  ): AsyncGenerator<MessageInitShape<Desc> | MessageShape<Desc>> {
    const { copies, delayMs, extraBytes } = this.#plan.treat({ stream: this.#stream, ...address })
    if (delayMs > 0) await this.#sleep(delayMs)
    const sent = extraBytes === 0 ? frame : enlarged(this.#schema, frame, extraBytes)
    for (let copy = 0; copy < copies; copy += 1) yield sent
    // A dropped frame was not delivered, a doubled one was delivered twice.
    this.#delivered += copies - 1
  }

  /** The failure to end the stream with now, if any. */
  cut(sessionId: string): ConnectError | undefined {
    if (this.#plan.isEmpty) return undefined
    return failureOf(this.#plan.cutOf(this.#stream, sessionId, this.#delivered), "the stream was cut")
  }

  /** The failure a new subscription is answered with, if any. */
  refusal(sessionId: string): ConnectError | undefined {
    if (this.#plan.isEmpty) return undefined
    return failureOf(this.#plan.refusalOf(this.#stream, sessionId), "subscriptions are refused")
  }
}

const failureOf = (status: FaultStatus | undefined, text: string): ConnectError | undefined =>
  status === undefined ? undefined : new ConnectError(text, GRPC_CODES[toUpperCase(status)])

/** A field number no message of the protocol uses. */
const PADDING_FIELD = 15_000

const enlarged = <Desc extends DescMessage>(schema: Desc, frame: MessageInitShape<Desc>, bytes: number) => {
  // A copy: the message inside may be the one that other receivers get.
  const padded = create(schema, frame)
  const data = new BinaryWriter().bytes(new Uint8Array(bytes)).finish()
  padded.$unknown = [{ no: PADDING_FIELD, wireType: WireType.LengthDelimited, data }]
  return padded
}
