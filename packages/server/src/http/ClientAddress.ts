import { isIPv4, isIPv6 } from "node:net"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"

const UNKNOWN = "anonymous"

const BRACKETED = /^\[([^\]]*)\](?::\d{0,5})?$/
const WITH_PORT = /^([^:]*):\d{0,5}$/
const ZONE = /%.*$/s
const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

const IPV6_GROUPS = 8
const NETWORK_GROUPS = 4

/**
 * The canonical text of an address that a proxy or a socket reports: without brackets, port and zone, IPv6 by RFC 5952,
 * an IPv4-mapped address as IPv4. Undefined for any other text (`unknown`, `_hidden`, a name).
 */
export const parseAddress = (text: string): string | undefined => {
  const trimmed = text.trim()
  const host = (BRACKETED.exec(trimmed)?.[1] ?? WITH_PORT.exec(trimmed)?.[1] ?? trimmed).replace(ZONE, "")
  if (isIPv4(host)) return host
  if (!isIPv6(host)) return undefined
  const canonical = canonicalIPv6(host)
  const mapped = MAPPED_IPV4.exec(canonical)
  return mapped === null ? canonical : [mapped[1], mapped[2]].flatMap(bytesOf).join(".")
}

/**
 * The network that shares one budget: an IPv4 address, or the /64 of an IPv6 address, since one host chooses freely
 * among the addresses of its /64. Takes canonical text; other text is its own network.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address
  const [head = "", tail = ""] = address.split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: IPV6_GROUPS - before.length - after.length }, () => "0")
  const network = [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS)
  return `${canonicalIPv6(`${network.join(":")}::`)}/64`
}

/**
 * The client's address as canonical text; `anonymous` where the socket has none. Behind proxies it is the entry of
 * `X-Forwarded-For` that the outermost proxy wrote; an entry that is not an address counts as the proxy. Without
 * proxies a client can invent that header, so it does not count.
 */
export const addressOf = (request: HttpServerRequest.HttpServerRequest, proxies: number): string => {
  const peer = Option.getOrUndefined(request.remoteAddress) ?? UNKNOWN
  const hop = proxies > 0 ? (request.headers["x-forwarded-for"] ?? "").split(",").at(-proxies) : undefined
  return parseAddress(hop ?? "") ?? parseAddress(peer) ?? UNKNOWN
}

const canonicalIPv6 = (address: string) => new URL(`http://[${address}]`).hostname.slice(1, -1)

const bytesOf = (group = "0") => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]
