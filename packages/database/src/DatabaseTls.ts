import { type ConnectionOptions, createSecureContext } from "node:tls"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { type DatabaseAddress, fileProblem, readCertificates, warnOfSharedKeyFile } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"

/** A key cannot be read, or does not fit its certificate. */
export class KeyRefused extends Data.TaggedError("KeyRefused")<{ readonly path: string; readonly why: string }> {
  override get message(): string {
    return `${this.path}: ${this.why}`
  }
}

/**
 * What the driver needs for the TLS of an address; false for plain text. Reads the files that the address names
 * (docs/reference/deploy.md#the-database).
 */
export const readDatabaseTls = Effect.fnUntraced(function* (address: DatabaseAddress) {
  const { ca, cert, key, keyPassword, maxTlsVersion, minTlsVersion, sslMode } = address
  if (sslMode === "disable") return false
  const files = yield* FileSystem.FileSystem
  const refused = (why: string) => new KeyRefused({ path: key ?? "TLS", why })
  const options: ConnectionOptions = {
    rejectUnauthorized: sslMode !== "require",
    ...(ca !== undefined && { ca: yield* readCertificates(ca) }),
    ...(cert !== undefined && { cert: yield* readCertificates(cert) }),
    ...(key !== undefined && {
      key: Buffer.from(yield* Effect.mapError(files.readFile(key), (error) => refused(fileProblem(error))))
    }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    ...(minTlsVersion !== undefined && { minVersion: minTlsVersion }),
    ...(maxTlsVersion !== undefined && { maxVersion: maxTlsVersion }),
    ...(sslMode === "verify-ca" && { checkServerIdentity: () => undefined })
  }
  yield* Effect.try({
    try: () => createSecureContext(options),
    catch: (cause) => refused(cause instanceof Error ? cause.message : String(cause))
  })
  if (key !== undefined) yield* warnOfSharedKeyFile(key)
  return options
}, Effect.provide(NodeFileSystem.layer))
