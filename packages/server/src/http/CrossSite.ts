import { isIP } from "node:net"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** The checked headers of a request; undefined is a header that was not sent. */
export interface Provenance {
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly fetchSite: string | undefined
  readonly fetchMode: string | undefined
}

export const provenanceOf = ({
  headers,
  method
}: Pick<HttpServerRequest.HttpServerRequest, "headers" | "method">): Provenance => ({
  method,
  host: headers["host"],
  origin: headers["origin"],
  fetchSite: headers["sec-fetch-site"],
  fetchMode: headers["sec-fetch-mode"]
})

/** Whom a service without keys trusts. */
export interface Trust {
  /** Whether cross-origin rules let a page of this origin call. */
  readonly allowsOrigin: (origin: string) => boolean
  /** Names besides the usual ones under which the service is reached, in lower case. */
  readonly hosts: ReadonlySet<string>
}

/** Names that cannot be registered, so a page of the internet cannot point them at this machine. */
const LOCAL_NAME = /^([^.]+|.+\.(localhost|local|internal|test))$/

const nameOf = (host: string): string => {
  const name = host.startsWith("[") ? host.slice(1).replace(/\].*$/, "") : host.replace(/:\d*$/, "")
  return name.replace(/\.$/, "").toLowerCase()
}

const isTrustedHost = (host: string, { hosts }: Trust): boolean => {
  const name = nameOf(host)
  return isIP(name) !== 0 || hosts.has(name) || LOCAL_NAME.test(name)
}

/** The `host:port` of an origin, as a Host header of that page would say it. */
const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)

const withoutDefaultPort = (host: string) => host.toLowerCase().replace(/:(80|443)$/, "")

/**
 * Why a service without keys refuses a request that a page of another site may have made; undefined when it does
 * not. Programs other than browsers send none of these headers, and stay welcome (docs/reference/http.md#cross-site).
 */
export const crossSiteRefusal = (from: Provenance, trust: Trust): string | undefined => {
  if (from.host !== undefined && from.host !== "" && !isTrustedHost(from.host, trust)) {
    return "this host is not known here: add its name to ALLOWED_HOSTS, or set AUTH_API_KEYS"
  }
  const refused = "requests of other sites are refused without API keys: add the origin to CORS_ORIGIN"
  if (from.origin !== undefined) {
    const same = withoutDefaultPort(hostOf(from.origin) ?? "") === withoutDefaultPort(from.host ?? "?")
    return same || trust.allowsOrigin(from.origin) ? undefined : refused
  }
  // A followed link is harmless: no page sees the answer, and reading changes nothing.
  const follows = from.fetchMode === "navigate" && (from.method === "GET" || from.method === "HEAD")
  return from.fetchSite === "cross-site" && !follows ? refused : undefined
}
