import { EXPORT_PATHS } from "@runplane/api"
import * as Headers from "effect/http/Headers"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** Paths below which the clients of other products put those of OTLP: Langfuse, and LangSmith. */
const PREFIXES = ["/api/public/otel", "/otel"]

/** Headers in which such clients send a key: Phoenix, and others. */
const KEY_HEADERS = ["api_key", "api-key"]

/**
 * An export of a client that was made for another product, as one for this service: its path, and its key as
 * `x-api-key` (docs/reference/ingest.md#other-clients). Other requests stay as they are.
 */
export const asExport = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest => {
  const url = exportUrl(request.url)
  if (url === undefined) return request
  const key = keyIn(request.headers)
  if (url === request.url && key === undefined) return request
  const headers =
    key === undefined
      ? request.headers
      : Headers.set(Headers.remove(request.headers, "authorization"), "x-api-key", key)
  return request.modify({ url, headers })
}

/** The address of an export without the path of the other product; undefined for an address of something else. */
const exportUrl = (url: string): string | undefined => {
  const end = url.search(/[?#]/)
  const path = end < 0 ? url : url.slice(0, end)
  if (EXPORT_PATHS.has(path)) return url
  const prefix = PREFIXES.find((each) => path.startsWith(`${each}/`) && EXPORT_PATHS.has(path.slice(each.length)))
  return prefix === undefined ? undefined : url.slice(prefix.length)
}

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i
/** Characters of a header that is read. */
const MOST_CHARACTERS = 4_096

/** The key that a request presents in another way than this service documents; undefined where it has none. */
const keyIn = (headers: Headers.Headers): string | undefined => {
  if (headers["x-api-key"] !== undefined) return undefined
  const basic = BASIC.exec(headers["authorization"]?.trim().slice(0, MOST_CHARACTERS) ?? "")?.[1]
  if (basic !== undefined) {
    const pair = Buffer.from(basic, "base64").toString("utf8")
    const colon = pair.indexOf(":")
    return colon < 0 ? undefined : pair.slice(colon + 1)
  }
  if (headers["authorization"] !== undefined) return undefined
  return KEY_HEADERS.map((name) => headers[name]).find((key) => key !== undefined)
}
