import { constants } from "node:http2"
import { assert, describe, it } from "@effect/vitest"
import type { RuntimeClient, RuntimeErrorReason } from "@runplane/runtime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { ANSWERED, answerWith, claimed, type RawCall, sent, withRawRuntime } from "./RawRuntime.ts"

const NOTHING = new Uint8Array(0)
const MESSAGE = sent("m1")
const DENIAL = Buffer.from('{"reasons":["veto"]}').toString("base64")

interface Seen {
  readonly messages: ReadonlyArray<string>
  readonly reason: RuntimeErrorReason | "ended"
  readonly text: string
  readonly denialReasons: ReadonlyArray<string> | undefined
}

/** What a subscription brings until it ends, and how that is. */
const subscribe = (client: RuntimeClient["Service"]) =>
  Effect.gen(function* () {
    const messages: Array<string> = []
    const end = yield* client.streamSession({ sessionId: "s1", afterSequence: 0 }).pipe(
      Stream.runForEach((frame) =>
        Effect.sync(() => void messages.push(frame._tag === "Envelope" ? frame.envelope.messageId : frame.error.code))
      ),
      Effect.result
    )
    const failure = Result.isFailure(end) ? end.failure : undefined
    const seen: Seen = {
      messages,
      reason: failure?.reason ?? "ended",
      text: failure?.message ?? "",
      denialReasons: failure?.denialReasons
    }
    return seen
  })

const seenOf = (answer: (call: RawCall) => void) => withRawRuntime(answer, subscribe)

/** Answers one message, and then something happens to the connection. */
const thenSoon =
  (happens: (call: RawCall) => void) =>
  (call: RawCall): void => {
    call.stream.respond(ANSWERED)
    call.stream.write(MESSAGE)
    setTimeout(() => happens(call), 50)
  }

