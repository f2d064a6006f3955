import { lookup } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"
import * as Data from "effect/Data"
import type { HttpClientError } from "effect/http/HttpClientError"

/** A request that callers chose the target of, a cancel callback or a webhook, may not be sent there. */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{
  readonly target: string
  readonly why: string
}> {
  override get message(): string {
    return `${this.target} is ${this.why}`
  }
}

const ranges = (subnets: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address = "", prefix = ""] = subnet.split("/")
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? "ipv6" : "ipv4")
    // A NAT64 gateway maps the same network to these addresses.
    if (isIP(address) === 4) list.addSubnet(`64:ff9b::${address}`, 96 + Number(prefix), "ipv6")
  }
  return list
}

const loopback6 = ranges(["::/127"])

/**
 * Link-local addresses, the metadata services of the clouds, addresses that no host has, and networks of IPv6 that hide
 * an address of IPv4 (compatible, translated, 6to4, Teredo, local NAT64): never a callback's.
 */
const forbidden = ranges([
  "169.254.0.0/16",
  "fe80::/10",
  "fd00:ec2::254/128",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "192.88.99.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "ff00::/8",
  "::/96",
  "::ffff:0:0:0/96",
  "64:ff9b:1::/48",
  "2001::/32",
  "2002::/16"
])

const privateNetworks = ranges([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "::/127",
  "fc00::/7",
  "fec0::/10"
])

/** Why an address may not be called (docs/reference/webhooks.md#private-targets); undefined when it may. */
export const whyRefused = (address: string, allowPrivate: boolean): string | undefined => {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4"
  const isLoopback = family === "ipv6" && loopback6.check(address, family)
  if (!isLoopback && forbidden.check(address, family)) return "a link-local or metadata address"
  if (!allowPrivate && privateNetworks.check(address, family)) return "a private address"
  return undefined
}

/**
 * Name resolution that refuses names with a forbidden address. The connection uses the very addresses that were
 * checked, so a name that changes in between gains nothing.
 */
export const guardedLookup =
  (allowPrivate: boolean, resolve: typeof lookup = lookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "")
      const refused = addresses.find(({ address }) => whyRefused(address, allowPrivate) !== undefined)
      if (refused !== undefined) {
        const why = whyRefused(refused.address, allowPrivate) ?? "refused"
        return callback(new TargetRefused({ target: hostname, why }), "")
      }
      const [first] = addresses
      if (options.all === true) return callback(null, addresses)
      if (first === undefined)
        return callback(new TargetRefused({ target: hostname, why: "a name without address" }), "")
      return callback(null, first.address, first.family)
    })
  }

/** A URL as answers and logs show it: without the credentials that may stand before its host or in its query. */
export const shownUrl = (url: string): string =>
  url.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:[\\/]*)[^\\/]*@/i, "$1")

/** The address that a URL names literally, which no lookup will see; undefined when it names a host. */
export const literalAddress = (url: URL): string | undefined => {
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname
  return isIP(host) === 0 ? undefined : host
}

/**
 * Why the text of a URL may not be called; `guardedLookup` checks the names when they are resolved.
 */
export const refusalOf = (url: string, allowPrivate: boolean): TargetRefused | undefined => {
  if (!URL.canParse(url)) return new TargetRefused({ target: shownUrl(url), why: "not a URL" })
  const target = new URL(url)
  if (target.protocol !== "http:" && target.protocol !== "https:") {
    return new TargetRefused({ target: shownUrl(url), why: "not an http or https URL" })
  }
  if (target.username !== "" || target.password !== "") {
    return new TargetRefused({ target: shownUrl(url), why: "a URL with credentials in it" })
  }
  const address = literalAddress(target)
  const why = address === undefined ? undefined : whyRefused(address, allowPrivate)
  return why === undefined ? undefined : new TargetRefused({ target: target.hostname, why })
}

/** The innermost error text. The text of the client has the URL, which can be a secret. */
export const reasonOf = (error: HttpClientError): string => {
  const { _tag: kind, description = kind } = error.reason
  const cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
  // A host with several addresses fails with a list, whose own message is empty.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error && first.message !== "" ? first.message : description
}
