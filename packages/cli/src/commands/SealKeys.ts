import { createHash, createPublicKey, type KeyObject, verify as verifySignature } from "node:crypto"
import { SealKeySet } from "@runplane/api"
import { doubtsOf, isUnchecked, type Mismatch, type Seal, type Sha256, type SignatureCheck } from "@runplane/domain"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type CliFailure, usageProblem } from "../CliFailure.ts"
import { bytesOf, type Download, fetchBytes, isAddress } from "./Download.ts"

const KEYS: Download = { what: "keys", setBy: "--keys", most: 1024 * 1024, timeoutMs: 10_000 }
const WELL_KNOWN = "/.well-known/runplane-keys.json"

export const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

type Keys = ReadonlyMap<string, KeyObject>

/** Signatures are looked up by these keys. */
export const checkBy =
  (keys: Keys): SignatureCheck =>
  (keyId, message, signature) => {
    const key = keys.get(keyId)
    return key && verifySignature(null, message, key, signature)
  }

const decodeKeys = Schema.decodeUnknownEffect(Schema.fromJsonString(SealKeySet))

/** The keys of a file, or of a service: of its well-known address when only the service is named. */
const readKeys = Effect.fnUntraced(function* (source: string) {
  const isBare = isAddress(source) && URL.canParse(source) && new URL(source).pathname === "/"
  const text = isAddress(source)
    ? yield* fetchBytes(isBare ? new URL(WELL_KNOWN, source).href : source, KEYS)
    : yield* bytesOf(source, KEYS.most)
  const unreadable = () => usageProblem(`${source} holds no keys in the form of ${WELL_KNOWN} of a service`)
  const { keys } = yield* Effect.mapError(decodeKeys(Buffer.from(text).toString("utf8")), unreadable)
  return yield* Effect.try({
    try: (): Keys =>
      new Map(
        keys.map(({ crv, kid, kty, x }) => [kid, createPublicKey({ key: { crv, kty, x }, format: "jwk" })] as const)
      ),
    catch: unreadable
  })
})

const noKeys: Keys = new Map()

/** The keys that `--keys` names; none without it. */
export const keysOf = (source: Option.Option<string>): Effect.Effect<Keys, CliFailure, FileSystem.FileSystem> =>
  Option.match(source, { onNone: () => Effect.succeed(noKeys), onSome: readKeys })

/** `--keys`, for all that checks seals. */
export const keysFlag = Flag.String("keys").pipe(
  Flag.withDescription("Public keys: a file, or the address of the service; needed for what is signed"),
  Flag.optional
)

/** `--allow-unproven`, for all that checks seals. */
export const allowFlag = Flag.Boolean("allow-unproven").pipe(
  Flag.withDescription("Accept what the key does not vouch for: late seals, unproven events and entries"),
  Flag.withDefault(false)
)

/** What a signed seal leaves open of its run, unless that is allowed (docs/reference/seal.md#proof). */
export const unprovenBy = (seal: Seal | null, isAllowed: boolean): Mismatch | undefined => {
  const doubts = seal === null || isAllowed ? [] : doubtsOf(seal)
  return doubts.length === 0
    ? undefined
    : { ok: false, why: `its seal does not prove it: ${doubts.join("; ")} (--allow-unproven accepts that)` }
}

/** How the events of a run that fits its seal relate to what happened. */
export const eventsUnder = (seal: Seal): string => {
  const doubts = doubtsOf(seal)
  if (doubts.length > 0) return `${seal.events}, as they were stored; not proven: ${doubts.join("; ")}`
  return seal.keyId !== null && isUnchecked(seal)
    ? `${seal.events}, as they were sealed by a release that did not check what it signed`
    : `${seal.events}, as they were sealed`
}

export const UNSIGNED = "unsigned: shows accidents, not intentions"

/** What to do about a mismatch that is only for want of keys. */
export const adviceOn = ({ why }: Mismatch, source: Option.Option<string>): string =>
  Option.isNone(source) && why.endsWith("is not known") ? "; name public keys with --keys" : ""
