import { chmodSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type DatabaseOptions, layerDatabase } from "../../../src/platform/postgres/Database.ts"

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../../runtime/test/fixtures/tls/${name}`, import.meta.url))
const CERTIFICATE = fixture("localhost.cert.pem")

/** A database whose server offers TLS: its files are written by the server, which has to own them. */
const withTls = Effect.gen(function* () {
  const url = yield* createDatabase
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [folder] = yield* sql<{ readonly path: string }>`SELECT current_setting('data_directory') AS path`
    for (const [setting, name] of [
      ["ssl_cert_file", "localhost.cert.pem"],
      ["ssl_key_file", "localhost.key.pem"]
    ] as const) {
      const path = `${folder?.path}/${name}`
      const content = readFileSync(fixture(name), "utf8").trim()
      yield* sql.unsafe(`COPY (SELECT unnest(string_to_array('${content}', E'\\n'))) TO '${path}'`).unprepared
      // The server takes no key that others may read.
      chmodSync(path, 0o600)
      yield* sql.unsafe(`ALTER SYSTEM SET ${setting} = '${path}'`).unprepared
    }
    yield* sql.unsafe("ALTER SYSTEM SET ssl = on").unprepared
    yield* sql`SELECT pg_reload_conf()`
    yield* until(sql<{ readonly ssl: string }>`SELECT current_setting('ssl') AS ssl`, ([row]) => row?.ssl === "on")
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
  return url
})

const isEncrypted = (options: DatabaseOptions) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [row] = yield* sql<{ readonly ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
    return row?.ssl
  }).pipe(Effect.provide(layerDatabase({ maxConnections: 1, ...options })))

describe("the TLS of the database", () => {
  it.live("is as the URL and the setting say", () =>
    Effect.gen(function* () {
      const url = yield* withTls
      const { port } = new URL(url)
      const at = (host: string, parameters: string) => `${url.replace(/@[^/]+/, `@${host}:${port}`)}?${parameters}`
      const localhost = (parameters: string) => at("localhost", parameters)
      // The certificate names 127.0.0.1, not this form of it.
      const unnamed = (parameters: string) => at("[::ffff:127.0.0.1]", parameters)
      const authority = `sslrootcert=${encodeURIComponent(CERTIFICATE)}`
      for (const [address, expected, caFile] of [
        [localhost(""), false],
        [localhost("sslmode=disable"), false],
        [localhost("sslmode=require"), true],
        [localhost(`sslmode=require&${authority}`), true],
        [localhost(`sslmode=verify-full&${authority}`), true],
        [localhost(authority), true],
        [unnamed(`sslmode=verify-ca&${authority}`), true],
        [localhost(""), true, CERTIFICATE],
        [localhost("ssl=true&ssl_min_protocol_version=TLSv1.3"), true, CERTIFICATE]
      ] as const) {
        assert.strictEqual(yield* isEncrypted({ url: address, caFile }), expected, `${address} ${caFile}`)
      }
      for (const [address, words, caFile] of [
        [localhost("ssl=true"), /self-signed certificate/],
        [localhost("sslmode=verify-ca"), /self-signed certificate/],
        [unnamed(`sslmode=verify-full&${authority}`), /does not match certificate's altnames/],
        [localhost("sslrootcert=/nowhere.pem"), /the TLS cannot be set up: \/nowhere\.pem: /],
        [
          localhost(`sslcert=${CERTIFICATE}&sslkey=/nowhere.pem&${authority}`),
          /the TLS cannot be set up: \/nowhere\.pem: it does not exist/
        ],
        [localhost(""), /the TLS cannot be set up: .*localhost\.key\.pem: /, fixture("localhost.key.pem")]
      ] as const) {
        const { message } = yield* Effect.flip(isEncrypted({ url: address, caFile }))
        assert.match(message, words, address)
        assert.notInclude(message, "\n")
        assert.notInclude(message, new URL(url).password)
      }
    })
  )
})