const ends: ReadonlyArray<readonly [string, (call: RawCall) => void, Partial<Seen>]> = [
  ["in good order", (call) => answerWith(call, MESSAGE, { "grpc-status": "0" }), { messages: ["m1"], reason: "ended" }],
  [
    "in good order, without a message",
    ({ stream }) => stream.respond({ ...ANSWERED, "grpc-status": "0" }, { endStream: true }),
    { messages: [], reason: "ended" }
  ],
  [
    "with a status behind its messages",
    (call) =>
      answerWith(call, MESSAGE, {
        "grpc-status": "5",
        "grpc-message": "no%20%E2%82%AC",
        "macp-error-details-bin": DENIAL
      }),
    { messages: ["m1"], reason: "NOT_FOUND", text: "no €", denialReasons: ["veto"] }
  ],
  [
    "with a status in its headers",
    ({ stream }) =>
      stream.respond(
        { ...ANSWERED, "grpc-status": "9", "grpc-message": "HISTORY_UNAVAILABLE", "macp-error-details-bin": DENIAL },
        { endStream: true }
      ),
    { messages: [], reason: "FAILED_PRECONDITION", text: "HISTORY_UNAVAILABLE", denialReasons: ["veto"] }
  ],
  [
    "with the reasons in its headers and the status in its trailers",
    (call) => answerWith(call, MESSAGE, { "grpc-status": "9" }, { ...ANSWERED, "macp-error-details-bin": DENIAL }),
    { reason: "FAILED_PRECONDITION", text: "", denialReasons: ["veto"] }
  ],
  ["with status 99", (call) => answerWith(call, NOTHING, { "grpc-status": "99" }), { reason: "INTERNAL" }],
  ["with status 2", (call) => answerWith(call, NOTHING, { "grpc-status": "2" }), { reason: "UNKNOWN" }],
  ["with a status of garbage", (call) => answerWith(call, NOTHING, { "grpc-status": "no" }), { reason: "INTERNAL" }],
  [
    "with a text that is not encoded",
    (call) => answerWith(call, NOTHING, { "grpc-status": "5", "grpc-message": "100% gone" }),
    { reason: "NOT_FOUND", text: "100% gone" }
  ],
  [
    "with reasons of garbage",
    (call) => answerWith(call, NOTHING, { "grpc-status": "5", "macp-error-details-bin": "!!" }),
    { reason: "NOT_FOUND", denialReasons: undefined }
  ],
  ["without a status", (call) => answerWith(call, MESSAGE, { other: "1" }), { messages: ["m1"], reason: "INTERNAL" }],
  ["without trailers", (call) => answerWith(call, MESSAGE), { messages: ["m1"], reason: "INTERNAL" }],
  [
    "inside of a message",
    (call) => answerWith(call, Buffer.concat([MESSAGE, claimed(0, 50, new Uint8Array(2))]), { "grpc-status": "0" }),
    { messages: ["m1"], reason: "INTERNAL", text: "the stream has ended inside of a message" }
  ],
  [
    "with 503 and a page",
    (call) => answerWith(call, Buffer.alloc(100_000), undefined, { ":status": 503, "content-type": "text/html" }),
    { reason: "UNAVAILABLE", text: "HTTP 503" }
  ],
  ["with 401", (call) => answerWith(call, NOTHING, undefined, { ":status": 401 }), { reason: "UNAUTHENTICATED" }],
  ["with 404", (call) => answerWith(call, NOTHING, undefined, { ":status": 404 }), { reason: "UNIMPLEMENTED" }],
  ["with 418", (call) => answerWith(call, NOTHING, undefined, { ":status": 418 }), { reason: "UNKNOWN" }],
  [
    "with a page",
    (call) => answerWith(call, NOTHING, undefined, { ":status": 200, "content-type": "text/html" }),
    { reason: "UNKNOWN", text: "unsupported content type text/html" }
  ],
  [
    "with an encoding that was not offered",
    ({ stream }) => stream.respond({ ...ANSWERED, "grpc-encoding": "gzip" }),
    { reason: "INTERNAL" }
  ],
  [
    "with a compressed message",
    (call) => answerWith(call, Buffer.concat([MESSAGE, claimed(1, 2)]), { "grpc-status": "0" }),
    { messages: ["m1"], reason: "INTERNAL" }
  ],
  [
    "with a flag of 7",
    (call) => answerWith(call, Buffer.concat([MESSAGE, claimed(7, 2)]), { "grpc-status": "0" }),
    { messages: ["m1"], reason: "INTERNAL", text: "a message has the flag 7" }
  ],
  [
    "with a length of 4 GiB",
    ({ stream }) => {
      stream.respond(ANSWERED)
      stream.write(Buffer.concat([MESSAGE, claimed(0, 0xffffffff, new Uint8Array(10))]))
    },
    { messages: ["m1"], reason: "RESOURCE_EXHAUSTED" }
  ],
  [
    "with a message of garbage",
    ({ stream }) => {
      stream.respond(ANSWERED)
      stream.write(Buffer.concat([MESSAGE, claimed(0, 3, new Uint8Array([255, 255, 255]))]))
    },
    { messages: ["m1"], reason: "INTERNAL" }
  ],
  ["with a reset before it answers", ({ stream }) => stream.close(constants.NGHTTP2_NO_ERROR), { reason: "INTERNAL" }],
  ["with an internal error", ({ stream }) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), { reason: "INTERNAL" }],
  ["as cancelled", ({ stream }) => stream.close(constants.NGHTTP2_CANCEL), { reason: "CANCELLED" }],
  ["as refused", ({ stream }) => stream.close(constants.NGHTTP2_REFUSED_STREAM), { reason: "UNAVAILABLE" }],
  [
    "as insecure, which says nothing about the rights of the caller",
    ({ stream }) => stream.close(constants.NGHTTP2_INADEQUATE_SECURITY),
    { reason: "INTERNAL" }
  ],
  [
    "with its connection",
    thenSoon(({ stream }) => stream.session?.destroy()),
    { messages: ["m1"], reason: "CANCELLED" }
  ],
  ["with a lost socket", thenSoon(({ socket }) => socket?.destroy()), { messages: ["m1"], reason: "CANCELLED" }],
  [
    "with a socket that is reset",
    thenSoon(({ socket }) => socket?.resetAndDestroy()),
    { messages: ["m1"], reason: "ABORTED" }
  ],
  [
    "with garbage on the socket",
    thenSoon(({ socket }) => socket?.write("garbage garbage garbage")),
    { messages: ["m1"], reason: "INTERNAL" }
  ],
  [
    "with a goodbye for an error",
    thenSoon(({ stream }) => stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR)),
    { messages: ["m1"], reason: "INTERNAL" }
  ]
]

