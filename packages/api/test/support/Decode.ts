import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type ViolationText, violationText } from "../../src/validation/Violations.ts"

/** A decoded body or query, or the text of its error; decoded as endpoints do, as a choice of one. */
export const decode = <A>(
  schema: Schema.Codec<A, unknown>,
  value: unknown
): { readonly messages: ViolationText | undefined; readonly value: A | undefined } => {
  const decoded = Schema.decodeUnknownExit(Schema.Union([schema]))(value)
  if (Exit.isSuccess(decoded)) return { messages: [], value: decoded.value }
  const messages = Option.map(Exit.findErrorOption(decoded), ({ issue }) => violationText(issue))
  return { messages: Option.getOrUndefined(messages), value: undefined }
}
