import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf"
import type { Envelope } from "@runplane/runtime"
import * as Result from "effect/Result"
import type { MessageKind } from "./Messages.ts"

/** What has been said in a session so far: its accepted envelopes, in the order of their acceptance. */
export type Session = ReadonlyArray<Envelope>

export const emptySession: Session = []

export interface Heard<Payload> {
  readonly sender: string
  readonly payload: Payload
}

/** All messages of one kind. Payloads that cannot be read, say those of a newer version, count as not said. */
export const heard = <Desc extends DescMessage>(
  session: Session,
  { messageType, schema }: MessageKind<Desc>
): ReadonlyArray<Heard<MessageShape<Desc>>> =>
  session.flatMap((envelope) => {
    if (envelope.messageType !== messageType) return []
    const payload = Result.try(() => fromBinary(schema, envelope.payload))
    return Result.isSuccess(payload) ? [{ sender: envelope.sender, payload: payload.success }] : []
  })

/** Whether `sender` has said something of this kind. */
export const hasSaid = (session: Session, sender: string, { messageType }: MessageKind<DescMessage>): boolean =>
  session.some((envelope) => envelope.sender === sender && envelope.messageType === messageType)

/** The messages that end a session; newer runtimes show a cancellation as an envelope. */
const ENDINGS = new Set(["Commitment", "SessionCancel"])

export const isOver = (session: Session): boolean => session.some(({ messageType }) => ENDINGS.has(messageType))
