import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"

/**
 * The base of a class of errors: `class Gone extends failure<Gone>()(410, "Gone", ["GONE"])`. `more` are the
 * members of the body beside `statusCode`, `errorCode` and `message`. A class makes the errors of its `codes`; those of
 * `also` are made by another class, and go with this status in special cases.
 */
export const failureWith =
  <const More extends Schema.Struct.Fields>(more: More) =>
  <Self>() =>
  <
    const Status extends number,
    const Codes extends ReadonlyArray<string>,
    const Also extends ReadonlyArray<string> = readonly []
  >(
    status: Status,
    name: string,
    codes: Codes,
    also?: Also
  ) => {
    const allCodes: ReadonlyArray<Codes[number] | Also[number]> = [...(also ?? []), ...codes]
    const body = Schema.Struct({
      statusCode: Schema.tag(status).annotate({ description: "The HTTP status" }),
      errorCode: Schema.Literals(allCodes).annotate({ description: "What went wrong, for programs" }),
      message: Field.text("What went wrong, for people"),
      ...more
    }).annotate({ identifier: name, description: `An error answered with ${status}` })
    return Object.assign(Schema.Error<Self>(`runplane/api/${name}`)(body, { httpApiStatus: status }), { codes, status })
  }

/** A class made from `failureWith`. */
interface ErrorClass {
  new (details: never): object
  readonly codes: ReadonlyArray<string>
  readonly status: number
}

/** The class that makes the errors of a code. */
type ByCode<Class extends ErrorClass> = { readonly [Each in Class as Each["codes"][number]]: InstanceType<Each> }

/** What can be raised by one of several classes, by code. */
export type Raised<Classes extends ReadonlyArray<ErrorClass>> = ByCode<Classes[number]>

/** Errors by their code: how they are made, and the HTTP status of each, which its class has. */
export const errorTable = <const Classes extends ReadonlyArray<ErrorClass>>(classes: Classes) => {
  const entries = classes.flatMap((Class) => Class.codes.map((code) => [code, Class] as const))
  const byCode = new Map<PropertyKey, unknown>(entries)
  return {
    make: <const Code extends keyof Raised<Classes>>(code: Code, message: string, metadata?: Schema.JsonObject) => {
      // Every class takes its own codes; TypeScript does not follow the lookup.
      const Failure = byCode.get(code) as new (details: object) => Raised<Classes>[Code]
      return new Failure({ errorCode: code, message, ...(metadata && { metadata }) })
    },
    // Built of exactly the codes of the classes.
    status: Object.fromEntries(entries.map(([code, { status }]) => [code, status])) as {
      readonly [Code in keyof Raised<Classes>]: number
    }
  }
}
