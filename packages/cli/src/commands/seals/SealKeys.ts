import { createHash, createPublicKey, type KeyObject, verify as verifySignature } from "node:crypto"
import { SealKeySet } from "@runplane/api"
import {
  type ChainVersion,
  doubtsOf,
  isUnchecked,
  keyChain,
  type Mismatch,
  type Seal,
  type Sha256,
  type SignatureCheck,
  type SignedKeyStatement
} from "@runplane/domain"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CliFailure, EXIT_CODES, failed, usageProblem } from "../../CliFailure.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { printedAsJson } from "../../Output.ts"
import { bytesOf, type Download, fetchBytes, isAddress } from "../common/Download.ts"

const KEYS: Download = { what: "keys", setBy: "--keys", most: 1024 * 1024, timeoutMs: 10_000 }
const WELL_KNOWN = "/.well-known/runplane-keys.json"

export const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The keys that a check trusts. */
export interface TrustedKeys {
  readonly keys: ReadonlyMap<string, KeyObject>
  /** Since when each key seals, ISO-8601; only where the keys are those of a service, which proves them as a chain. */
  readonly since: ReadonlyMap<string, string>
  /** The service that the keys are from; undefined for a file. */
  readonly service: string | undefined
}

/** Signatures are looked up by these keys. */
export const checkBy =
  ({ keys }: Pick<TrustedKeys, "keys">): SignatureCheck =>
  (keyId, message, signature) => {
    const key = keys.get(keyId)
    return key && verifySignature(null, message, key, signature)
  }

const decodeKeys = Schema.decodeUnknownEffect(Schema.fromJsonString(SealKeySet))

/** The address of the keys of a service; undefined for a file, and for an address that only publishes a saved one. */
const serviceKeys = (source: string): string | undefined => {
  if (!isAddress(source) || !URL.canParse(source)) return undefined
  const { pathname } = new URL(source)
  if (pathname === "/") return new URL(WELL_KNOWN, source).href
  return pathname.endsWith(WELL_KNOWN) ? source : undefined
}

/**
 * The keys of a file, or of a service: of its well-known address when only the service is named. A service vouches for
 * its own keys, so only those count that its newest one proves (docs/reference/seal.md#keys).
 */
const readKeys = Effect.fnUntraced(function* (source: string) {
  const service = serviceKeys(source)
  const text = isAddress(source) ? yield* fetchBytes(service ?? source, KEYS) : yield* bytesOf(source, KEYS.most)
  const unreadable = () => usageProblem(`${source} holds no keys in the form of ${WELL_KNOWN} of a service`)
  const { keys: listed } = yield* Effect.mapError(decodeKeys(Buffer.from(text).toString("utf8")), unreadable)
  const keys = yield* Effect.try({
    try: () =>
      new Map(
        listed.map(({ crv, kid, kty, x }) => [kid, createPublicKey({ key: { crv, kty, x }, format: "jwk" })] as const)
      ),
    catch: unreadable
  })
  if (service === undefined) return { keys, since: new Map(), service } satisfies TrustedKeys
  const statements = listed.flatMap(
    ({ kid, statement, x }): ReadonlyArray<SignedKeyStatement> =>
      statement === undefined ? [] : [{ keyId: kid, publicKey: x, ...statement }]
  )
  // The newest first, as services list them.
  const chain = keyChain(sha256, statements, checkBy({ keys }), listed[0]?.kid ?? "")
  const since = new Map(chain.map((one) => [one.keyId, one.since]))
  return { keys: new Map([...keys].filter(([keyId]) => since.has(keyId))), since, service } satisfies TrustedKeys
})

const noKeys: TrustedKeys = { keys: new Map(), since: new Map(), service: undefined }

/** The keys that `--keys` names; none without it. */
export const keysOf = (source: Option.Option<string>): Effect.Effect<TrustedKeys, CliFailure, FileSystem.FileSystem> =>
  Option.match(source, { onNone: () => Effect.succeed(noKeys), onSome: readKeys })

/** What keys of the service under test leave open, as a fact; undefined for a saved file. */
export const keysText = ({ service }: TrustedKeys): string | undefined =>
  service === undefined ? undefined : `of the service under test, ${service}: a saved file proves more`

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

/** `--min-chain`, for all that checks histories. */
export const minChainFlag = Flag.Literals("min-chain", ["1", "2"]).pipe(
  Flag.withDescription("Refuse an earlier version of the chain; texts of version 1 cannot be erased"),
  Flag.withDefault("1"),
  Flag.map((version): ChainVersion => (version === "2" ? 2 : 1))
)

/** How many values of a history were erased; undefined for none. */
export const erasedText = (entries: number): string | undefined =>
  entries === 0 ? undefined : `${entries} ${entries === 1 ? "value" : "values"}, each with an entry that says why`

/**
 * What a signed seal leaves open of its run, unless that is allowed (docs/reference/seal.md#proof). A key of the
 * service that is younger than the seal is never allowed.
 */
export const unprovenBy = (seal: Seal | null, isAllowed: boolean, trusted: TrustedKeys): Mismatch | undefined => {
  const since = seal?.keyId == null ? undefined : trusted.since.get(seal.keyId)
  if (seal !== null && since !== undefined && Date.parse(since) > Date.parse(seal.sealedAt)) {
    return { ok: false, why: `the key ${seal.keyId} seals since ${since}, and its seal is of ${seal.sealedAt}` }
  }
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
    ? failed(`${unproven}: it is not one of those that ${plainText(keys.value)} has, or proves`)
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
