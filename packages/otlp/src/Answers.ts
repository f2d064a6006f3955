import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import type { OtlpEncoding, OtlpSignal } from "./Read.ts"

/** What an export request loses. */
export interface PartialSuccess {
  /** Spans, log records or data points. */
  readonly rejected: number
  readonly message: string
}

const REJECTED = { traces: "rejectedSpans", logs: "rejectedLogRecords", metrics: "rejectedDataPoints" } as const

/** Codes of gRPC that a status carries. */
const CODES = { 400: 3, 401: 16, 403: 7, 404: 5, 413: 3, 415: 3, 429: 8, 503: 14 } as const
export type StatusOf = keyof typeof CODES

export const contentType = (encoding: OtlpEncoding): string =>
  encoding === "json" ? "application/json" : "application/x-protobuf"

/** The body of a 200: empty, or with what was rejected. */
export const encodeExportAnswer = (
  signal: OtlpSignal | "metrics",
  encoding: OtlpEncoding,
  partial?: PartialSuccess
): Uint8Array => {
  if (encoding === "json") {
    const { message, rejected } = partial ?? { rejected: 0, message: "" }
    const partialSuccess = { [REJECTED[signal]]: String(rejected), errorMessage: message }
    return jsonBytes(partial === undefined ? {} : { partialSuccess })
  }
  const writer = new BinaryWriter()
  if (partial !== undefined) {
    writer.tag(1, WireType.LengthDelimited).fork()
    if (partial.rejected > 0) writer.tag(1, WireType.Varint).int64(partial.rejected)
    if (partial.message !== "") writer.tag(2, WireType.LengthDelimited).string(partial.message)
    writer.join()
  }
  return writer.finish()
}

/** The body of a refusal. */
export const encodeStatus = (encoding: OtlpEncoding, status: StatusOf, message: string): Uint8Array => {
  if (encoding === "json") return jsonBytes({ code: CODES[status], message })
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(CODES[status])
    .tag(2, WireType.LengthDelimited)
    .string(message)
    .finish()
}

const jsonBytes = (body: object): Uint8Array => new TextEncoder().encode(JSON.stringify(body))
