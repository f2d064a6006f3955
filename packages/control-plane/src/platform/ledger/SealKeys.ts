import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  sign
} from "node:crypto"
import type { Signer } from "@runplane/domain"
import { ControlPlaneSettings, fileProblem, readSetting, warnOfSharedKeyFile } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"

/** The file of `SEAL_PRIVATE_KEY_FILE` holds no key that can seal. */
export class SealKeyInvalid extends Data.TaggedError("SealKeyInvalid")<{
  readonly path: string
  readonly why: string
}> {
  override get message(): string {
    return `${this.path}: ${this.why}`
  }
}

/** A key that seals: its private half signs, its public half goes into the published keys. */
export interface SealKey extends Signer {
  /** The public key's 32 bytes, base64url. */
  readonly publicKey: string
  /** HMAC-SHA-256 by a key that is derived from the private one and is in no database; hexadecimal. */
  readonly mac: (message: string) => string
}

/** What the derived key is for: another use of the seal's key gets another text. */
const MAC_KEY_INFO = "runplane-head-mac-v1"

/** More than any PEM of such a key. */
const MOST_BYTES = 65_536

/** Reads an Ed25519 private key from a PEM file. The text of the file is never part of an error. */
export const readSealKey = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const invalid = (why: string) => new SealKeyInvalid({ path, why })
  const { size, type } = yield* Effect.mapError(files.stat(path), (error) => invalid(fileProblem(error)))
  if (type !== "File") return yield* invalid("it is not a file")
  if (Number(size) > MOST_BYTES) return yield* invalid("it is too large for a key")
  const pem = yield* Effect.mapError(files.readFileString(path), (error) => invalid(fileProblem(error)))
  const key = yield* Effect.try({
    try: () => createPrivateKey(pem),
    catch: () => invalid("it is not a private key in PEM form without a passphrase")
  })
  if (key.asymmetricKeyType !== "ed25519") {
    return yield* invalid(`it holds a key of type ${key.asymmetricKeyType ?? "unknown"}; it must be Ed25519`)
  }
  return sealKeyOf(key)
})

/** The key that an Ed25519 private key makes. */
export const sealKeyOf = (privateKey: KeyObject): SealKey => {
  const { x: publicKey = "" } = createPublicKey(privateKey).export({ format: "jwk" })
  const { d: seed = "" } = privateKey.export({ format: "jwk" })
  const derived = hkdfSync("sha256", Buffer.from(seed, "base64url"), "", MAC_KEY_INFO, 32)
  const macKey = createSecretKey(new Uint8Array(derived))
  return {
    publicKey,
    keyId: keyIdOf(publicKey),
    sign: (message) => sign(null, message, privateKey),
    mac: (message) => createHmac("sha256", macKey).update(message).digest("hex")
  }
}

/** The id of a public key: its JWK thumbprint (RFC 7638), so no key needs a name. */
const keyIdOf = (publicKey: string): string =>
  createHash("sha256")
    .update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x: publicKey }))
    .digest("base64url")

/** The key that seals runs in this process (docs/reference/seal.md#keys); without one nothing is signed. */
export const SealKeys = Context.Reference<{ readonly current: SealKey | undefined }>(
  "runplane/control-plane/SealKeys",
  {
    defaultValue: () => ({ current: undefined })
  }
)

/** From `SEAL_PRIVATE_KEY_FILE`. Fails with `SealKeyInvalid`. */
export const layerSealKeys = Layer.effect(
  SealKeys,
  Effect.gen(function* () {
    const path = yield* readSetting(ControlPlaneSettings.SEAL_PRIVATE_KEY_FILE)
    if (path === undefined) return { current: undefined }
    const current = yield* readSealKey(path)
    yield* warnOfSharedKeyFile(path)
    return { current }
  })
)
