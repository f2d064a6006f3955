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
    // A NAT64 gateway takes the same network by another name.
    if (isIP(address) === 4) list.addSubnet(`64:ff9b::${address}`, 96 + Number(prefix), "ipv6")
  }
  return list
}

/** Link-local addresses, the metadata services of the clouds, and addresses that no host has: never a callback's. */
const forbidden = ranges([
  "169.254.0.0/16",
  "fe80::/10",
  "fd00:ec2::254/128",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "224.0.0.0/4",
  "255.255.255.255/32",
  "ff00::/8"
])

const privateNetworks = ranges([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::/127",
  "fc00::/7",
  "fec0::/10"
])

/** Why an address may not be called (docs/http.md#private-targets); undefined when it may. */
export const whyRefused = (address: string, allowPrivate: boolean): string | undefined => {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4"
  if (forbidden.check(address, family)) return "a link-local or metadata address"
  if (!allowPrivate && privateNetworks.check(address, family)) return "a private address"
  return undefined
}

/**
 * Name resolution that refuses names with a forbidden address. The connection uses the very addresses that were
 * checked, so a name that changes its mind in between gains nothing.
 */
export const guardedLookup =
  (allowPrivate: boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
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

/** The address that a URL names literally, which no lookup will see; undefined when it names a host. */
export const literalAddress = (url: URL): string | undefined => {
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname
  return isIP(host) === 0 ? undefined : host
}

/**
 * Why a URL may not be called, as far as its text tells; names are looked at by `guardedLookup` when they are resolved.
 */
export const refusalOf = (url: string, allowPrivate: boolean): TargetRefused | undefined => {
  if (!URL.canParse(url)) return new TargetRefused({ target: url, why: "not a URL" })
  const target = new URL(url)
  if (target.protocol !== "http:" && target.protocol !== "https:") {
    return new TargetRefused({ target: url, why: "not an http or https URL" })
  }
  const address = literalAddress(target)
  const why = address === undefined ? undefined : whyRefused(address, allowPrivate)
  return why === undefined ? undefined : new TargetRefused({ target: target.hostname, why })
}

/** The innermost text there is: the client's own only says that the transport failed. */
export const reasonOf = (error: HttpClientError): string => {
  const cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
  if (!(cause instanceof Error)) return error.message
  // A host with several addresses fails with a list, whose own message is empty.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error && first.message !== "" ? first.message : error.message
}
