import type * as Schema from "effect/Schema"

/** A class of errors of one status that takes this code. */
interface ErrorClass<Code> {
  new (details: { readonly errorCode: Code; readonly message: string; readonly metadata?: Schema.JsonObject }): object
  readonly fields: { readonly statusCode: { readonly schema: { readonly literal: number } } }
}

/** The class of every code; each class has to take the code. */
type ClassesByCode<Classes> = { readonly [Code in keyof Classes]: ErrorClass<Code> }

/** What the class of a code makes. */
export type MadeBy<Class> = Class extends { new (details: never): infer Made } ? Made : never

/** Errors by their code: how they are made, and the HTTP status of each, which its class has. */
export const errorTable = <const Classes extends ClassesByCode<Classes>>(classes: Classes) => {
  const entries = Object.entries<ErrorClass<never>>(classes)
  const statuses = entries.map(([code, { fields }]) => [code, fields.statusCode.schema.literal])
  return {
    make: <const Code extends keyof Classes>(code: Code, message: string, metadata?: Schema.JsonObject) => {
      const byCode: ClassesByCode<Classes> = classes
      const Failure = byCode[code]
      // The class found under a code makes that code's error; TypeScript does not follow the lookup.
      return new Failure({ errorCode: code, message, ...(metadata && { metadata }) }) as MadeBy<Classes[Code]>
    },
    // Built of exactly the given codes.
    status: Object.fromEntries(statuses) as { readonly [Code in keyof Classes]: number }
  }
}
