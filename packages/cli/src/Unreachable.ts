import { rootCauseOf } from "@runplane/api"
import { plainText } from "./narrative/PlainText.ts"

/** A service as the command line names it. */
export interface Service {
  readonly baseUrl: string
  /** What sets the address: a flag and a variable of the environment. */
  readonly setBy: string
}

const CERTIFICATE_TIMES: ReadonlySet<string> = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"])
const UNTRUSTED = /^(DEPTH_ZERO_)?SELF_SIGNED|^UNABLE_TO_(GET|VERIFY)|^CERT_/
const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"])
const UNANSWERED: ReadonlySet<string> = new Set(["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"])

/** Errors of OpenSSL when the other side does not speak TLS. */
const WITHOUT_TLS = /wrong version number|packet length too long|http request|record layer failure/i

/**
 * Why an address does not answer, with the next step: one line for each error of the operating system, the resolver and
 * TLS that a caller can act on (docs/reference/cli.md#unreachable). `error` is what the HTTP client or `fetch` failed
 * with.
 */
export const whyUnreachable = (error: unknown, { baseUrl, setBy }: Service): string => {
  const { code = "", message } = rootCauseOf(error)
  const { hostname, protocol } = new URL(baseUrl)
  if (CERTIFICATE_TIMES.has(code)) return `its ${plainText(message)}; the server needs a new certificate`
  if (UNTRUSTED.test(code)) {
    return `its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS names the file of the authority that signed it`
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `its certificate is for another name (${plainText(message)}); set that name with ${setBy}`
  }
  if (protocol === "https:" && WITHOUT_TLS.test(message)) {
    return `the port answers without TLS; set an http:// address with ${setBy}`
  }
  if (code === "ENOTFOUND") return `the host name ${hostname} is unknown; set the address with ${setBy}`
  if (code === "EAI_AGAIN") return `the resolver does not answer for the host name ${hostname}; check the network`
  if (code === "ECONNREFUSED") {
    return `the connection is refused; start Runplane with \`runplane dev\`, or set the address with ${setBy}`
  }
  if (CLOSED.has(code)) {
    const https = protocol === "http:" ? `; an HTTPS port does that: set an https:// address with ${setBy}` : ""
    return `the connection was closed without an answer${https}`
  }
  if (UNANSWERED.has(code)) return `the host does not answer (${code}); check the network and ${setBy}`
  if (code.startsWith("HPE_")) return `the port does not answer in HTTP; set the address with ${setBy}`
  return `${plainText(message) || code || "the connection failed"}; set the address with ${setBy}`
}
