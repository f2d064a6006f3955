import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/**
 * The request as routes know it: without the path below which a proxy serves the service
 * (docs/reference/http.md#base-path). A request that is not below that path stays as it is: probes and neighbours call
 * the service directly.
 */
export const withoutBasePath = (
  request: HttpServerRequest.HttpServerRequest,
  basePath: string
): HttpServerRequest.HttpServerRequest =>
  basePath !== "" && request.url.startsWith(`${basePath}/`)
    ? request.modify({ url: request.url.slice(basePath.length) })
    : request

/** Relative addresses need the slash behind the base path: the answer to a request without it, undefined to others. */
export const basePathRedirect = (url: string, basePath: string): HttpServerResponse.HttpServerResponse | undefined => {
  const [path, ...query] = url.split("?")
  if (basePath === "" || path !== basePath) return undefined
  return HttpServerResponse.empty({ status: 308, headers: { location: [`${basePath}/`, ...query].join("?") } })
}
