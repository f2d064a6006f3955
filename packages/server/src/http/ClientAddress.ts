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
 * The groups of IPv6 that an address of IPv4 stands in, by the network of the mechanism: NAT64 (RFC 6052), translated
 * (RFC 2765), 6to4 (RFC 3056), and Teredo (RFC 4380), which stores the complement. In these networks a /64 is either
 * many clients or one of many networks of a client.
 */
const EMBEDDED = [
  { network: [0x64, 0xff9b, 0, 0, 0, 0], at: 6, flip: 0 },
  { network: [0, 0, 0, 0, 0xffff, 0], at: 6, flip: 0 },
  { network: [0x2002], at: 1, flip: 0 },
  { network: [0x2001, 0], at: 6, flip: 0xffff }
] as const
/** Local NAT64 (RFC 8215): the operator decides where the address of IPv4 is, so each address is a client. */
const LOCAL_NAT64 = [0x64, 0xff9b, 1] as const

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
  return mapped === null
    ? canonical
    : [mapped[1], mapped[2]].flatMap((group = "0") => bytesOf(Number.parseInt(group, 16))).join(".")
}

/**
 * The network that shares one budget: an IPv4 address, also one that an IPv6 address contains, or the /64 of an IPv6
 * address, since one host chooses freely among the addresses of its /64. Takes canonical text; other text is its own
 * network.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const isIn = (network: ReadonlyArray<number>) => network.every((group, index) => groups[index] === group)
  const found = EMBEDDED.find(({ network }) => isIn(network))
  if (found !== undefined) return [0, 1].flatMap((n) => bytesOf((groups[found.at + n] ?? 0) ^ found.flip)).join(".")
  if (isIn(LOCAL_NAT64)) return address
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.toString(16))
  return `${canonicalIPv6(`${network.join(":")}::`)}/64`
}

const groupsOf = (address: string): ReadonlyArray<number> => {
  const [head = "", tail = ""] = canonicalIPv6(address).split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: IPV6_GROUPS - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
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

const bytesOf = (group: number) => [group >> 8, group & 0xff]
