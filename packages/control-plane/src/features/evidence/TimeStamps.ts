import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { grantedStamp, stampRequest } from "./TimeStampForm.ts"

/** What the authority has to answer, and the largest answer. */
const PATIENCE = "10 seconds"
const MAX_BYTES = 256 * 1024

/** The stamp of a digest, or why there is none. */
export type Stamped = { readonly stamp: Uint8Array } | { readonly none: string }

/** Time stamps of the authority that `EVIDENCE_TSA_URL` names (RFC 3161). */
export class TimeStamps extends Context.Service<
  TimeStamps,
  {
    /** The address of the authority; undefined without one. */
    readonly authority: string | undefined
    /** Stamps a SHA-256 digest. Never fails: an authority that does not answer costs the bundle its stamp alone. */
    readonly stamp: (digest: Uint8Array) => Effect.Effect<Stamped>
  }
>()("runplane/control-plane/TimeStamps") {
  static readonly layer = Layer.effect(
    TimeStamps,
    Effect.gen(function* () {
      const authority = yield* readSetting(ControlPlaneSettings.EVIDENCE_TSA_URL)
      const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
      const random = yield* SecureRandom.SecureRandom

      const request = Effect.fnUntraced(function* (url: string, digest: Uint8Array) {
        const nonce = yield* random.randomBytes(8)
        const sent = HttpClientRequest.post(url).pipe(
          HttpClientRequest.bodyUint8Array(stampRequest(digest, nonce), "application/timestamp-query")
        )
        const answer = yield* client.execute(sent)
        const bytes = yield* Stream.runFold(
          answer.stream,
          () => Buffer.alloc(0),
          (taken, chunk) => (taken.length > MAX_BYTES ? taken : Buffer.concat([taken, chunk]))
        )
        const fault = bytes.length > MAX_BYTES ? "its answer is too large" : grantedStamp(bytes, digest, nonce)
        return fault === undefined ? { stamp: new Uint8Array(bytes) } : { none: fault }
      })

      const stamp = Effect.fn("TimeStamps.stamp")((digest: Uint8Array) => {
        if (authority === undefined)
          return Effect.succeed<Stamped>({ none: "no time-stamping authority is configured" })
        return request(authority, digest).pipe(
          Effect.timeout(PATIENCE),
          Effect.catch((error) => Effect.succeed<Stamped>({ none: error.message })),
          Effect.map((stamped) =>
            "none" in stamped ? { none: `the authority ${authority} gave no stamp: ${stamped.none}` } : stamped
          ),
          Effect.tap((stamped) => ("none" in stamped ? Effect.logWarning(stamped.none) : Effect.void))
        )
      })
      return TimeStamps.of({ authority, stamp })
    })
  ).pipe(Layer.provide([FetchHttpClient.layer, SecureRandom.layerWebCrypto]))
}
