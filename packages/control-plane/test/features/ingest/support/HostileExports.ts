import { gzipSync } from "node:zlib"
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import { type Chance, chanceOf, type WireRequest } from "@runplane/testing"
import { hostileJson, jsonTextOf, mutated, rawJson } from "../../../contract/HostileValues.ts"
import { exportOf, span } from "./Exports.ts"

const DEEPEST = 3_000
const MOST_FIELDS = 6
const LARGEST_TEXT = 4_000
/** Inflates to more than any body may have, from some kilobytes. */
const BOMB = gzipSync(Buffer.alloc(4 * 1024 * 1024))

const VALID = exportOf([
  span({ trace: 1, span: 1 }),
  span({ trace: 1, span: 2, parent: 1, links: [1], attributes: { "gen_ai.output.messages": '[{"role":"a"}]' } })
])

const TYPES = ["application/json", "application/x-protobuf", "application/json; charset=utf-16", "APPLICATION/JSON"]
const OTHER_TYPES = [
  "text/plain",
  "",
  "application/x-protobuf+gzip",
  "*/*",
  "multipart/form-data; boundary=x",
  "\u00ff"
]
const CODINGS = ["identity", "GZIP", "br", "deflate", "gzip, gzip", "x-gzip", "", "zstd"]
const HEADERS = [
  "authorization: Bearer ",
  "authorization: Basic %%%",
  `x-api-key: ${"k".repeat(7_000)}`,
  "content-type: application/json",
  "expect: 100-continue",
  "expect: nothing",
  "x-request-id: \u0001",
  "accept-encoding: *;q=0",
  "traceparent: 00-zz-zz-01",
  "host: [::"
]
const LENGTHS = ["-1", "0", "1", "99999999999999999999", "0x10", "5, 6", "NaN"]

/** Lists and maps of OTLP inside each other, as text: a serialiser would fail before the service. */
const deepValue = (depth: number): string => {
  const wraps = Array.from({ length: depth }, (_, level) =>
    level % 2 === 0
      ? (['{"arrayValue":{"values":[', "]}}"] as const)
      : (['{"kvlistValue":{"values":[{"key":"k","value":', "}]}}"] as const)
  )
  const begin = wraps.map(([open]) => open).join("")
  const end = wraps.toReversed().map(([, close]) => close)
  return rawJson(`${begin}{"intValue":"1"}${end.join("")}`)
}

/** A member of the valid request becomes something else. */
const changedJson = (value: unknown, chance: Chance): unknown => {
  if (chance.happens(0.08)) {
    return chance.pick([
      () => hostileJson(chance),
      () => deepValue(chance.below(DEEPEST)),
      () => "0".repeat(32),
      () => "f".repeat(chance.below(LARGEST_TEXT)),
      () => 2 ** 64,
      () => -1,
      () => ({ __proto__: null, constructor: { prototype: 1 } }),
      () => "18446744073709551616"
    ])()
  }
  if (Array.isArray(value)) {
    const changed = value.map((item) => changedJson(item, chance))
    return chance.happens(0.05) ? [...changed, ...changed, null] : changed
  }
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, changedJson(member, chance)]))
}

/** Messages of any fields and wire types, which nest as those of OTLP do. */
const anyMessage = (chance: Chance, depth: number): Uint8Array => {
  const writer = new BinaryWriter()
  for (let count = chance.below(MOST_FIELDS); count >= 0; count--) {
    const field = 1 + chance.below(16)
    const bytes = () =>
      depth > 0 && chance.happens(0.7)
        ? anyMessage(chance, depth - 1)
        : Uint8Array.from({ length: chance.pick([0, 8, 16, 16, 40]) }, () => chance.below(256))
    switch (chance.below(4)) {
      case 0:
        writer.tag(field, WireType.Varint).uint64(BigInt(chance.below(2 ** 31)) ** 2n)
        break
      case 1:
        writer.tag(field, WireType.Bit64).fixed64(BigInt(chance.below(2 ** 31)) ** 2n)
        break
      default:
        writer.tag(field, WireType.LengthDelimited).bytes(bytes())
    }
  }
  return writer.finish()
}

/** A span whose attribute nests deeper than the reader's stack. */
const deepMessage = (depth: number): Uint8Array => {
  let value: Uint8Array = new BinaryWriter().tag(3, WireType.Varint).int64(1).finish()
  const wrap = (field: number, inner: Uint8Array) =>
    new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(inner).finish()
  for (let level = 0; level < depth; level++) value = wrap(5, wrap(1, value))
  const attribute = new BinaryWriter().tag(1, WireType.LengthDelimited).string("k")
  const pair = attribute.tag(2, WireType.LengthDelimited).bytes(value).finish()
  return wrap(1, wrap(2, wrap(2, wrap(9, pair))))
}

const plainBody = (chance: Chance, isJson: boolean): Buffer => {
  if (!isJson) {
    const message = chance.happens(0.1) ? deepMessage(chance.below(DEEPEST)) : anyMessage(chance, 7)
    return Buffer.from(message).subarray(0, chance.happens(0.2) ? chance.below(message.length + 1) : undefined)
  }
  const value = chance.happens(0.8) ? changedJson(VALID, chance) : hostileJson(chance)
  const whole = jsonTextOf(chance.happens(0.3) ? mutated(value, chance) : value)
  if (chance.happens(0.05)) return Buffer.from("[".repeat(chance.below(9_000)) + whole)
  return Buffer.from(whole)
}

/** The body with some of its bytes changed. */
const disturbed = (body: Buffer, chance: Chance): Buffer => {
  const copy = Buffer.from(body)
  if (copy.length > 0)
    for (let count = chance.below(5); count > 0; count--) copy[chance.below(copy.length)] = chance.below(256)
  return copy
}

/** Export request of a number; the same for the same seed. */
export const hostileExport = (seed: number, number: number): WireRequest => {
  const chance = chanceOf(seed, number)
  const isJson = chance.happens(0.5)
  const type = chance.happens(0.9) ? (isJson ? TYPES[0] : TYPES[1]) : chance.pick([...TYPES, ...OTHER_TYPES])
  const plain = plainBody(chance, isJson)
  const isGzip = chance.happens(0.4)
  const coded = isGzip ? (chance.happens(0.03) ? BOMB : gzipSync(plain)) : plain
  const body = chance.happens(0.25) ? disturbed(coded, chance) : coded
  const coding = isGzip ? "gzip" : chance.happens(0.9) ? undefined : chance.pick(CODINGS)
  const path = chance.happens(0.95) ? chance.pick(["/v1/traces", "/v1/logs"]) : "/v1/metrics"
  const isChunked = chance.happens(0.3)
  const length = chance.happens(0.03) ? chance.pick(LENGTHS) : String(body.length)
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: a",
    "connection: close",
    `content-type: ${type}`,
    ...(coding === undefined ? [] : [`content-encoding: ${coding}`]),
    isChunked ? "transfer-encoding: chunked" : `content-length: ${length}`,
    ...(chance.happens(0.1) ? [chance.pick(HEADERS)] : [])
  ]
  const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")])
  const sent = isChunked && body.length > 0 ? chunked : isChunked ? Buffer.from("0\r\n\r\n") : body
  const isCut = chance.happens(0.03)
  return {
    head: lines.join("\r\n"),
    body: isCut ? sent.subarray(0, chance.below(sent.length + 1)) : sent,
    // A request that is not whole has no answer before its client leaves.
    leaves: isCut || length !== String(body.length)
  }
}
