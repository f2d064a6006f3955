import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf"
import * as Result from "effect/Result"
import { InvalidPayload, type Rejection } from "./Rejection.ts"

/** Decodes a payload; bytes that are no such message are INVALID_ENVELOPE (runtime-wire section 8.1). */
export const decodePayload = <Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array
): Result.Result<MessageShape<Desc>, Rejection> =>
  Result.try({ try: () => fromBinary(schema, bytes), catch: () => InvalidPayload })

export const isBlank = (text: string): boolean => text.trim() === ""
