import { createHash, createPublicKey, type KeyObject, verify as verifySignature } from "node:crypto"
import { SealKeySet } from "@runplane/api"
import { doubtsOf, isUnchecked, type Mismatch, type Seal, type Sha256, type SignatureCheck } from "@runplane/domain"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CliFailure, EXIT_CODES, failed, usageProblem } from "../CliFailure.ts"
import { printedAsJson } from "../Output.ts"
import { plainText } from "../story/PlainText.ts"
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

/** Where the keys of a service are; `undefined` without a service. */
export const keysAddress = (baseUrl: string | undefined): string =>
  baseUrl === undefined ? `a kept file, or the address of the service with ${WELL_KNOWN}` : keysUrl(baseUrl)

const keysUrl = (baseUrl: string) => `${baseUrl.replace(/\/+$/, "")}${WELL_KNOWN}`

/** What was checked, and with which keys. */
interface Checked {
  /** Such as `run 4711`. */
  readonly subject: string
  /** What `index` counts. */
  readonly unit: "event" | "entry"
  readonly keys: Option.Option<string>
  /** The service that it was read from; undefined offline. */
  readonly baseUrl?: string
}

/**
 * The failure for a mismatch (docs/reference/seal.md#verify). Without keys a signature is neither right nor wrong: that
 * is inconclusive, with the address of the keys. With keys it is not signed by one of them.
 */
const mismatchFailure = (
  { baseUrl, keys, subject, unit }: Checked,
  { index, unknownKey, why }: Mismatch
): CliFailure => {
  const from = index === undefined ? "" : unit === "event" ? ` from event ${index} on` : ` at entry ${index}`
  if (unknownKey === undefined) return failed(`${subject} does not fit${from}: ${plainText(why)}`)
  const unproven = `${subject} is not proven${from}: ${plainText(why)} here`
  return Option.isSome(keys)
    ? failed(`${unproven}: it is not one of ${plainText(keys.value)}`)
    : new CliFailure({
        reason: `${unproven}; name public keys with --keys: ${keysAddress(baseUrl)}`,
        code: EXIT_CODES.inconclusive
      })
}

/** Ends the command for a mismatch; `document` is the answer of `--json`. */
export const refuseMismatch = Effect.fnUntraced(function* (checked: Checked, mismatch: Mismatch, document: object) {
  const failure = mismatchFailure(checked, mismatch)
  if (yield* printedAsJson(document)) return yield* new CliFailure({ reason: "", code: failure.code })
  return yield* failure
})
