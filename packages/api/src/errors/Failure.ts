import type * as Schema from "effect/Schema"

const NAME = "runplane/api/failure"

/** A way in which operations fail: the error that they answer with, under the name that the document knows it by. */
export const failure = <Class extends Schema.Top>(name: string, error: Class): Class["Rebuild"] =>
  error.annotate({ [NAME]: name })

/** The name of a failure; undefined for an error without one. */
export const failureName = ({ ast }: Schema.Top): string | undefined => {
  const name = ast.annotations?.[NAME]
  return typeof name === "string" ? name : undefined
}
