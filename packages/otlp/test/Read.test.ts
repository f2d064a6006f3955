import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { cleanJson } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OTLP_LIMITS, type OtlpSignal, readTelemetry } from "../src/index.ts"
import { attribute, logsOf, span, traceRequest, tracesOf } from "./Messages.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const recordings = join(root, "..", "shared", "data", "otlp")

/** The recorded requests of real exporters. */
const recorded = existsSync(recordings)
  ? readdirSync(recordings, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".bin"))
      .map((file) => {
        const { headers, path } = JSON.parse(
          readFileSync(join(recordings, file.replace(/\.bin$/, ".headers.json")), "utf8")
        )
        const sent = readFileSync(join(recordings, file))
        return {
          file,
          path: String(path),
          isJson: String(headers["content-type"]).startsWith("application/json"),
          body: headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent
        }
      })
  : []

const unbounded = { ...OTLP_LIMITS, valueBytes: 1_000_000, contentBytes: 1_000_000 }
const ids = { traceId: "07".repeat(16), spanId: "03".repeat(8) }
const times = { startTimeUnixNano: "1700000000000000000", endTimeUnixNano: 1_700_000_000_500_000_000 }
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const jsonRequest = (...spans: ReadonlyArray<object>) =>
  json({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: "test" }, spans }] }] })

const readSpans = Effect.fnUntraced(function* (body: Uint8Array, encoding: "protobuf" | "json" = "protobuf") {
  return yield* readTelemetry("traces", encoding, body)
})

describe("a request of a real exporter", () => {
  it.effect("is read as the generated messages read it", (context) =>
    Effect.gen(function* () {
      if (recorded.length === 0) return context.skip("the recorded requests are absent")
      let read = 0
      for (const { body, file, isJson, path } of recorded) {
        if (isJson || path === "/v1/metrics") continue
        const signal: OtlpSignal = path === "/v1/traces" ? "traces" : "logs"
        const { rejected, telemetry } = yield* readTelemetry(signal, "protobuf", body, unbounded)
        const expected = (signal === "traces" ? tracesOf(body) : logsOf(body)).filter(
          (one) => one.kind === "span" || (one.name !== "" && one.traceId !== "")
        )
        assert.strictEqual(rejected, 0, file)
        assert.deepStrictEqual(telemetry, expected, file)
        read += telemetry.length
      }
      assert.isAbove(read, 1_000)
    })
  )

  it.effect("in JSON has all spans, with their ids as hex and their numbers exact", (context) =>
    Effect.gen(function* () {
      if (recorded.length === 0) return context.skip("the recorded requests are absent")
      const bodies = recorded.filter(({ isJson }) => isJson)
      assert.isNotEmpty(bodies)
      for (const { body, file } of bodies) {
        const { rejected, telemetry } = yield* readSpans(body, "json")
        assert.strictEqual(rejected, 0, file)
        const text = Buffer.from(body).toString()
        assert.lengthOf(telemetry, text.split('"spanId":').length - 1, file)
        for (const one of telemetry) assert.include(text, `"spanId":"${one.spanId}"`)
        assert.isTrue(
          telemetry.some(({ attributes }) => attributes["gen_ai.usage.input_tokens"] === 1210),
          file
        )
      }
    })
  )
})

