import { fromBinary } from "@bufbuild/protobuf"
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import type { RawEnvelope } from "@runplane/domain"
import { StreamSessionResponseSchema } from "./gen/macp/v1/core_pb.ts"
import { EnvelopeSchema } from "./gen/macp/v1/envelope_pb.ts"
import { envelopeFromWire } from "./WireFrames.ts"

/**
 * The envelope of a StreamSession message of which only the first bytes are there, without the payload. Undefined when
 * these bytes are not an envelope with a message id and a sender: the fields come in the order of their numbers, so the
 * payload comes last.
 */
export const envelopeOfHead = (head: Uint8Array): RawEnvelope | undefined => {
  try {
    const { cut, whole } = splitAtCut(head)
    const { response } = fromBinary(StreamSessionResponseSchema, whole)
    const envelope =
      cut?.field === StreamSessionResponseSchema.field.envelope.number
        ? fromBinary(EnvelopeSchema, splitAtCut(cut.content).whole)
        : response.case === "envelope"
          ? response.value
          : undefined
    if (envelope === undefined || envelope.messageId === "" || envelope.sender === "") return undefined
    return { ...envelopeFromWire(envelope), payload: new Uint8Array() }
  } catch {
    // The bytes are whatever the peer has sent; "not an envelope" is an expected answer.
    return undefined
  }
}

/** The complete fields, and the first bytes of the field that is cut. */
const splitAtCut = (bytes: Uint8Array) => {
  const reader = new BinaryReader(bytes)
  let end = 0
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (type === WireType.LengthDelimited) {
      const length = reader.uint32()
      const start = reader.pos
      if (start + length > reader.len) {
        return { whole: bytes.subarray(0, end), cut: { field, content: bytes.subarray(start) } }
      }
      reader.pos = start + length
    } else reader.skip(type, field)
    end = reader.pos
  }
  return { whole: bytes.subarray(0, end), cut: undefined }
}
