import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import type { RawEnvelope } from "../frames/RuntimeFrames.ts"
import type { Sha256 } from "../values/Sha256.ts"

/** What of a session a person was shown: everything up to an ordinal, without what was withheld. */
export const Basis = Schema.Struct({
  ordinal: Schema.Int.annotate({ description: "The last accepted message that was received; SessionStart is 1" }),
  sha256: Schema.String.annotate({ description: "Running SHA-256 over all accepted messages up to it, hexadecimal" }),
  withheld: Schema.Array(Schema.Int).annotate({
    description: "Ordinals up to it that were not shown before the answer"
  })
}).annotate({ identifier: "Basis", description: "What of the session the person was shown" })
export type Basis = typeof Basis.Type

const PREFIX = "runplane-basis-v1\n"
const LENGTH_BYTES = 4
const utf8 = new TextEncoder()

/** The running digest before the first message. */
export const basisStart = (sha256: Sha256, sessionId: string): Uint8Array => sha256(utf8.encode(PREFIX + sessionId))

/**
 * The running digest after one more accepted message: SHA-256 over the digest so far and over id, sender, type and
 * payload, each with its length in bytes before it. The time is left out: a replay can have another one than the first
 * delivery.
 */
export const basisNext = (sha256: Sha256, digest: Uint8Array, envelope: RawEnvelope): Uint8Array => {
  const { messageId, messageType, payload, sender } = envelope
  const parts = [utf8.encode(messageId), utf8.encode(sender), utf8.encode(messageType), payload]
  return sha256(digest, ...parts.flatMap((part) => [lengthOf(part), part]))
}

const lengthOf = ({ length }: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(LENGTH_BYTES)
  new DataView(bytes.buffer).setUint32(0, length)
  return bytes
}

export const basisText = (digest: Uint8Array): string => Hex.encode(digest)
