import { assert, describe, it } from "@effect/vitest"
import { guardedLookup, literalAddress, refusalOf, whyRefused } from "../../../src/platform/http/CallbackTargets.ts"

describe("targets of callbacks", () => {
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "::1",
    "fd12::1",
    "::ffff:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "::",
    "198.18.0.1",
    "198.19.255.255",
    "192.0.0.1"
  ]) {
    it(`allows the private address ${address} only where private targets are allowed`, () => {
      assert.isUndefined(whyRefused(address, true))
      assert.strictEqual(whyRefused(address, false), "a private address")
    })
  }
  for (const address of [
    "169.254.169.254",
    "fe80::1",
    "fd00:ec2::254",
    "::ffff:169.254.1.1",
    "100.100.100.200",
    "64:ff9b::a9fe:a9fe",
    "::127.0.0.1",
    "::a9fe:a9fe",
    "::ffff:0:10.0.0.1",
    "2002:a9fe:a9fe::1",
    "64:ff9b:1::a00:1",
    "2001:0:53aa:64c::1",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "192.0.0.192"
  ]) {
    it(`never allows ${address}`, () => {
      assert.strictEqual(whyRefused(address, true), "a link-local or metadata address")
    })
  }
  for (const address of [
    "93.184.216.34",
    "2606:2800:220:1::1",
    "2001:4860:4860::8888",
    "172.32.0.1",
    "64:ff9b::93.184.216.34"
  ]) {
    it(`allows the public address ${address}`, () => {
      assert.isUndefined(whyRefused(address, false))
    })
  }

  it("sees through the ways to write an address in a URL", () => {
    assert.strictEqual(literalAddress(new URL("http://0xa9fea9fe/")), "169.254.169.254")
    assert.strictEqual(literalAddress(new URL("http://127.1:80/")), "127.0.0.1")
    assert.strictEqual(literalAddress(new URL("http://[::1]/")), "::1")
    assert.isUndefined(literalAddress(new URL("http://example.org/")))
  })

  for (const [url, message] of [
    ["nonsense", "nonsense is not a URL"],
    ["ftp://example.org/", "ftp://example.org/ is not an http or https URL"],
    ["http://10.0.0.1/", "10.0.0.1 is a private address"],
    ["https://example.org/", undefined],
    ["http://user:pass@example.org/", "http://example.org/ is a URL with credentials in it"],
    ["ftp://example.org/hook?token=s#t", "ftp://example.org/hook is not an http or https URL"],
    ["http:\\\\user:pass@exa mple.org/", "http:\\\\exa mple.org/ is not a URL"]
  ] as const) {
    it(`says of the URL ${url}: ${message ?? "nothing"}`, () => {
      assert.strictEqual(refusalOf(url, false)?.message, message)
    })
  }

  it("refuses a name that resolves to a refused address", async () => {
    const error = await new Promise((resolve) => guardedLookup(false)("localhost", {}, resolve))
    assert.match(String(error), /localhost is a private address/)
  })
})
