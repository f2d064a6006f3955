import { X509Certificate } from "node:crypto"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { fileProblem } from "./FileProblem.ts"

/** A file that should hold certificates does not. */
export class CertificatesInvalid extends Data.TaggedError("CertificatesInvalid")<{
  readonly path: string
  readonly why: string
}> {
  override get message(): string {
    return `${this.path}: ${this.why}`
  }
}

/** More than any bundle of certificates. */
const MOST_BYTES = 4 * 1024 * 1024

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Reads the certificates of a PEM file; one at least, and each of them must be readable. */
export const readCertificates = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const invalid = (why: string) => new CertificatesInvalid({ path, why })
  const { size, type } = yield* Effect.mapError(files.stat(path), (error) => invalid(fileProblem(error)))
  if (type !== "File") return yield* invalid("it is not a file")
  if (Number(size) > MOST_BYTES) return yield* invalid("it is too large for a list of certificates")
  const pem = yield* Effect.mapError(files.readFileString(path), (error) => invalid(fileProblem(error)))
  const certificates = pem.match(CERTIFICATE) ?? []
  if (certificates.length === 0) return yield* invalid("it holds no certificate in PEM form")
  for (const [index, certificate] of certificates.entries()) {
    yield* Effect.try({
      try: () => new X509Certificate(certificate),
      catch: () => invalid(`certificate ${index + 1} cannot be read`)
    })
  }
  return certificates.join("\n")
})
