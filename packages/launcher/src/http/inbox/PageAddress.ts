import { LaunchSettings, readSettings, ServiceSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { PasskeyPage } from "../../people/passkeys/WebAuthn.ts"

/** Where the browser of a person reaches the inbox. */
export interface PageAddress {
  /** Without a slash at the end. */
  readonly url: string
  readonly origin: string
  readonly isSecure: boolean
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const addressOf = (url: string): PageAddress | undefined => {
  if (!URL.canParse(url)) return undefined
  const { hostname, origin, protocol } = new URL(url)
  const isSecure = protocol === "https:"
  // Plain http exposes a cookie to the network. Requests on the loopback do not leave the machine.
  return isSecure || LOOPBACK.test(hostname) ? { url: url.replace(/\/+$/, ""), origin, isSecure } : undefined
}

const IP_ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\])$/

/** The page as its passkeys know it; undefined for an address without a host name, for which none can be made. */
export const passkeyPageOf = ({ origin }: PageAddress): PasskeyPage | undefined => {
  const { hostname: rpId } = new URL(origin)
  return IP_ADDRESS.test(rpId) ? undefined : { origin, rpId }
}

export const NO_PASSKEY_PAGE =
  "browsers make passkeys for a host name: set LAUNCHER_PUBLIC_URL, or open the page at http://localhost"

export const NO_PAGE_ADDRESS =
  "people sign in over https or on the loopback: set LAUNCHER_PUBLIC_URL to an https address"

/** Reads the settings; the function answers undefined where people cannot sign in. */
export const makePageAddress = Effect.map(
  readSettings({ publicUrl: LaunchSettings.LAUNCHER_PUBLIC_URL, basePath: ServiceSettings.PUBLIC_BASE_PATH }),
  ({ basePath, publicUrl }) =>
    ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): PageAddress | undefined =>
      addressOf(publicUrl === "" ? `http://${headers["host"] ?? ""}${basePath}` : publicUrl)
)

/** Whether a page of the inbox itself sent the request: a browser sends `Origin` with each one that writes. */
export const isOfPage = (
  { headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">,
  { origin }: PageAddress
): boolean => headers["origin"] === origin
