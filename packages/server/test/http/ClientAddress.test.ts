import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { networkOf, parseAddress } from "../../src/http/ClientAddress.ts"

describe("the address of a client", () => {
  it("is read in every form that proxies write", () => {
    for (const [text, address] of [
      ["203.0.113.7", "203.0.113.7"],
      [" 203.0.113.7\t", "203.0.113.7"],
      ["203.0.113.7:40001", "203.0.113.7"],
      ["203.0.113.7:", "203.0.113.7"],
      ["2001:DB8:0:0::1", "2001:db8::1"],
      ["2001:db8::0001", "2001:db8::1"],
      ["[2001:db8::1]", "2001:db8::1"],
      ["[2001:db8::1]:443", "2001:db8::1"],
      ["::ffff:1.2.3.4", "1.2.3.4"],
      ["[::FFFF:102:304]:9", "1.2.3.4"],
      ["0:0:0:0:0:ffff:255.0.0.1", "255.0.0.1"],
      ["fe80::1%eth0", "fe80::1"],
      ["[fe80::1%25eth0]:80", "fe80::1"],
      ["::1", "::1"],
      ["::", "::"]
    ] as const) {
      assert.strictEqual(parseAddress(text), address, text)
    }
  })

  it("is not read from other text", () => {
    for (const text of [
      ...[
        "",
        " ",
        "unknown",
        "_hidden",
        "_SEVKISEK:1",
        "localhost",
        "gateway:80",
        "null",
        "-",
        ":",
        "[]",
        "[]:1",
        "%1"
      ],
      ...["1.2.3", "1.2.3.4.5", "256.1.1.1", "010.1.1.1", "0x7f000001", "1.2.3.4:x", "1.2.3.4:123456", "1.2.3.4/8"],
      ...[
        "[1.2.3.4",
        "[2001:db8::1",
        "2001:db8::1]",
        "[2001:db8::1]x",
        "[2001:db8::1]:x",
        "2001:db8::1::2",
        ":::",
        "g::"
      ],
      ...["1:2:3:4:5:6:7:8:443", "::ffff:1.2.3.256", "1.2.3.4\u0000", "１.2.3.4", "\u001b[31m1.2.3.4"]
    ]) {
      assert.isUndefined(parseAddress(text), text)
    }
  })

  it.prop(
    "is the same in every spelling",
    [Schema.Array(Schema.Int), Schema.Int, Schema.String],
    ([seed, at, zone]) => {
      const groups = Array.from({ length: 8 }, (_, index) => (seed[index] ?? 0) & 0xffff)
      const padded = groups.map((group) => group.toString(16).padStart(4, "0"))
      const plain = groups.map((group) => group.toString(16).toUpperCase())
      const port = Math.abs(at) % 65_536
      const start = Math.abs(at) % 8
      const length = groups.slice(start).findIndex((group) => group !== 0)
      const run = length === -1 ? 8 - start : length
      const compressed =
        run === 0 ? plain.join(":") : `${plain.slice(0, start).join(":")}::${plain.slice(start + run).join(":")}`
      const last = `${(groups[6] ?? 0) >> 8}.${(groups[6] ?? 0) & 255}.${(groups[7] ?? 0) >> 8}.${(groups[7] ?? 0) & 255}`
      const address = parseAddress(padded.join(":"))
      assert.isDefined(address)
      assert.strictEqual(parseAddress(address), address)
      const spellings = [plain.join(":"), compressed, `${plain.slice(0, 6).join(":")}:${last}`]
      for (const spelling of spellings.flatMap((text) => [text, `[${text}]`, `[${text}]:${port}`, ` ${text} `])) {
        assert.strictEqual(parseAddress(spelling), address, spelling)
      }
      const zoned = zone.replace(/[\]\s]/g, "")
      assert.oneOf(parseAddress(`${plain.join(":")}%${zoned}`), [address, undefined])
      for (const spelling of [last, `${last}:${port}`, `::ffff:${last}`, `[::ffff:${last}]:${port}`]) {
        assert.strictEqual(parseAddress(spelling), last, spelling)
      }
    }
  )

  it.prop("is canonical or absent, whatever a caller writes", [Schema.String], ([text]) => {
    const address = parseAddress(text)
    assert.strictEqual(address === undefined ? undefined : parseAddress(address), address)
  })
})

describe("the network that has one budget", () => {
  it("is an IPv4 address, or the /64 of an IPv6 address", () => {
    for (const [address, network] of [
      ["203.0.113.7", "203.0.113.7"],
      ["2001:db8::1", "2001:db8::/64"],
      ["2001:db8:0:1:aaaa:bbbb:cccc:dddd", "2001:db8:0:1::/64"],
      ["2001:db8:1:2::", "2001:db8:1:2::/64"],
      ["1:2:3::", "1:2:3::/64"],
      ["::1", "::/64"],
      ["::", "::/64"],
      ["anonymous", "anonymous"]
    ] as const) {
      assert.strictEqual(networkOf(address), network, address)
    }
  })

  it("is the IPv4 address that an IPv6 address contains", () => {
    for (const [address, network] of [
      ["64:ff9b::203.0.113.7", "203.0.113.7"],
      ["64:ff9b::203.0.113.8", "203.0.113.8"],
      ["64:ff9b::", "0.0.0.0"],
      ["::ffff:0:203.0.113.7", "203.0.113.7"],
      ["2002:cb00:7107::1", "203.0.113.7"],
      ["2002:cb00:7107:9:a:b:c:d", "203.0.113.7"],
      ["2001:0:4136:e378:8000:63bf:34ff:8ef8", "203.0.113.7"],
      ["64:ff9b:1::cb00:7107", "64:ff9b:1::cb00:7107"],
      ["64:ff9b:2::cb00:7107", "64:ff9b:2::/64"],
      ["64:ff9b:0:0:1::1", "64:ff9b::/64"],
      ["2001:1::1", "2001:1::/64"]
    ] as const) {
      assert.strictEqual(networkOf(parseAddress(address) ?? ""), network, address)
    }
  })

  it.prop(
    "is one for all addresses of a /64",
    [Schema.Array(Schema.Int), Schema.Array(Schema.Int)],
    ([upper, lower]) => {
      const groups = (numbers: ReadonlyArray<number>) =>
        Array.from({ length: 4 }, (_, index) => ((numbers[index] ?? 0) & 0xffff).toString(16)).join(":")
      const network = (suffix: string) => networkOf(parseAddress(`${groups(upper)}:${suffix}`) ?? "")
      // Networks that contain addresses of IPv4, of which each has a budget of its own.
      const isOfIPv4 =
        (groups(upper) === "0:0:0:0" && /^(?:0:ffff|ffff:0):/.test(groups(lower))) ||
        /^(?:64:ff9b:(?:0:0|1:)|2001:0:)/.test(groups(upper))
      if (!isOfIPv4) assert.strictEqual(network(groups(lower)), network("1:2:3:4"))
    }
  )
})
