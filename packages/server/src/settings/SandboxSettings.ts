import { PINNED_RELEASE, RELEASES } from "@runplane/domain"
import { row, settingsOf } from "./Setting.ts"
import { host, json, list, listenPort, oneOf, strictFlag, text } from "./SettingTypes.ts"

/** What a sandbox runtime reads that runs alone. */
export const SandboxSettings = settingsOf(["sandbox"], {
  SANDBOX_HOST: row(host, "127.0.0.1", "Address to listen on."),
  SANDBOX_PORT: row(listenPort(), 50_051, "Port to listen on; 0 takes a free one."),
  SANDBOX_CONTROL_PORT: row(listenPort(), undefined, "Port of the control interface; without one there is none."),
  SANDBOX_RELEASE: row(oneOf(RELEASES), PINNED_RELEASE, "Release of the reference runtime whose rules are followed."),
  SANDBOX_COMPACT_ON_TERMINAL: row(strictFlag, false, "Whether the history of a session is dropped when it ends."),
  SANDBOX_ANNOTATE_STREAM: row(
    strictFlag,
    false,
    "Whether cancel, suspend and resume show as envelopes on the stream."
  ),
  SANDBOX_DENIALS_AS_STATUS: row(
    strictFlag,
    false,
    "Whether a policy denial ends the call with FAILED_PRECONDITION instead of an acknowledgement."
  ),
  SANDBOX_RECEIPTS: row(
    oneOf(["signed", "unsigned", "off"]),
    "signed",
    "Whether receipts of decisions are issued; they are signed with a key of the process."
  ),
  SANDBOX_AUTH_TOKENS_JSON: row(
    json,
    undefined,
    "Static tokens: an array, or an object with the array under `tokens`.",
    {
      secret: true
    }
  ),
  SANDBOX_AUTH_ISSUER: row(
    text,
    undefined,
    "Issuer of signed tokens; without one, any bearer value is the caller's name."
  ),
  SANDBOX_ACCEPT_NAMES: row(
    strictFlag,
    false,
    "Whether the name of a caller is accepted as its bearer token, besides signed tokens."
  ),
  SANDBOX_AUTH_AUDIENCE: row(text, "macp-runtime", "Audience of signed tokens."),
  SANDBOX_AUTH_JWT_ALGS: row(list, ["RS256", "ES256"], "Algorithms of signed tokens: RS256, ES256, HS256."),
  SANDBOX_AUTH_JWKS_JSON: row(json, undefined, "Keys of the issuer, as a JSON Web Key Set.", { secret: true }),
  SANDBOX_AUTH_JWKS_URL: row(text, undefined, "Where the keys of the issuer are published.")
})
