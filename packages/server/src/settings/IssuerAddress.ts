const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Whether keys and documents of an issuer may be fetched from an address: over TLS, or from this very machine. What an
 * address says beside host and path has no place in it (docs/reference/http.md#tokens).
 */
export const isIssuerAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hash, hostname, password, protocol, username } = new URL(text)
  if (username !== "" || password !== "" || hash !== "") return false
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname))
}
