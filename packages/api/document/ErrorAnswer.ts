import type * as Schema from "effect/Schema"

/** A way in which operations fail, as the document shows it. */
export interface ErrorAnswer {
  readonly status: number
  /** Name of the schema of the body among the components. */
  readonly schema: string
  /** What clients recognise it by: the `errorCode`, or the reason phrase where an answer has no code. */
  readonly code: string
  /** When it comes, as a sentence without its full stop. */
  readonly when: string
  readonly body: Schema.JsonObject
}

/** An error of the service, which knows its status and the name of its schema. */
interface RaisedError {
  readonly _tag: string
  readonly statusCode: number
  readonly message: string | ReadonlyArray<string>
  readonly errorCode?: string
  readonly error?: string
  readonly metadata?: Schema.JsonObject
}

/** The answer that a raised error becomes, with the keys in the order of the wire. */
export const errorAnswer = (when: string, raised: RaisedError): ErrorAnswer => ({
  status: raised.statusCode,
  schema: raised._tag,
  code: raised.errorCode ?? raised.error ?? String(raised.statusCode),
  when,
  body: bodyOf(raised)
})

const bodyOf = ({ error, errorCode, message, metadata, statusCode }: RaisedError): Schema.JsonObject => {
  const phrase = error === undefined ? {} : { error }
  // Without a code it is the form of the HTTP framework.
  if (errorCode === undefined) return { message, ...phrase, statusCode }
  return { statusCode, errorCode, message, ...(metadata === undefined ? {} : { metadata }), ...phrase }
}
