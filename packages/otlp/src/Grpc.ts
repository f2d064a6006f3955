import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire"

/** Codes of gRPC. */
export const GrpcCode = { ok: 0, invalid: 3, exhausted: 8, unimplemented: 12, internal: 13, unavailable: 14 } as const

const CODES: Readonly<Record<number, number>> = {
  400: GrpcCode.invalid,
  401: 16,
  403: 7,
  404: GrpcCode.unimplemented,
  // Without a time for another try the client does not send it again.
  413: GrpcCode.exhausted,
  415: GrpcCode.invalid,
  429: GrpcCode.unavailable,
  502: GrpcCode.unavailable,
  503: GrpcCode.unavailable,
  504: GrpcCode.unavailable
}

/** The code of an HTTP status: clients send again what is `unavailable`. */
export const codeOf = (status: number): number => (status < 300 ? GrpcCode.ok : (CODES[status] ?? GrpcCode.internal))

/** Bytes before a message: whether it is compressed, and its length. */
export const PREFIX_BYTES = 5

/** The prefix of a message. */
export const readPrefix = (bytes: Buffer): { readonly isCompressed: boolean; readonly length: number } => ({
  isCompressed: bytes[0] === 1,
  length: bytes.readUInt32BE(1)
})

/** A message that is not compressed, with its prefix. */
export const framed = (message: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** The text of a `Status` message, or of an error of this service in JSON; other bytes are their text. */
export const messageIn = (body: Uint8Array, contentType: string): string => {
  const text = new TextDecoder().decode(body)
  if (contentType.startsWith("application/json")) return memberOf(text) ?? text
  try {
    const reader = new BinaryReader(body)
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag()
      if (field === 2 && type === WireType.LengthDelimited) return reader.string()
      reader.skip(type)
    }
  } catch {
    return text
  }
  return text
}

const memberOf = (text: string): string | undefined => {
  try {
    const parsed: unknown = JSON.parse(text)
    const isObject = typeof parsed === "object" && parsed !== null && "message" in parsed
    return isObject && typeof parsed.message === "string" ? parsed.message : undefined
  } catch {
    return undefined
  }
}

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"

/** `grpc-status-details-bin`: a `google.rpc.Status` with the time after which the client may send again. */
export const retryDetails = (code: number, message: string, afterSeconds: number): string => {
  const delay = new BinaryWriter().tag(1, WireType.Varint).int64(afterSeconds).finish()
  const info = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(delay).finish()
  const any = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(RETRY_INFO)
    .tag(2, WireType.LengthDelimited)
    .bytes(info)
    .finish()
  const status = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message)
    .tag(3, WireType.LengthDelimited)
    .bytes(any)
    .finish()
  return Buffer.from(status).toString("base64").replace(/=+$/, "")
}

/** Characters of a message in a trailer. */
const MOST_CHARACTERS = 512

/** A message as a trailer carries it: visible ASCII, everything else percent-encoded. */
export const trailerText = (message: string): string =>
  Array.from(new TextEncoder().encode(message.slice(0, MOST_CHARACTERS)), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
  ).join("")
