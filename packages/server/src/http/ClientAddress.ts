import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"

/**
 * The client's address as text; `anonymous` when it is not known. Behind proxies it is what the outermost of them
 * wrote into `X-Forwarded-For`; without, that header is the client's own invention and does not count.
 */
export const addressOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string => {
  if (proxies > 0) {
    const hops = (request.headers["x-forwarded-for"] ?? "").split(",").map((hop) => hop.trim())
    const hop = hops.at(-proxies)
    if (hop !== undefined && hop !== "") return hop
  }
  return Option.getOrElse(request.remoteAddress, () => "anonymous")
}
