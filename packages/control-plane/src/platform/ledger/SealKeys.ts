import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  sign
} from "node:crypto"
import { keyThumbprint, type Signer } from "@runplane/domain"
import { ControlPlaneSettings, fileProblem, readSetting, warnOfSharedKeyFile } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { sha256 } from "../Sha256.ts"

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
    keyId: keyThumbprint(sha256, publicKey),
    sign: (message) => sign(null, message, privateKey),
    mac: (message) => createHmac("sha256", macKey).update(message).digest("hex")
  }
}

/**
 * The key that seals runs in this process (docs/reference/seal.md#keys); without one nothing is signed. `previous` is
 * the key that it replaced, which signs the change.
 */
export const SealKeys = Context.Reference<{
  readonly current: SealKey | undefined
  readonly previous?: SealKey | undefined
}>("runplane/control-plane/SealKeys", { defaultValue: () => ({ current: undefined }) })

const readKeyFile = Effect.fnUntraced(function* (path: string | undefined) {
  if (path === undefined) return undefined
  const key = yield* readSealKey(path)
  yield* warnOfSharedKeyFile(path)
  return key
})

/** From `SEAL_PRIVATE_KEY_FILE` and `SEAL_PREVIOUS_KEY_FILE`. Fails with `SealKeyInvalid`. */
export const layerSealKeys = Layer.effect(
  SealKeys,
  Effect.gen(function* () {
    const current = yield* readKeyFile(yield* readSetting(ControlPlaneSettings.SEAL_PRIVATE_KEY_FILE))
    const previous = yield* readKeyFile(yield* readSetting(ControlPlaneSettings.SEAL_PREVIOUS_KEY_FILE))
    return { current, previous: previous?.keyId === current?.keyId ? undefined : previous }
  })
)
