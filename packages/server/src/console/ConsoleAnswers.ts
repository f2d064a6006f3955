import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { acceptedCoding } from "../http/Compression.ts"
import type { ConsoleFile } from "./ConsoleFiles.ts"

const FOR_EVER = "public, max-age=31536000, immutable"
const NEVER = "no-store"
const AN_HOUR = "public, max-age=3600"

type Headers = Readonly<Record<string, string>>

/** Whether the name of a file changes with its content. */
export const isConsoleAsset = (path: string): boolean => path.startsWith("assets/")

/** A file of the console, which clients may store. */
export const consoleFileAnswer = (
  path: string,
  file: ConsoleFile,
  request: HttpServerRequest.HttpServerRequest,
  safety: Headers
): HttpServerResponse.HttpServerResponse => {
  const headers = { ...safety, etag: file.etag, "cache-control": isConsoleAsset(path) ? FOR_EVER : AN_HOUR }
  return request.headers["if-none-match"] === file.etag
    ? HttpServerResponse.empty({ status: 304, headers: { ...headers, vary: "Accept-Encoding" } })
    : encoded(file, request, headers)
}

/** The bytes in the form that the client accepts. */
const encoded = (file: ConsoleFile, request: HttpServerRequest.HttpServerRequest, headers: Headers) => {
  const encoding = acceptedCoding(request.headers["accept-encoding"], file.encoded.keys())
  const bytes = (encoding === undefined ? undefined : file.encoded.get(encoding)) ?? file.bytes
  return HttpServerResponse.uint8Array(bytes, {
    contentType: file.contentType,
    headers: {
      ...headers,
      vary: "Accept-Encoding",
      ...(encoding !== undefined && { "content-encoding": encoding })
    }
  })
}

/** What a page refers to, as the build writes it: relative to the folder of the page. */
const REFERENCE = /(?<= (?:href|src)=")\.\//g

/**
 * A page of the console, with the relative way from its address to its folder, so that it works below every path that
 * a proxy adds: `../` for each folder that the address is below it.
 */
export const consolePageAnswer = (
  page: ConsoleFile,
  wayToFolder: string,
  request: HttpServerRequest.HttpServerRequest,
  safety: Headers
): HttpServerResponse.HttpServerResponse => {
  if (wayToFolder === "") return encoded(page, request, { ...safety, etag: page.etag, "cache-control": NEVER })
  const text = new TextDecoder().decode(page.bytes).replace(REFERENCE, wayToFolder)
  return HttpServerResponse.text(text, {
    contentType: page.contentType,
    headers: { ...safety, "cache-control": NEVER }
  })
}

/** No inline script or style, no frame, and no other origin but these. */
export const consoleSafety = (connects: ReadonlyArray<string>): Headers => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "worker-src 'self'",
    ["connect-src 'self'", ...connects].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()"
})
