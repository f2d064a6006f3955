import { generateKeyPairSync } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { check } from "./Check.ts"

const PASSWORD = "hunter2"

describe("a setting", () => {
  it.effect("that names a file of prices is opened", () =>
    Effect.gen(function* () {
      const { lines, outcome } = yield* check({
        PROTO_TOKEN_PRICING_FILE: "/nowhere/prices.json",
        MODEL_PRICES_FILE: "/nowhere/catalogue.json",
        PORT: "-1"
      })
      assert.strictEqual(outcome._tag, "Failure")
      assert.lengthOf(lines, 3)
      assert.deepStrictEqual(lines.slice(0, 2), [
        "Error: PROTO_TOKEN_PRICING_FILE cannot be used: /nowhere/prices.json: it does not exist",
        "Error: MODEL_PRICES_FILE cannot be used: /nowhere/catalogue.json: it does not exist"
      ])
    })
  )

  it.effect("that names a file of prices says once what is wrong with the file", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "runplane-prices-"))
      const path = join(folder, "prices.json")
      const said = Effect.fnUntraced(function* (text: string) {
        writeFileSync(path, text)
        const { lines } = yield* check({ PROTO_TOKEN_PRICING_FILE: path, MODEL_PRICES_FILE: path })
        return lines.map((line) => line.replaceAll(path, "FILE"))
      })
      const [prices, catalogue] = yield* said("[")
      assert.match(prices ?? "", /^Error: PROTO_TOKEN_PRICING_FILE cannot be used: FILE: is not JSON: [^:]+$/)
      assert.match(
        catalogue ?? "",
        /^Error: MODEL_PRICES_FILE cannot be used: FILE: is not a list of model prices: [^:]+$/
      )
      assert.strictEqual(
        (yield* said("{}"))[0],
        "Error: MODEL_PRICES_FILE cannot be used: FILE: is not a list of model prices: it must be a list of providers " +
          "with models"
      )
      const isFolder = yield* check({ PROTO_TOKEN_PRICING_FILE: folder, MODEL_PRICES_FILE: folder })
      assert.deepStrictEqual(isFolder.lines, [
        `Error: PROTO_TOKEN_PRICING_FILE cannot be used: ${folder}: it is not a file`,
        `Error: MODEL_PRICES_FILE cannot be used: ${folder}: it is not a file`
      ])
      rmSync(folder, { recursive: true })
    })
  )

  it.effect("that names the key of seals is opened, and its text is never shown", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "runplane-key-"))
      const pem = (type: "ed25519" | "x25519") => {
        const { privateKey } = type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")
        return privateKey.export({ type: "pkcs8", format: "pem" })
      }
      const said = Effect.fnUntraced(function* (text: string | Buffer) {
        const path = join(folder, "key.pem")
        writeFileSync(path, text)
        const { lines } = yield* check({ SEAL_PRIVATE_KEY_FILE: path })
        return lines.join("\n").replace(path, "FILE")
      })
      const refused = (why: string) => `Error: SEAL_PRIVATE_KEY_FILE cannot be used: FILE: ${why}`
      assert.strictEqual(yield* said(pem("ed25519")), "")
      assert.strictEqual(yield* said(pem("x25519")), refused("it holds a key of type x25519; it must be Ed25519"))
      assert.strictEqual(yield* said(PASSWORD), refused("it is not a private key in PEM form without a passphrase"))
      assert.strictEqual(yield* said("x".repeat(70_000)), refused("it is too large for a key"))
      const missing = yield* check({ SEAL_PRIVATE_KEY_FILE: "/nowhere/key.pem" })
      assert.strictEqual(missing.outcome._tag, "Failure")
      assert.deepStrictEqual(missing.lines, [
        "Error: SEAL_PRIVATE_KEY_FILE cannot be used: /nowhere/key.pem: it does not exist"
      ])
      const isFolder = yield* check({ SEAL_PRIVATE_KEY_FILE: folder })
      assert.match(isFolder.lines[0] ?? "", /it is not a file/)
      rmSync(folder, { recursive: true })
    })
  )

  it.effect("that names the certificates for the runtime is opened", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "runplane-ca-"))
      const path = join(folder, "ca.pem")
      const said = Effect.fnUntraced(function* (text: string, RUNTIME_TLS = "true") {
        writeFileSync(path, text)
        const { lines } = yield* check({ RUNTIME_TLS, RUNTIME_TLS_CA_FILE: path })
        return lines.join("\n").replace(path, "FILE")
      })
      const bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      const good = rootCertificates[0] ?? ""
      assert.strictEqual(yield* said(`# ours\n${good}\n${good}\n`), "")
      const refused = (why: string) => `Error: RUNTIME_TLS_CA_FILE cannot be used: FILE: ${why}`
      assert.strictEqual(yield* said(""), refused("it holds no certificate in PEM form"))
      assert.strictEqual(yield* said(`${good}\n${bad}`), refused("certificate 2 cannot be read"))
      assert.strictEqual(yield* said(good, "false"), "Warn: RUNTIME_TLS_CA_FILE changes nothing without RUNTIME_TLS")
      rmSync(folder, { recursive: true })
    })
  )

  it.effect("of the TLS of the database is checked before the start", () =>
    Effect.gen(function* () {
      const noFile = yield* check({ DATABASE_TLS_CA_FILE: "/nowhere/ca.pem" })
      assert.strictEqual(noFile.outcome._tag, "Failure")
      assert.match(
        noFile.lines.join("\n"),
        /^Error: DATABASE_TLS_CA_FILE cannot be used: \/nowhere\/ca\.pem: it does not exist$/
      )
      const inUrl = yield* check({ DATABASE_URL: `postgresql://u:${PASSWORD}@db/x?sslrootcert=/nowhere/ca.pem` })
      assert.match(
        inUrl.lines.join("\n"),
        /^Error: DATABASE_URL cannot be used: \/nowhere\/ca\.pem: it does not exist$/
      )
      const noTls = yield* check({
        DATABASE_URL: `postgresql://u:${PASSWORD}@db/x?sslmode=disable`,
        DATABASE_TLS_CA_FILE: fileURLToPath(
          new URL("../../../runtime/test/fixtures/tls/localhost.cert.pem", import.meta.url)
        )
      })
      assert.deepStrictEqual(noTls.lines, ["Error: DATABASE_URL disables TLS, but DATABASE_TLS_CA_FILE is set"])
    })
  )
})