describe("a stream of a runtime that answers in its own way", () => {
  for (const [name, answer, expected] of ends) {
    it.live(`ends ${name}`, () =>
      Effect.gen(function* () {
        const seen = yield* seenOf(answer)
        assert.deepStrictEqual({ ...seen, ...expected }, seen)
      })
    )
  }

  it.live("names the caller and the method", () =>
    Effect.gen(function* () {
      let headers: RawCall["headers"] = {}
      yield* seenOf((call) => {
        headers = call.headers
        answerWith(call, NOTHING, { "grpc-status": "0" })
      })
      assert.strictEqual(headers[":method"], "POST")
      assert.strictEqual(headers[":path"], "/macp.v1.MACPRuntimeService/StreamSession")
      assert.strictEqual(headers["content-type"], "application/grpc+proto")
      assert.strictEqual(headers["te"], "trailers")
      assert.match(String(headers["user-agent"]), /^runplane\//)
      assert.match(String(headers["traceparent"]), /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    })
  )

  it.live("is read in single bytes, and in all at once", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 40 }, (_, index) => `m${index}`)
      const body = Buffer.concat(ids.map((id) => sent(id)))
      const slowly = yield* seenOf(({ stream }) => {
        stream.respond(ANSWERED, { waitForTrailers: true })
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
        const writeFrom = (at: number): void => {
          if (at === body.length) stream.end()
          else stream.write(body.subarray(at, at + 1), () => writeFrom(at + 1))
        }
        writeFrom(0)
      })
      assert.deepStrictEqual([slowly.reason, slowly.messages], ["ended", ids])
      const many = Array.from({ length: 5_000 }, (_, index) => `m${index}`)
      const whole = Buffer.concat(many.map((id) => sent(id)))
      const atOnce = yield* seenOf((call) => answerWith(call, whole, { "grpc-status": "0" }))
      assert.deepStrictEqual([atOnce.reason, atOnce.messages], ["ended", many])
    })
  )

  it.live("outlasts a million messages that are empty", () =>
    Effect.gen(function* () {
      const body = Buffer.concat([Buffer.alloc(5 * 1_000_000), MESSAGE])
      const { messages, reason } = yield* seenOf((call) => answerWith(call, body, { "grpc-status": "0" }))
      assert.deepStrictEqual([reason, messages], ["ended", ["m1"]])
    })
  )

  it.live("holds few of many small messages for a reader that is slow", () =>
    Effect.gen(function* () {
      const body = Buffer.concat(Array.from({ length: 20_000 }, (_, index) => sent(`m${index}`)))
      yield* withRawRuntime(
        (call) => answerWith(call, body, { "grpc-status": "0" }),
        (client) =>
          Effect.gen(function* () {
            let taken = 0
            yield* client.streamSession({ sessionId: "s1", afterSequence: 0 }).pipe(
              Stream.chunks,
              Stream.runForEach((chunk) => {
                assert.isAtMost(chunk.length, 256)
                taken += chunk.length
                return taken < 1_000 ? Effect.sleep("20 millis") : Effect.void
              })
            )
            assert.strictEqual(taken, 20_000)
          })
      )
    })
  )

  it.live("outlasts a thousand streams that are reset at once, and reaches the next one", () =>
    Effect.gen(function* () {
      let calls = 0
      const answer = (call: RawCall): void => {
        calls += 1
        if (calls > 1_000) answerWith(call, MESSAGE, { "grpc-status": "0" })
        else if (calls % 2 === 0) call.stream.close(calls % 14)
        else call.stream.destroy(new Error("gone"))
      }
      yield* withRawRuntime(answer, (client) =>
        Effect.gen(function* () {
          const reset = yield* Effect.all(
            Array.from({ length: 1_000 }, () => subscribe(client)),
            { concurrency: 50 }
          )
          assert.isTrue(reset.every(({ reason }) => reason !== "ended"))
          assert.deepStrictEqual((yield* subscribe(client)).messages, ["m1"])
        })
      )
    })
  )

  it.live("is closed by a reader that stops early, however many frames are in flight", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<number>()
      const answer = ({ stream }: RawCall): void => {
        stream.respond(ANSWERED)
        stream.on("close", () => Deferred.doneUnsafe(closed, Effect.succeed(stream.rstCode)))
        const body = sent("m", 100_000)
        const pump = (): void => {
          while (!stream.destroyed && stream.write(body)) {}
          if (!stream.destroyed) stream.once("drain", pump)
        }
        pump()
      }
      yield* withRawRuntime(answer, (client) =>
        Effect.gen(function* () {
          yield* client.streamSession({ sessionId: "s1", afterSequence: 0 }).pipe(Stream.take(1), Stream.runDrain)
          assert.strictEqual(yield* Deferred.await(closed), constants.NGHTTP2_CANCEL)
        })
      )
    })
  )

  it.live("is refused by its own limits, in both directions", () =>
    withRawRuntime(
      (call) => answerWith(call, sent("m1", 2_000), { "grpc-status": "0" }),
      (client) =>
        Effect.gen(function* () {
          const short = client.streamSession({ sessionId: "s1", afterSequence: 0 })
          const { message, oversized, reason } = yield* Effect.flip(Stream.runDrain(short))
          assert.strictEqual(reason, "RESOURCE_EXHAUSTED")
          assert.match(message, /^a message of 20\d\d bytes is larger than the 1000 bytes of RUNTIME_MAX_RECEIVE_MESS/)
          assert.strictEqual(oversized?.envelope?.messageId, "m1")
          assert.isAbove(oversized?.bytes ?? 0, 2_000)
          const long = client.streamSession({ sessionId: "s".repeat(2_000), afterSequence: 0 })
          const error = yield* Effect.flip(Stream.runDrain(long))
          assert.strictEqual(error.reason, "RESOURCE_EXHAUSTED")
        }),
      { maxReceiveBytes: 1_000, maxSendBytes: 1_000 }
    )
  )
})
