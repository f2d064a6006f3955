export const ALLOWED_METHODS = "GET,HEAD,PUT,PATCH,POST,DELETE"

type HeaderFields = Readonly<Record<string, string>>

export interface Cors {
  /** Whether pages of this origin may call. */
  readonly allows: (origin: string) => boolean
  /** The headers of every answer to a request of this origin. */
  readonly headers: (origin: string | undefined) => HeaderFields
  /** The headers of a preflight answer, which has status 204. */
  readonly preflight: (origin: string | undefined, requestedHeaders: string | undefined) => HeaderFields
}

/**
 * Cross-origin rules. A single plain origin is always answered with; a list, or a `*` inside an entry, is matched, and
 * only a matching origin is reflected. Not `HttpMiddleware.cors` of effect: it writes the methods in another form, and
 * an empty Access-Control-Allow-Headers when a preflight requests none.
 */
export const makeCors = (origins: ReadonlyArray<string>): Cors => {
  const [only, ...others] = origins
  const patterns = origins.map(pattern)
  const allows = (origin: string) => patterns.some((allowed) => allowed.test(origin))
  const allowOrigin: (origin: string | undefined) => HeaderFields =
    only !== undefined && others.length === 0 && !only.includes("*")
      ? () => ({ "access-control-allow-origin": only })
      : (origin) => (origin !== undefined && allows(origin) ? { "access-control-allow-origin": origin } : {})
  const headers = (origin: string | undefined): HeaderFields => ({
    vary: "Origin",
    "access-control-allow-credentials": "true",
    ...allowOrigin(origin)
  })
  return {
    allows,
    headers,
    preflight: (origin, requestedHeaders) => ({
      ...headers(origin),
      "access-control-allow-methods": ALLOWED_METHODS,
      ...(requestedHeaders === undefined
        ? {}
        : { "access-control-allow-headers": requestedHeaders, vary: "Origin, Access-Control-Request-Headers" })
    })
  }
}

/** `*` matches any number of characters. */
const pattern = (origin: string) =>
  new RegExp(
    `^${origin
      .split("*")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`
  )
