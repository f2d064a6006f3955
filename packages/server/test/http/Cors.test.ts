import { assert, describe, it } from "@effect/vitest"
import { makeCors } from "../../src/http/Cors.ts"

const allowed = (origins: ReadonlyArray<string>, origin: string | undefined) =>
  makeCors(origins).headers(origin)["access-control-allow-origin"]

describe("cross-origin rules", () => {
  it("always answer with a single plain origin", () => {
    assert.strictEqual(allowed(["http://a"], "http://b"), "http://a")
    assert.strictEqual(allowed(["http://a"], undefined), "http://a")
  })

  it("reflect only a matching origin of a list", () => {
    const origins = ["http://a", "https://*.example.com"]
    assert.strictEqual(allowed(origins, "http://a"), "http://a")
    assert.strictEqual(allowed(origins, "https://x.example.com"), "https://x.example.com")
    assert.isUndefined(allowed(origins, "https://x-example.com"))
    assert.isUndefined(allowed(origins, "http://a.evil"))
    assert.isUndefined(allowed(origins, undefined))
  })

  it("match a lone star like any other", () => {
    assert.strictEqual(allowed(["*"], "http://z"), "http://z")
    assert.isUndefined(allowed(["*"], undefined))
  })

  it("echo the headers that a preflight requests", () => {
    assert.deepStrictEqual(makeCors(["http://a"]).preflight("http://a", "x-y"), {
      vary: "Origin, Access-Control-Request-Headers",
      "access-control-allow-credentials": "true",
      "access-control-allow-origin": "http://a",
      "access-control-allow-methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
      "access-control-allow-headers": "x-y"
    })
  })
})
