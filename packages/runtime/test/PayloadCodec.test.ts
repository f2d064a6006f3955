import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  CommitmentPayloadSchema,
  decodePayload,
  HandoffMode,
  messageTypes,
  ProgressPayloadSchema,
  SessionMetadataSchema,
  SessionStartPayloadSchema,
  SessionState,
  TaskMode
} from "@runplane/runtime"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const decode = <Desc extends DescMessage>(schema: Desc, content: MessageInitShape<Desc>) =>
  decodePayload(schema.typeName, toBinary(schema, create(schema, content)))

const typeNames = [...messageTypes].flatMap((type) => (type.kind === "message" ? [type.typeName] : []))
const anyBytes = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))),
  (bytes) => new Uint8Array(bytes)
)

describe("decodePayload", () => {
  it("shows camelCase names, bytes as base64, 64-bit integers as numbers and nested messages", () => {
    assert.deepStrictEqual(
      decode(SessionStartPayloadSchema, {
        intent: "ship",
        participants: ["agent://lead", "agent://risk"],
        ttlMs: 60_000n,
        roots: [{ uri: "file:///data", name: "data" }],
        extensions: { "x.trace": new Uint8Array([1, 2, 255]) }
      }),
      {
        intent: "ship",
        participants: ["agent://lead", "agent://risk"],
        ttlMs: 60_000,
        roots: [{ uri: "file:///data", name: "data" }],
        extensions: { "x.trace": "AQL/" }
      }
    )
  })

  it("names enum values and keeps numbers of unknown ones", () => {
    assert.deepStrictEqual(decode(SessionMetadataSchema, { state: SessionState.EXPIRED }), {
      state: "SESSION_STATE_EXPIRED"
    })
    assert.deepStrictEqual(decodePayload("macp.v1.SessionMetadata", new Uint8Array([0x18, 0x63])), { state: 99 })
  })

  it("leaves out fields that are not on the wire, so that an unstated outcome is not a negative one", () => {
    assert.deepStrictEqual(decode(CommitmentPayloadSchema, { commitmentId: "c1", outcomePositive: false }), {
      commitmentId: "c1"
    })
    assert.deepStrictEqual(decode(CommitmentPayloadSchema, { commitmentId: "c1", outcomePositive: true }), {
      commitmentId: "c1",
      outcomePositive: true
    })
    assert.deepStrictEqual(decode(HandoffMode.HandoffAcceptPayloadSchema, {}), {})
  })

  it("writes numbers that JSON does not know as text", () => {
    assert.deepStrictEqual(decode(ProgressPayloadSchema, { progress: Number.NaN, total: Number.POSITIVE_INFINITY }), {
      progress: "NaN",
      total: "Infinity"
    })
  })

  it("leaves an integer that a double cannot hold as it is", () => {
    const start = { ttlMs: 9_007_199_254_740_991n, maxSuspendMs: 9_223_372_036_854_775_807n }
    assert.deepStrictEqual(decode(SessionStartPayloadSchema, start), {
      ttlMs: 9_007_199_254_740_991,
      maxSuspendMs: 9_223_372_036_854_775_807n
    })
  })

  it("keeps a map entry whose key is a name of the object prototype", () => {
    const decoded = decodePayload(
      "macp.v1.SessionStartPayload",
      toBinary(
        SessionStartPayloadSchema,
        create(SessionStartPayloadSchema, {
          extensions: Object.fromEntries([["__proto__", new Uint8Array([7])]])
        })
      )
    )
    assert.strictEqual(JSON.stringify(decoded), '{"extensions":{"__proto__":"Bw=="}}')
  })

  it("answers undefined for unknown types and for bytes that are no such message", () => {
    assert.isUndefined(decodePayload("macp.v1.NoSuchPayload", new Uint8Array()))
    assert.isUndefined(decodePayload("macp.v1.CommitmentPayload", new Uint8Array([0x0a, 0x7f, 0x01])))
    // Text with bytes that are not UTF-8.
    assert.isUndefined(decodePayload("macp.v1.CommitmentPayload", new Uint8Array([0x0a, 0x01, 0xff])))
  })

  it.prop(
    "never throws, whatever the bytes, and its answers are JSON",
    { typeName: Schema.Literals(typeNames), bytes: anyBytes },
    ({ bytes, typeName }) => {
      const decoded = decodePayload(typeName, bytes)
      const text = JSON.stringify(decoded, (_, value) => (typeof value === "bigint" ? String(value) : value))
      assert.strictEqual(text && JSON.stringify(JSON.parse(text)), text)
    }
  )

  it.prop(
    "decodes what was encoded, for any task completion",
    { summary: Schema.String, output: anyBytes },
    ({ output, summary }) => {
      const wellFormed = summary.toWellFormed()
      assert.deepStrictEqual(decode(TaskMode.TaskCompletePayloadSchema, { summary: wellFormed, output }), {
        ...(output.length === 0 ? {} : { output: Buffer.from(output).toString("base64") }),
        ...(wellFormed === "" ? {} : { summary: wellFormed })
      })
    }
  )
})
