/** The first of the errors that led to a failure. */
export interface RootCause {
  /** Its code, such as `ECONNREFUSED`; absent when it has none. */
  readonly code?: string
  /** Its text on one line; empty when it has none. */
  readonly message: string
}

/** Longest chain of causes that is followed. */
const MAX_DEPTH = 16

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** What caused the error: its `reason` or its `cause`, or the last of several attempts. */
const causeIn = (error: object): unknown => {
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0) return error.errors.at(-1)
  if ("cause" in error && isObject(error.cause)) return error.cause
  return "reason" in error && isObject(error.reason) ? error.reason : undefined
}

const textOf = (error: unknown): string => {
  const text = isObject(error) && "message" in error ? error.message : error
  if (typeof text === "string") return text.replace(/\s*[\r\n]+\s*/g, " ").trim()
  return isObject(error) && "_tag" in error && typeof error._tag === "string" ? error._tag : ""
}

/**
 * The error at the end of the chain of causes: what the operating system or TLS reported, below the wrappers of the
 * HTTP client. The code is the innermost one, the message that of the innermost error with a text.
 */
export const rootCauseOf = (error: unknown): RootCause => {
  let root: RootCause = { message: textOf(error) }
  let at: unknown = error
  for (let depth = 0; depth < MAX_DEPTH && isObject(at); depth++) {
    const message = textOf(at)
    const code = "code" in at && typeof at.code === "string" ? at.code : root.code
    root = { ...(code !== undefined && { code }), message: message === "" ? root.message : message }
    at = causeIn(at)
  }
  return root
}
