import { assert, describe, it } from "@effect/vitest"
import { whyUnreachable } from "../src/Unreachable.ts"

const failure = (code: string | undefined, message: string) =>
  Object.assign(new Error("Transport error"), { cause: Object.assign(new Error(message), { code }) })

const why = (code: string | undefined, message: string, baseUrl = "https://runs.example.org") =>
  whyUnreachable(failure(code, message), { baseUrl, setBy: "--url" })

// docs/reference/cli.md#unreachable
describe("an address that does not answer", () => {
  it.each([
    [
      "ENOTFOUND",
      "getaddrinfo ENOTFOUND runs.example.org",
      "the host name runs.example.org is unknown; set the address"
    ],
    ["EAI_AGAIN", "getaddrinfo EAI_AGAIN", "the resolver does not answer for the host name runs.example.org"],
    ["CERT_HAS_EXPIRED", "certificate has expired", "its certificate has expired; the server needs a new certificate"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed", "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "unable to get", "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify", "NODE_EXTRA_CA_CERTS"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Host: a. is not b", "its certificate is for another name (Host: a. is not b)"],
    ["EPROTO", "write EPROTO 40:error:0A00010B:SSL routines:tls:wrong version number:x.c:77:", "without TLS"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "SSL routines:tls:wrong version number", "set an http:// address"],
    ["EPROTO", "write EPROTO 40:error:0A000410:SSL routines:ssl:sslv3 alert handshake failure", "handshake failure"],
    ["ETIMEDOUT", "connect ETIMEDOUT", "the host does not answer (ETIMEDOUT)"],
    ["ECONNRESET", "socket hang up", "the connection was closed without an answer"],
    [undefined, "a\nb\u001b[0m", "a b [0m; set the address with --url"]
  ])("says of %s (%s): %s", (code, message, words) => {
    assert.include(why(code, message), words)
    assert.notMatch(why(code, message), /\p{Cc}/u)
  })

  it("is an HTTPS port only where HTTP was spoken", () => {
    assert.notInclude(why("ECONNRESET", "socket hang up"), "https://")
    assert.include(why("ECONNRESET", "socket hang up", "http://runs.example.org"), "set an https:// address with --url")
  })

  it("has the cause of its last attempt", () => {
    const attempts = [failure("EHOSTUNREACH", "no route"), failure("ECONNREFUSED", "refused")]
    const error = Object.assign(new TypeError("fetch failed"), { cause: new AggregateError(attempts) })
    assert.include(whyUnreachable(error, { baseUrl: "http://a", setBy: "--keys" }), "the connection is refused")
  })
})
