import { lookup } from "node:dns"
import { createServer, get } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { guardedLookup, literalAddress, refusalOf, whyRefused } from "../src/CallbackTargets.ts"

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

  it("connects to the address that was checked, whatever the name resolves to later", async () => {
    const server = createServer((_, response) => response.end("reached"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" ? address?.port : undefined
    // The first answer is allowed; each later one is the metadata service of a cloud.
    let lookups = 0
    const resolve: typeof lookup = Object.assign(
      (_: string, ...rest: ReadonlyArray<unknown>) => {
        lookups += 1
        const callback = rest.at(-1)
        const found = [{ address: lookups === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }]
        if (typeof callback === "function") callback(null, found)
      },
      { __promisify__: lookup.__promisify__ }
    )
    const lookupName = guardedLookup(true, resolve)
    const send = () =>
      new Promise<string>((done) => {
        get({ host: "rebinding.example", port, lookup: lookupName, agent: false }, (response) => {
          response.resume()
          done(`${response.socket.remoteAddress} ${response.statusCode}`)
        }).on("error", (error) => done(error.message))
      })
    try {
      assert.strictEqual(await send(), "127.0.0.1 200")
      assert.strictEqual(lookups, 1)
      assert.strictEqual(await send(), "rebinding.example is a link-local or metadata address")
    } finally {
      server.close()
    }
  })

  it("refuses a name of which one address is allowed and another is not", async () => {
    const found = [
      { address: "192.0.2.1", family: 4 },
      { address: "fd00:ec2::254", family: 6 }
    ]
    const resolve: typeof lookup = Object.assign(
      (_: string, ...rest: ReadonlyArray<unknown>) => {
        const callback = rest.at(-1)
        if (typeof callback === "function") callback(null, found)
      },
      { __promisify__: lookup.__promisify__ }
    )
    const error = await new Promise((done) => guardedLookup(true, resolve)("two.example", {}, done))
    assert.match(String(error), /two.example is a link-local or metadata address/)
  })
})
