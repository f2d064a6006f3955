import { assert, describe, it } from "@effect/vitest"
import { acceptedCoding } from "../../src/http/Compression.ts"

describe("the coding of an answer", () => {
  it.each([
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0", "gzip"],
    ["gzip ; q=0.5 , deflate;q=0.8", "deflate"],
    ["BR", "br"],
    ["*", "br"],
    ["br;q=0, *;q=0.1", "gzip"],
    ["*;q=0, gzip", "gzip"],
    ["identity;q=0, deflate;q=0.001", "deflate"],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["identity, gzip;q=0.5", undefined],
    ["identity", undefined],
    ["zstd, compress", undefined],
    ["br;q=0.000,gzip;q=0", undefined],
    ["br;q=2, gzip;q=x, deflate;level=1", undefined],
    [",;,", undefined],
    ["", undefined],
    [undefined, undefined]
  ])("for %s is %s", (accepted, expected) => {
    assert.strictEqual(acceptedCoding(accepted, ["br", "gzip", "deflate"]), expected)
  })
})
