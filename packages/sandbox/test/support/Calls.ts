import { create } from "@bufbuild/protobuf"
import { assert } from "@effect/vitest"
import { type Envelope, SendRequestSchema, StreamSessionRequestSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { ForeignClient } from "./ForeignClient.ts"

export const lead = "agent://lead"
export const risk = "agent://risk"
export const observer = "control-plane"

export const connect = (address: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new ForeignClient(address)),
    (client) => Effect.sync(() => client.close())
  )

export const send = async (client: ForeignClient, envelope: Envelope, token: string) => {
  const { ack } = await client.unary("send", create(SendRequestSchema, { envelope }), token)
  assert(ack !== undefined)
  return ack
}

/** `ok`, `duplicate`, or the code of the refusal. */
export const verdictOf = async (client: ForeignClient, envelope: Envelope, token: string): Promise<string> => {
  const { duplicate, error, ok } = await send(client, envelope, token)
  return ok ? (duplicate ? "duplicate" : "ok") : (error?.code ?? "")
}

export const subscribe = (subscribeSessionId: string, afterSequence = 0n) =>
  create(StreamSessionRequestSchema, { subscribeSessionId, afterSequence })

export const submit = (envelope: Envelope) => create(StreamSessionRequestSchema, { envelope })
