import * as Base64Url from "effect/encoding/Base64Url"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isOfForm, isOneLine } from "../../values/Field.ts"
import type { Sha256 } from "../../values/Sha256.ts"
import { AnswerAct } from "../AnswerAct.ts"
import { timeText } from "../ArtifactTexts.ts"
import { passkeyChallenge, type SignedAnswer, signedText } from "./PasskeyChallenge.ts"

const BASE64URL = /^[\w-]+$/
const bytesText = (most: number) => Schema.String.check(Schema.isMaxLength(most), isOfForm(BASE64URL))

/** Characters: a reason of 4,000 of them whose every one is an escape, and the other members. */
const MAX_SIGNED = 32_768
const MAX_HOST = 253

/** How a passkey has signed an answer: all that a verification needs, in base64url. */
export const PasskeyRecord = Schema.Struct({
  /** The canonical JSON under the challenge, with the reason and the nonce; empty once it is erased. */
  signed: Schema.String.check(Schema.isMaxLength(MAX_SIGNED)),
  /** COSE key: ES256 or RS256. */
  publicKey: bytesText(1_024),
  enrolledAt: timeText,
  /** Host of the page for which the passkey was made. */
  rpId: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_HOST), isOneLine),
  authenticatorData: bytesText(2_048),
  clientDataJSON: bytesText(4_096),
  signature: bytesText(1_024)
})
export type PasskeyRecord = typeof PasskeyRecord.Type

/** The public key of a passkey as a JSON Web Key: ECDSA with P-256, or RSA with PKCS #1 v1.5; both with SHA-256. */
export type PasskeyKey =
  | { readonly kty: "EC"; readonly crv: "P-256"; readonly x: string; readonly y: string }
  | { readonly kty: "RSA"; readonly n: string; readonly e: string }

export interface PasskeyTools {
  readonly sha256: Sha256
  /** Whether a signature, of ECDSA in DER, over a message is one of the key. */
  readonly verify: (key: PasskeyKey, message: Uint8Array, signature: Uint8Array) => boolean
}

/** The answer that a passkey must have signed: that of the record. */
export interface ProvedAnswer extends Pick<SignedAnswer, "item" | "proposalHash" | "basis" | "act" | "confidence"> {
  readonly recommendation?: string | undefined
  readonly severity?: string | undefined
  /** When the question was asked: a key that was enrolled later proves nothing. */
  readonly askedAt: string
}

export type PasskeyVerdict =
  | { readonly _tag: "valid"; readonly reason: string }
  /** The reason and the nonce are erased: the signature is one of the key, and what it is about is not known. */
  | { readonly _tag: "erased" }
  | { readonly _tag: "invalid"; readonly why: string }

// {1: 2, 3: -7, -1: 1, -2: x, -3: y}: CTAP2 writes such a key in this order alone.
const COSE_BEGIN = Uint8Array.of(0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20)
const COSE_MIDDLE = Uint8Array.of(0x22, 0x58, 0x20)
const COORDINATE = 32
const COSE_BYTES = COSE_BEGIN.length + COORDINATE + COSE_MIDDLE.length + COORDINATE

const equal = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

const es256Key = (cose: Uint8Array): PasskeyKey | undefined => {
  const middle = COSE_BEGIN.length + COORDINATE
  const y = middle + COSE_MIDDLE.length
  const isOne =
    cose.length === COSE_BYTES &&
    equal(cose.subarray(0, COSE_BEGIN.length), COSE_BEGIN) &&
    equal(cose.subarray(middle, y), COSE_MIDDLE)
  if (!isOne) return undefined
  const [first, second] = [cose.subarray(COSE_BEGIN.length, middle), cose.subarray(y)]
  return { kty: "EC", crv: "P-256", x: Base64Url.encode(first), y: Base64Url.encode(second) }
}

// {1: 3, 3: -257, -1: n, -2: 65537}, with the length of n in two bytes.
const RSA_BEGIN = Uint8Array.of(0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59)
const RSA_END = Uint8Array.of(0x21, 0x43, 1, 0, 1)
const RSA_BITS: ReadonlyArray<number> = [2_048, 3_072, 4_096]

const rs256Key = (cose: Uint8Array): PasskeyKey | undefined => {
  const at = RSA_BEGIN.length + 2
  const end = cose.length - RSA_END.length
  const length = end - at
  const isOne =
    RSA_BITS.includes(8 * length) &&
    equal(cose.subarray(0, at), Uint8Array.of(...RSA_BEGIN, length >> 8, length & 0xff)) &&
    equal(cose.subarray(end), RSA_END) &&
    // A modulus of this many bits is odd.
    (cose[at] ?? 0) >= 0x80 &&
    (cose[end - 1] ?? 0) % 2 === 1
  return isOne
    ? { kty: "RSA", n: Base64Url.encode(cose.subarray(at, end)), e: Base64Url.encode(RSA_END.subarray(2)) }
    : undefined
}

/** The COSE algorithms of passkeys, the preferred first: ES256, and RS256 of devices that know no other one. */
export const PASSKEY_ALGORITHMS: ReadonlyArray<number> = [-7, -257]

