import { makeNormaliser, type Normaliser } from "@runplane/domain"
import { decodePayload } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sha256 } from "../Sha256.ts"
import { Prices } from "./Prices.ts"
import { Redactor } from "./Redactor.ts"

/** The pure normaliser with this deployment's redaction patterns and token prices. */
export class FrameNormaliser extends Context.Service<FrameNormaliser, Normaliser>()(
  "runplane/control-plane/FrameNormaliser"
) {
  static readonly layer = Layer.effect(
    FrameNormaliser,
    Effect.gen(function* () {
      return makeNormaliser({ decode: decodePayload, redactor: yield* Redactor, prices: yield* Prices, sha256 })
    })
  )
}
