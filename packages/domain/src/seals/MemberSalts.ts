import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Salt = Schema.String.check(Schema.isPattern(/^[\w-]{22}$/))

const Salts = Schema.Union([Salt, Schema.Record(Schema.String, Salt)])
export type MemberSalts = typeof Salts.Type
const isSalts = Schema.is(Salts)

/**
 * The salts of an event or a frame, base64url: its seed, or after an erasure the salts of the members that remain, by
 * their pointers. A seed beside an erasure is a fault: the salt of the erased value can be computed from it, and a
 * value of few possible ones be guessed by its digest.
 */
export const MemberSalts = Schema.Any.pipe(
  // Generators of clients in Java cannot compile a text beside a map, so documents show any value.
  Schema.refine(isSalts, {
    message: "must be a salt, or salts by their pointers",
    toJsonSchema: () => ({
      description: "The seed of its salts; after an erasure the salts of the members that remain, by their pointers."
    })
  })
)

const decodeSalts = Schema.decodeUnknownResult(Schema.Union([Schema.fromJsonString(Salts), Salts]))

/**
 * Salts as rows and files store them: a seed as its text, others as JSON. Undefined for none, and for a text that is
 * not one.
 */
export const storedSalts = (text: string | null): MemberSalts | undefined =>
  text === null ? undefined : Result.getOrUndefined(decodeSalts(text))
