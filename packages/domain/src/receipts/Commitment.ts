import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { canonicalJson } from "../values/CanonicalJson.ts"
import type { Sha256 } from "../values/Sha256.ts"
import { type Field, readFields, textOfField } from "./WireFields.ts"

/** The fields of a Commitment that its hash covers. */
export interface Commitment {
  readonly commitmentId: string
  readonly action: string
  readonly authorityScope: string
  readonly reason: string
  readonly modeVersion: string
  readonly policyVersion: string
  readonly configurationVersion: string
  readonly outcomePositive: boolean
  /** Absent when it was not sent; a reference without texts is present. */
  readonly supersedes?: { readonly sessionId: string; readonly commitmentHash: string }
}

/** Separates the hash from others; it names the fields and the form that are hashed. */
const LABEL = "macp-commitment-hash/1:"
const CANONICAL_HASH = /^sha256:[0-9a-f]{64}$/
const utf8 = new TextEncoder()

/** Whether a text is `sha256:` and 64 hexadecimal digits in lower case. */
export const isCommitmentHash = (text: string): boolean => CANONICAL_HASH.test(text)

/** The commitment hash (docs/reference/decisions.md#commitment-hash). */
export const commitmentHash = (sha256: Sha256, commitment: Commitment): string => {
  const digest = sha256(utf8.encode(LABEL + canonicalJson(commitmentJson(commitment))))
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`
}

/**
 * The hash of a Commitment's protobuf bytes. Fails with the reason for bytes that are not a Commitment, and for a field
 * that the hash does not cover: a hash of the other fields would match a message that says more.
 */
export const commitmentHashOfWire = (sha256: Sha256, wire: Uint8Array): Result.Result<string, string> =>
  Result.map(readCommitment(wire), (commitment) => commitmentHash(sha256, commitment))

/** The object that is hashed, and that a receipt shows. Every text is there, also an empty one. */
export const commitmentJson = (commitment: Commitment): Schema.JsonObject => {
  const { supersedes } = commitment
  return {
    commitment_id: commitment.commitmentId,
    action: commitment.action,
    authority_scope: commitment.authorityScope,
    reason: commitment.reason,
    mode_version: commitment.modeVersion,
    policy_version: commitment.policyVersion,
    configuration_version: commitment.configurationVersion,
    outcome_positive: commitment.outcomePositive,
    ...(supersedes !== undefined && {
      supersedes: { session_id: supersedes.sessionId, commitment_hash: supersedes.commitmentHash }
    })
  }
}

/** Reads the protobuf bytes of a Commitment, by their numbers. Of a repeated field the last value counts. */
export const readCommitment = (wire: Uint8Array): Result.Result<Commitment, string> => {
  const fields = readFields(wire)
  if (Result.isFailure(fields)) return Result.fail(fields.failure)
  const texts = new Map<number, string>()
  let outcomePositive = false
  let supersedes: Commitment["supersedes"]
  for (const field of fields.success) {
    if (field.number < 1 || field.number > SUPERSEDES) return uncovered("the Commitment", field)
    if (field.number === OUTCOME) {
      if (typeof field.value !== "number") return Result.fail("field 8 of the Commitment is not a flag")
      outcomePositive = field.value !== 0
    } else if (field.number === SUPERSEDES) {
      const reference = readReference(field, supersedes)
      if (Result.isFailure(reference)) return Result.fail(reference.failure)
      supersedes = reference.success
    } else {
      const text = textOfField("the Commitment", field)
      if (Result.isFailure(text)) return Result.fail(text.failure)
      texts.set(field.number, text.success)
    }
  }
  const text = (number: number) => texts.get(number) ?? ""
  return Result.succeed({
    commitmentId: text(1),
    action: text(2),
    authorityScope: text(3),
    reason: text(4),
    modeVersion: text(5),
    policyVersion: text(6),
    configurationVersion: text(7),
    outcomePositive,
    ...(supersedes !== undefined && { supersedes })
  })
}

const OUTCOME = 8
const SUPERSEDES = 9

const uncovered = (message: string, { number }: Field) =>
  Result.fail(`${message} has the field ${number}, which the hash does not cover`)

/** A reference continues an earlier one of the same message. */
const readReference = (field: Field, before: Commitment["supersedes"]) =>
  Result.gen(function* () {
    if (!(field.value instanceof Uint8Array)) return yield* Result.fail("field 9 of the Commitment is not a message")
    let { sessionId, commitmentHash } = before ?? { sessionId: "", commitmentHash: "" }
    for (const member of yield* readFields(field.value)) {
      if (member.number < 1 || member.number > 2) return yield* uncovered("supersedes", member)
      const text = yield* textOfField("supersedes", member)
      if (member.number === 1) sessionId = text
      else commitmentHash = text
    }
    return { sessionId, commitmentHash }
  })
