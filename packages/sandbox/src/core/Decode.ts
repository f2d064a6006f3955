import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf"
import * as Result from "effect/Result"
import { InvalidPayload, type Rejection } from "./Rejection.ts"

/** Decodes a payload; bytes that are not such a message are INVALID_ENVELOPE (docs/internals/runtime.md#commitment). */
export const decodePayload = <Desc extends DescMessage>(
  schema: Desc,
  bytes: Uint8Array
): Result.Result<MessageShape<Desc>, Rejection> =>
  Result.try({ try: () => fromBinary(schema, bytes), catch: () => InvalidPayload })

export const isBlank = (text: string): boolean => text.trim() === ""
