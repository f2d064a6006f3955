import { create } from "@bufbuild/protobuf"
import { assert } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import { type Envelope, SendRequestSchema, StreamSessionRequestSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { Sandbox } from "../../src/Sandbox.ts"
import { envelope as makeEnvelope, startPayload } from "./Envelopes.ts"
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

/** Runs a test with a connection to the sandbox at hand. */
export const withClient = (test: (client: ForeignClient) => Promise<void>) =>
  Effect.gen(function* () {
    const { address } = yield* Sandbox
    const client = yield* connect(address)
    yield* Effect.promise(() => test(client))
  })

/** The gRPC status a call fails with. */
export const failure = async (call: Promise<unknown>): Promise<number> => {
  try {
    await call
  } catch (cause) {
    return Object(cause).code
  }
  return status.OK
}

/** Starts a session of the tests by its initiator. */
export const begin = (client: ForeignClient, sessionId: string) =>
  send(client, makeEnvelope("SessionStart", "m1", startPayload(), { sessionId }), lead)