/** The key under a COSE key; undefined for one of another kind. */
export const passkeyKey = (cose: Uint8Array): PasskeyKey | undefined => es256Key(cose) ?? rs256Key(cose)

const ClientData = Schema.Struct({
  type: Schema.String,
  challenge: Schema.String,
  origin: Schema.String,
  crossOrigin: Schema.optionalKey(Schema.Boolean)
})
const readClientData = Schema.decodeUnknownOption(Schema.fromJsonString(ClientData))

const Signed = Schema.Struct({
  v: Schema.Literal(1),
  item: Schema.String,
  proposalHash: Schema.String,
  basis: Schema.Struct({ ordinal: Schema.Int, sha256: Schema.String }),
  act: AnswerAct,
  recommendation: Schema.optionalKey(Schema.Literals(["APPROVE", "REVIEW", "BLOCK", "REJECT"])),
  confidence: Schema.optionalKey(Schema.Finite),
  severity: Schema.optionalKey(Schema.Literals(["low", "medium", "high", "critical"])),
  reason: Schema.String,
  nonce: Schema.String.check(isOfForm(/^[0-9a-f]{64}$/))
})
const readSigned = Schema.decodeUnknownOption(Schema.fromJsonString(Signed))

/** The answer that a text under a signature is about; undefined for another text, and for an erased one. */
export const readSignedText = (signed: string): SignedAnswer | undefined => {
  const answer = Option.getOrUndefined(readSigned(signed))
  return answer !== undefined && signedText(answer) === signed ? answer : undefined
}

const utf8 = new TextEncoder()
const text = new TextDecoder()

/** Bytes of a text in base64url; undefined for a text that is not the one of its bytes. */
const bytesOf = (encoded: string): Uint8Array | undefined => {
  const bytes = Result.getOrUndefined(Base64Url.decode(encoded))
  return bytes !== undefined && Base64Url.encode(bytes) === encoded ? bytes : undefined
}

const USER_PRESENT = 1
const USER_VERIFIED = 4
const HASH_BYTES = 32
/** Hash of the host, flags, counter. */
const SHORTEST_DATA = HASH_BYTES + 5

const isOriginOf = (origin: string, rpId: string): boolean => {
  if (!URL.canParse(origin)) return false
  const { hostname, origin: whole, protocol } = new URL(origin)
  const isSecure = protocol === "https:" || (protocol === "http:" && hostname === "localhost")
  return isSecure && whole === origin && (hostname === rpId || hostname.endsWith(`.${rpId}`))
}

/** The members that the text under a signature and the record have in common. */
const common = ({
  act,
  basis,
  confidence,
  item,
  proposalHash,
  recommendation,
  severity
}: Omit<ProvedAnswer, "askedAt">): string =>
  JSON.stringify([item, proposalHash, basis.ordinal, basis.sha256, act, recommendation, confidence, severity])

const invalid = (why: string): PasskeyVerdict => ({ _tag: "invalid", why })

/**
 * Whether a passkey has signed exactly this answer: its item, the hash of the proposal, what was shown, act and reason.
 * It proves that the holder of the key was verified by its device and signed; who holds the key, the launch service
 * says.
 */
export const checkPasskey = (
  { sha256, verify }: PasskeyTools,
  answer: ProvedAnswer,
  record: PasskeyRecord
): PasskeyVerdict => {
  const [data, client, signature, cose] = [
    bytesOf(record.authenticatorData),
    bytesOf(record.clientDataJSON),
    bytesOf(record.signature),
    bytesOf(record.publicKey)
  ]
  if (data === undefined || client === undefined || signature === undefined || cose === undefined) {
    return invalid("a member of its assertion is not base64url")
  }
  const key = passkeyKey(cose)
  if (key === undefined) return invalid("its public key is not one of ES256 or RS256")
  const said = Option.getOrUndefined(readClientData(text.decode(client)))
  if (said === undefined) return invalid("its client data cannot be read")
  if (said.type !== "webauthn.get") return invalid("its client data is not one of an assertion")
  if (said.crossOrigin === true || !isOriginOf(said.origin, record.rpId)) {
    return invalid(`it was made for another origin than ${record.rpId}`)
  }
  if (data.length < SHORTEST_DATA || !equal(data.subarray(0, HASH_BYTES), sha256(utf8.encode(record.rpId)))) {
    return invalid(`it was made for another host than ${record.rpId}`)
  }
  const flags = data[HASH_BYTES] ?? 0
  if ((flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0) return invalid("its device verified no person")
  const message = new Uint8Array([...data, ...sha256(client)])
  if (!verify(key, message, signature)) return invalid("its signature is not one of the key")
  if (Date.parse(record.enrolledAt) > Date.parse(answer.askedAt)) {
    return invalid("its key was enrolled after the question was asked")
  }
  if (record.signed === "") return { _tag: "erased" }
  if (said.challenge !== passkeyChallenge(sha256, record.signed)) return invalid("it has signed another answer")
  const signed = readSignedText(record.signed)
  if (signed === undefined) return invalid("what it has signed cannot be read")
  if (common(signed) !== common(answer)) return invalid("what it has signed is not the answer of the record")
  return { _tag: "valid", reason: signed.reason }
}
