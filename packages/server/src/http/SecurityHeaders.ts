import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** Answers are data, not pages: nothing may be loaded, framed or guessed from them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'"
}

/** Our pages have no external parts. */
const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/**
 * The answer with what browsers need to know (docs/reference/http.md#security-headers), where the handler has not set
 * it, and with further headers.
 */
export const withSecurityHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  further: Readonly<Record<string, string>> = {}
) => {
  const isPage = response.headers["content-type"]?.startsWith("text/html") === true
  return HttpServerResponse.setHeaders(response, {
    ...securityHeaders,
    ...(isPage && { "content-security-policy": PAGE_POLICY }),
    ...(response.headers["cache-control"] === undefined && !isPage && { "cache-control": "no-store" }),
    ...pick(response.headers, Object.keys(securityHeaders)),
    ...further
  })
}

const pick = (headers: Readonly<Record<string, string>>, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
