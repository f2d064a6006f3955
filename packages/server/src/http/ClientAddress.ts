import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"

/** Characters of the longest IPv6 address with a zone, and some; what is longer is not an address. */
const MAX_ADDRESS_LENGTH = 64

/**
 * The client's address as text; `anonymous` when it is not known. Behind proxies it is what the outermost of them
 * wrote into `X-Forwarded-For`; without, that header is the client's own invention and does not count.
 */
export const addressOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string => {
  if (proxies > 0) {
    const hops = (request.headers["x-forwarded-for"] ?? "").split(",").map((hop) => hop.trim())
    const hop = hops.at(-proxies)
    if (hop !== undefined && hop !== "") return hop.slice(0, MAX_ADDRESS_LENGTH)
  }
  return Option.getOrElse(request.remoteAddress, () => "anonymous")
}
