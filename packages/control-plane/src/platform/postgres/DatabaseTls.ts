import { readFileSync } from "node:fs"
import { type ConnectionOptions, createSecureContext } from "node:tls"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { type DatabaseAddress, readCertificates, warnOfSharedKeyFile } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** A key cannot be read, or does not fit its certificate. */
export class KeyRefused extends Data.TaggedError("KeyRefused")<{ readonly path: string; readonly cause: unknown }> {
  override get message(): string {
    return `${this.path}: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

/**
 * What the driver needs for the TLS of an address; false for plain text. Reads the files that the address names
 * (docs/reference/deploy.md#the-database).
 */
export const readDatabaseTls = Effect.fnUntraced(function* (address: DatabaseAddress) {
  const { ca, cert, key, keyPassword, maxTlsVersion, minTlsVersion, sslMode } = address
  if (sslMode === "disable") return false
  const attempt = <A>(read: () => A) =>
    Effect.try({ try: read, catch: (cause) => new KeyRefused({ path: key ?? "TLS", cause }) })
  const options: ConnectionOptions = {
    rejectUnauthorized: sslMode !== "require",
    ...(ca !== undefined && { ca: yield* readCertificates(ca) }),
    ...(cert !== undefined && { cert: yield* readCertificates(cert) }),
    ...(key !== undefined && { key: yield* attempt(() => readFileSync(key)) }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    ...(minTlsVersion !== undefined && { minVersion: minTlsVersion }),
    ...(maxTlsVersion !== undefined && { maxVersion: maxTlsVersion }),
    ...(sslMode === "verify-ca" && { checkServerIdentity: () => undefined })
  }
  yield* attempt(() => createSecureContext(options))
  if (key !== undefined) yield* warnOfSharedKeyFile(key)
  return options
}, Effect.provide(NodeFileSystem.layer))