describe("a request", () => {
  it.effect.prop(
    "of any values is read as the generated messages read it",
    [Schema.Json, Schema.String],
    ([value, name]) =>
      Effect.gen(function* () {
        const body = traceRequest([span({ name, attributes: [attribute("given", value)] })])
        const { telemetry } = yield* readSpans(body)
        assert.deepStrictEqual<unknown>(telemetry, cleanJson(tracesOf(body)))
      })
  )

  it.effect("means the same in both encodings", () =>
    Effect.gen(function* () {
      const values = { a: 1, b: "text", c: true, d: [1.5, "x", null], e: { f: { g: [] } } }
      const attributes = Object.entries(values).map(([key, value]) => attribute(key, value))
      const binary = yield* readSpans(
        traceRequest([span({ name: "n", attributes, status: { code: 2, message: "m" } })])
      )
      const any = (value: unknown): object =>
        value === null
          ? {}
          : typeof value === "string"
            ? { stringValue: value }
            : typeof value === "boolean"
              ? { boolValue: value }
              : typeof value === "number"
                ? Number.isInteger(value)
                  ? { intValue: String(value) }
                  : { doubleValue: value }
                : Array.isArray(value)
                  ? { arrayValue: { values: value.map(any) } }
                  : { kvlistValue: { values: pairs(value as object) } }
      const pairs = (object: object) => Object.entries(object).map(([key, value]) => ({ key, value: any(value) }))
      const text = yield* readSpans(
        jsonRequest({
          ...ids,
          startTimeUnixNano: "1700000000000000000",
          endTimeUnixNano: "1700000000500000000",
          name: "n",
          status: { code: 2, message: "m" },
          attributes: pairs(values),
          unknownMember: 1
        }),
        "json"
      )
      assert.deepStrictEqual(binary.telemetry, text.telemetry)
      assert.deepStrictEqual(binary.telemetry[0]?.attributes, values)
    })
  )

  it.effect("in JSON may have times as numbers, integers as numbers, ids in upper case, no parent and no version", () =>
    Effect.gen(function* () {
      const { telemetry } = yield* readSpans(
        jsonRequest({
          ...times,
          traceId: "AB".repeat(16),
          spanId: "CD".repeat(8),
          name: "n",
          attributes: [{ key: "n", value: { intValue: 7 } }]
        }),
        "json"
      )
      const [first] = telemetry
      assert.deepInclude(first, { traceId: "ab".repeat(16), spanId: "cd".repeat(8), attributes: { n: 7 } })
      assert.isTrue(first?.kind === "span" && first.endedAt.startsWith("1700000000"))
      assert.notProperty(first, "parentSpanId")
      assert.notProperty(first, "scopeVersion")
    })
  )

  it.effect("rejects a span without a valid id, or with an end a day before its start, and reads the others", () =>
    Effect.gen(function* () {
      const { message, rejected, telemetry } = yield* readSpans(
        traceRequest([
          span({ name: "good" }),
          span({ traceId: new Uint8Array(16) }),
          span({ traceId: new Uint8Array(15).fill(1) }),
          span({ spanId: new Uint8Array(8) }),
          span({ spanId: new Uint8Array(0) }),
          span({ startTimeUnixNano: 1_700_086_400_500_000_001n }),
          span({ name: "an hour back", startTimeUnixNano: 1_700_003_600_000_000_000n })
        ])
      )
      assert.strictEqual(rejected, 5)
      assert.strictEqual(message, "a span has no valid trace id")
      assert.deepStrictEqual(
        telemetry.map((one) => one.kind === "span" && one.name),
        ["good", "an hour back"]
      )
    })
  )

  it.effect("cuts what is over a bound, with a mark, and keeps the numbers of a span with a long history", () =>
    Effect.gen(function* () {
      const spread = Array.from({ length: 400 }, (_, n) => attribute(`llm.input_messages.${n}.message.content`, "hi"))
      const { telemetry } = yield* readSpans(
        traceRequest([
          span({
            name: "n".repeat(5_000),
            attributes: [
              ...spread,
              attribute("plain", "x".repeat(100_000)),
              attribute("gen_ai.input.messages", "m".repeat(100_000)),
              attribute("output.value", "m".repeat(1_000_000)),
              attribute("llm.token_count.prompt", 12)
            ]
          })
        ])
      )
      const [first] = telemetry
      assert.isTrue(first?.kind === "span" && first.name.length <= 1_024 && first.name.includes("(cut, 5002 bytes"))
      const { attributes } = first!
      assert.lengthOf(Object.keys(attributes), OTLP_LIMITS.attributes)
      assert.strictEqual(attributes["llm.token_count.prompt"], 12)
      assert.strictEqual(attributes["llm.input_messages.0.message.content"], "hi")
      assert.lengthOf(String(attributes["gen_ai.input.messages"]), 100_000)
      assert.isAtMost(String(attributes["plain"]).length, OTLP_LIMITS.valueBytes)
      assert.include(String(attributes["plain"]), "(cut, 100002 bytes")
      assert.isAtMost(String(attributes["output.value"]).length, OTLP_LIMITS.contentBytes)
    })
  )

  it.effect("of 200,000 distinct names keeps the bound of them, and little memory", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 200_000 }, (_, n) => attribute(`n${n}`, null))
      const body = traceRequest([span({ name: "n", attributes: names })])
      const before = process.memoryUsage().heapUsed
      const { telemetry } = yield* readSpans(body)
      assert.lengthOf(Object.keys(telemetry[0]!.attributes), OTLP_LIMITS.attributes)
      assert.isBelow(process.memoryUsage().heapUsed - before, 60_000_000)
    })
  )

  it.effect("cuts lists that are wide or deep", () =>
    Effect.gen(function* () {
      const nested = (levels: number): object =>
        levels === 0 ? { stringValue: "end" } : { arrayValue: { values: [nested(levels - 1)] } }
      const attributes = [
        { key: "deep", value: nested(200) },
        { key: "fits", value: nested(OTLP_LIMITS.nesting) },
        { key: "wide", value: { arrayValue: { values: Array.from({ length: 500_000 }, () => ({})) } } }
      ]
      const { telemetry } = yield* readSpans(jsonRequest({ ...ids, ...times, attributes }), "json")
      const read = telemetry[0]!.attributes
      assert.include(JSON.stringify(read["deep"]), "nested too deep")
      assert.include(JSON.stringify(read["fits"]), '"end"')
      assert.isAtMost(JSON.stringify(read["wide"]).length, OTLP_LIMITS.valueBytes)
      assert.include(JSON.stringify(read["wide"]), "(cut")
    })
  )

  it.effect("has no more spans than its bound: the others are rejected", () =>
    Effect.gen(function* () {
      const spans = Array.from({ length: OTLP_LIMITS.spans + 5 }, () => span({ name: "n" }))
      const { message, rejected, telemetry } = yield* readSpans(traceRequest(spans))
      assert.lengthOf(telemetry, OTLP_LIMITS.spans)
      assert.strictEqual(rejected, 5)
      assert.include(message, "10000 spans")
    })
  )

  it.effect("that is not OTLP fails as malformed, and nothing else happens", () =>
    Effect.gen(function* () {
      const bodies: ReadonlyArray<readonly ["protobuf" | "json", Uint8Array]> = [
        ["protobuf", new Uint8Array([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
        ["protobuf", new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
        ["json", json([])],
        ["json", json("text")],
        ["json", json({ resourceSpans: 5 })],
        ["json", new TextEncoder().encode("{")],
        ["json", new TextEncoder().encode("[".repeat(2_000_000))],
        ["json", new TextEncoder().encode(`{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)]
      ]
      for (const [encoding, body] of bodies) {
        const failure = yield* Effect.flip(readSpans(body, encoding))
        assert.strictEqual(failure._tag, "BodyMalformed")
      }
      assert.lengthOf((yield* readSpans(new Uint8Array(0))).telemetry, 0)
      assert.lengthOf((yield* readSpans(json({}), "json")).telemetry, 0)
    })
  )

  it.effect("with random damage is read or malformed, 10,000 times", () =>
    Effect.gen(function* () {
      const whole = traceRequest(
        [1, 2, 3].map((n) =>
          span({
            name: `n${n}`,
            attributes: [attribute("a", { b: ["c", 1, { d: null }] })],
            events: [{ name: "e", timeUnixNano: 5n, attributes: [attribute("x", 1)] }],
            links: [{ traceId: new Uint8Array(16).fill(1), spanId: new Uint8Array(8).fill(2) }],
            status: { code: 2, message: "broken" }
          })
        )
      )
      const text = jsonRequest({ ...ids, ...times, attributes: [{ key: "a", value: { intValue: 1 } }], links: [{}] })
      let seed = 1
      const random = (below: number) => {
        seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
        return (seed >>> 8) % below
      }
      let readable = 0
      for (let n = 0; n < 10_000; n++) {
        const encoding = n % 4 === 0 ? "json" : "protobuf"
        const body = new Uint8Array(encoding === "json" ? text : whole)
        for (let hits = 1 + random(6); hits > 0; hits--) body[random(body.length)] = random(256)
        const cut = random(3) === 0 ? body.subarray(0, random(body.length)) : body
        const result = yield* Effect.result(readTelemetry(n % 3 === 0 ? "logs" : "traces", encoding, cut))
        if (result._tag === "Success") readable++
        else assert.strictEqual(result.failure._tag, "BodyMalformed")
      }
      assert.isAbove(readable, 500)
      assert.isBelow(readable, 9_500)
    })
  )
})
