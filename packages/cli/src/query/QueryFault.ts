import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Why DuckDB refused or ended a statement. */
export interface QueryFault {
  /** As DuckDB names it: `Parser`, `Binder`, `IO`, `Out of Memory`, ... */
  readonly kind: string
  readonly message: string
  /** Bytes of UTF-8 before the position in the statement. */
  readonly position: number | undefined
}

const Reported = Schema.fromJsonString(
  Schema.Struct({
    exception_type: Schema.String,
    exception_message: Schema.String,
    position: Schema.optionalKey(Schema.String)
  })
)
const decode = Schema.decodeUnknownOption(Reported)

/** The fault in a message of DuckDB, which reports its errors as JSON. */
export const faultOf = (text: string): QueryFault => {
  const reported = decode(text.slice(Math.max(0, text.indexOf("{"))))
  if (Option.isNone(reported)) return { kind: "unknown", message: text, position: undefined }
  const { exception_message: message, exception_type: kind, position } = reported.value
  const bytes = Number(position)
  return { kind, message, position: position !== "" && Number.isInteger(bytes) ? bytes : undefined }
}

/** `line 2, column 4` of a position in a statement; columns count characters. */
export const positionText = (sql: string, position: number): string => {
  const before = Buffer.from(sql).subarray(0, position).toString("utf8").split("\n")
  return `line ${before.length}, column ${[...(before.at(-1) ?? "")].length + 1}`
}

/** These say that the statement is wrong, whatever the data are. */
const OF_STATEMENT: ReadonlySet<string> = new Set(["Parser", "Syntax", "Binder", "Catalog", "Not implemented"])

export const isOfStatement = ({ kind }: QueryFault): boolean => OF_STATEMENT.has(kind)
