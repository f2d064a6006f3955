import * as Schema from "effect/Schema"
import { booleanAt, numberAt, textAt, textsAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** The JSON from which the members of an event are read. */
export interface EventJson {
  /** What was recorded. */
  readonly data: JsonObject
  /** The decoded payload of the message in it, as its sender spelled it. */
  readonly payload: JsonObject
  /** Empty when the event has no subject. */
  readonly subjectId: string
}

/**
 * A typed member of an event: its schema and its reader. Reading is total: a missing member, or one of an unexpected
 * kind, is undefined (or empty, for kinds with an empty value).
 */
export interface Member<S extends Schema.Constraint> {
  readonly schema: S
  /** `name` is the name of the member. */
  readonly read: (event: EventJson, name: string) => S["Type"]
}

export type Members = Readonly<Record<string, Member<Schema.Constraint>>>

export const member = <S extends Schema.Constraint>(schema: S, read: Member<S>["read"]): Member<S> => ({ schema, read })

const maybeText = Schema.UndefinedOr(Schema.String)
const maybeNumber = Schema.UndefinedOr(Schema.Finite)
const maybeFlag = Schema.UndefinedOr(Schema.Boolean)
const texts = Schema.Array(Schema.String)

/** The usual kinds of members of an object, each found under its own name or one of `others`. */
export const membersIn = (source: (event: EventJson) => JsonObject) => ({
  text: (...others: ReadonlyArray<string>) =>
    member(maybeText, (event, name) => textAt(source(event), name, ...others)),
  number: (...others: ReadonlyArray<string>) =>
    member(maybeNumber, (event, name) => numberAt(source(event), name, ...others)),
  flag: (...others: ReadonlyArray<string>) =>
    member(maybeFlag, (event, name) => booleanAt(source(event), name, ...others)),
  texts: (...others: ReadonlyArray<string>) => member(texts, (event, name) => textsAt(source(event), name, ...others))
})

/** Members of the recorded event. */
export const inData = membersIn(({ data }) => data)

/** Members of the decoded payload. */
export const inPayload = membersIn(({ payload }) => payload)

/** The decoded payload itself. */
export const wholePayload = member(Schema.JsonObject, ({ payload }) => payload)

/** A text that is `otherwise` when it is not there; without `otherwise`, the id of the subject. */
export const textOr = (text: Member<typeof maybeText>, otherwise?: string) =>
  member(Schema.String, (event, name) => text.read(event, name) ?? otherwise ?? event.subjectId)

/** Several members as one object. */
export const membersOf = <const M extends Members>(members: M) => {
  type Fields = { readonly [Name in keyof M]: M[Name]["schema"] }
  const entries = Object.entries(members)
  // `fromEntries` does not carry the type of each name, and neither does the loop.
  const fields = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])) as Fields
  return member(Schema.Struct(fields), (event) => {
    const object: Record<string, unknown> = {}
    for (const [name, { read }] of entries) object[name] = read(event, name)
    return object as Schema.Struct<Fields>["Type"]
  })
}
