import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { exposureOf, readDatabaseAddress } from "../src/settings/DatabaseAddress.ts"

const read = (text: string, caFile?: string) => Result.getOrThrow(readDatabaseAddress(text, caFile))
const problem = (text: string, caFile?: string) => {
  const result = readDatabaseAddress(text, caFile)
  return Result.isFailure(result) ? result.failure : undefined
}

const PLAIN = { readWrite: false, sslMode: "disable" } as const

describe("the address of a database", () => {
  for (const [text, expected] of [
    [
      "postgresql://runplane:p%40ss%23%2F%3F%25@db:6543/runs",
      { hosts: [{ host: "db", port: 6543 }], user: "runplane", password: "p@ss#/?%", database: "runs", ...PLAIN }
    ],
    ["postgres://db", { hosts: [{ host: "db", port: 5432 }], ...PLAIN }],
    [
      "postgresql://u:a@b@db/x",
      { hosts: [{ host: "db", port: 5432 }], user: "u", password: "a@b", database: "x", ...PLAIN }
    ],
    ["postgresql://[::1]:5433/x", { hosts: [{ host: "::1", port: 5433 }], database: "x", ...PLAIN }],
    [
      "postgresql:///x?host=/var/run/postgresql&port=5433&user=u&password=s%26t",
      { hosts: [{ host: "/var/run/postgresql", port: 5433 }], user: "u", password: "s&t", database: "x", ...PLAIN }
    ],
    ["postgresql://%2Ftmp/x", { hosts: [{ host: "/tmp", port: 5432 }], database: "x", ...PLAIN }],
    ["postgresql:///x", { hosts: [{ host: "localhost", port: 5432 }], database: "x", ...PLAIN }],
    [
      "postgresql://a:1,b,[::1]:3/x",
      {
        hosts: [
          { host: "a", port: 1 },
          { host: "b", port: 5432 },
          { host: "::1", port: 3 }
        ],
        database: "x",
        readWrite: true,
        sslMode: "disable"
      }
    ],
    [
      "postgresql:///x?host=a,b&port=7&target_session_attrs=any",
      {
        hosts: [
          { host: "a", port: 7 },
          { host: "b", port: 7 }
        ],
        database: "x",
        ...PLAIN
      }
    ],
    [
      "postgresql://db/x?application_name=mine&options=-c%20geqo%3Doff&connect_timeout=7&target_session_attrs=read-write",
      {
        hosts: [{ host: "db", port: 5432 }],
        database: "x",
        applicationName: "mine",
        options: "-c geqo=off",
        connectTimeoutMs: 7_000,
        readWrite: true,
        sslMode: "disable"
      }
    ],
    [
      "postgresql://db/x?gssencmode=prefer&channel_binding=prefer&sslsni=1&client_encoding=UTF8&sslnegotiation=postgres",
      { hosts: [{ host: "db", port: 5432 }], database: "x", ...PLAIN }
    ]
  ] as const) {
    it(`reads ${text}`, () => {
      assert.deepStrictEqual<unknown>(read(text), expected)
    })
  }

  for (const [parameters, sslMode] of [
    ["", "disable"],
    ["sslmode=disable", "disable"],
    ["ssl=false", "disable"],
    ["ssl=0", "disable"],
    ["sslmode=require", "require"],
    ["sslmode=require&sslrootcert=/ca.pem", "verify-ca"],
    ["sslmode=verify-ca", "verify-ca"],
    ["sslmode=verify-full", "verify-full"],
    ["ssl=true", "verify-full"],
    ["ssl=1", "verify-full"],
    ["sslrootcert=/ca.pem", "verify-full"],
    ["sslrootcert=system", "verify-full"]
  ] as const) {
    it(`takes "${parameters}" for ${sslMode}`, () => {
      assert.strictEqual(read(`postgresql://db/x?${parameters}`).sslMode, sslMode)
    })
  }

  it("has the files of TLS, and the authority of the service where it names none", () => {
    const { ca, cert, key, keyPassword, maxTlsVersion, minTlsVersion } = read(
      "postgresql://db/x?sslrootcert=/a%20b.pem&sslcert=/c.pem&sslkey=/k.pem&sslpassword=s" +
        "&ssl_min_protocol_version=TLSv1.2&ssl_max_protocol_version=TLSv1.3",
      "/setting.pem"
    )
    assert.deepStrictEqual(
      [ca, cert, key, keyPassword, minTlsVersion, maxTlsVersion],
      ["/a b.pem", "/c.pem", "/k.pem", "s", "TLSv1.2", "TLSv1.3"]
    )
    assert.deepInclude(read("postgresql://db/x", "/setting.pem"), { ca: "/setting.pem", sslMode: "verify-full" })
    assert.notProperty(read("postgresql://db/x?sslrootcert=system", "/setting.pem"), "ca")
  })

  for (const [text, words] of [
    ["mysql://u:geheim@db/x", "must be an address starting with postgres:// or postgresql://"],
    ["db:5432/x", "must be an address starting with postgres:// or postgresql://"],
    ["postgresql://u:geheim#1@db/x", 'has "@" or "#" behind its host: percent-encode these, "/" and "?" in the user'],
    ["postgresql://u:geheim/1@db/x", 'has "@" or "#" behind its host: percent-encode'],
    ["postgresql://u:12/geheim@db/x", 'has "@" or "#" behind its host: percent-encode'],
    ["postgresql://u:12#geheim@db/x", 'has "@" or "#" behind its host: percent-encode'],
    ["postgresql://u:geheim?x=1@db/x", 'has "@" or "#" behind its host: percent-encode'],
    ["postgresql://u:geheim@a?x@db/x", 'has "@" or "#" behind its host: percent-encode'],
    ["postgresql://u:geheim%zz@db/x", 'has a "%" that encodes nothing: percent-encode it (%25)'],
    ["postgresql://u@db:geheim/x", "must name its hosts as host:port, separated by commas"],
    ["postgresql://u@db:99999/x", "has a port that is not a number from 1 to 65535"],
    ["postgresql:///x?host=a,b,c&port=1,2", "has another number of ports than of hosts"],
    ["postgresql://db/x?connect_timeout=geheim", "has a connect_timeout that is not a number of seconds"],
    ["postgresql://db/x?connection_limit=5", "has the parameter connection_limit, which is not supported"],
    ["postgresql://db/x?sslcrl=/crl.pem", "has the parameter sslcrl, which is not supported"],
    [
      "postgresql://db/x?sslmode=prefer",
      "value of sslmode that is not supported: it must be disable, require, verify-ca"
    ],
    ["postgresql://db/x?ssl=require", "value of ssl that is not supported: it must be true, false, 1, 0"],
    ["postgresql://db/x?sslnegotiation=direct", "value of sslnegotiation that is not supported: it must be postgres"],
    [
      "postgresql://db/x?target_session_attrs=standby",
      "value of target_session_attrs that is not supported: it must be any"
    ],
    ["postgresql://db/x?channel_binding=require", "value of channel_binding that is not supported"],
    ["postgresql://db/x?sslmode=verify-full&sslcert=/c", "must have sslcert and sslkey, or neither"],
    ["postgresql://db/x?sslmode=disable&sslrootcert=/c", "has sslrootcert, but no TLS: set sslmode=verify-full"],
    ["postgresql://db/x?sslcert=/c&sslkey=/k", "has sslcert, but no TLS: set sslmode=verify-full"]
  ] as const) {
    it(`refuses ${text}, without its secrets`, () => {
      const found = problem(text)
      assert.include(found, words)
      assert.notInclude(found, "geheim")
    })
  }

  for (const [text, exposed] of [
    ["postgresql://db/x", true],
    ["postgresql://db/x?sslmode=require", true],
    ["postgresql://127.0.0.1,db/x", true],
    ["postgresql://db/x?ssl=true", false],
    ["postgresql://db/x?sslmode=verify-ca", false],
    ["postgresql://127.0.0.1/x", false],
    ["postgresql://[::1],localhost/x", false],
    ["postgresql:///x?host=/var/run/postgresql", false]
  ] as const) {
    it(`${exposed ? "exposes" : "protects"} the way to ${text}`, () => {
      assert.strictEqual(exposureOf(read(text)) !== undefined, exposed)
    })
  }
})
