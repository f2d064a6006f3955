import {
  type Conflict,
  MAX_EARLIER_SEALS,
  type NotFound,
  type RunSeal,
  runCannotBeSealed,
  runNotFound,
  runNotSealed,
  type SealKeySet
} from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { RunSeals } from "../../event-log/seal/RunSeals.ts"

/** The seals of runs, and the keys to verify them (docs/reference/seal.md#seals, docs/reference/seal.md#keys). */
export class Seals extends Context.Service<
  Seals,
  {
    readonly of: (reference: string) => Effect.Effect<RunSeal, Conflict | NotFound | SqlError>
    readonly keys: Effect.Effect<SealKeySet, SqlError>
  }
>()("runplane/control-plane/Seals") {
  static readonly layer = Layer.effect(
    Seals,
    Effect.gen(function* () {
      const runs = yield* RunRepository
      const seals = yield* RunSeals
      const states = yield* RunStateReader

      const sealOf = Effect.fn("Seals.of")(function* (reference: string) {
        const runId = yield* runs.resolve(reference)
        const seal = runId && (yield* seals.sealed(runId))
        if (runId === undefined || seal === undefined) return yield* runNotFound(reference)
        if (seal === "damaged") return yield* runCannotBeSealed(runId)
        if (seal === "open") {
          const head = yield* states.head(runId)
          return yield* head === undefined ? runNotFound(reference) : runNotSealed(runId, head.status)
        }
        return { ...seal, earlier: yield* seals.before(seal, MAX_EARLIER_SEALS) }
      })
      const keys = Effect.map(seals.keys, (published) => ({
        keys: published.map(({ firstUsedAt, keyId, publicKey }) => ({
          kty: "OKP" as const,
          crv: "Ed25519" as const,
          alg: "EdDSA" as const,
          use: "sig" as const,
          kid: keyId,
          x: publicKey,
          firstUsedAt
        }))
      }))
      return Seals.of({ of: sealOf, keys })
    })
  )
}
