import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf"
import type { Envelope } from "@runplane/runtime"
import * as Result from "effect/Result"
import { messageTypeOf } from "./Messages.ts"

/** The accepted envelopes of a session so far, in the order of their acceptance. */
export type Session = ReadonlyArray<Envelope>

export const emptySession: Session = []

export interface Received<Payload> {
  readonly sender: string
  readonly payload: Payload
}

/** All messages of one kind. Payloads that cannot be read, say those of a newer version, count as not said. */
export const messagesOf = <Desc extends DescMessage>(
  session: Session,
  schema: Desc
): ReadonlyArray<Received<MessageShape<Desc>>> =>
  session.flatMap((envelope) => {
    if (envelope.messageType !== messageTypeOf(schema)) return []
    const payload = Result.try(() => fromBinary(schema, envelope.payload))
    return Result.isSuccess(payload) ? [{ sender: envelope.sender, payload: payload.success }] : []
  })

/** Whether `sender` has said something of this kind. */
export const hasSaid = (session: Session, sender: string, schema: DescMessage): boolean =>
  session.some((envelope) => envelope.sender === sender && envelope.messageType === messageTypeOf(schema))

/** The messages that end a session; newer runtimes show a cancellation as an envelope. */
const ENDINGS = new Set(["Commitment", "SessionCancel"])

export const isOver = (session: Session): boolean => session.some(({ messageType }) => ENDINGS.has(messageType))
