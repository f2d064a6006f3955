import { ControlPlaneApi, unknownCursor } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { Ledger } from "./Ledger.ts"
import { Seals, Tombstones } from "./Seals.ts"

/** The `seals` group (docs/reference/seal.md#seals, docs/reference/seal.md#tombstones). */
export const SealsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "seals",
  Effect.fnUntraced(function* (handlers) {
    const seals = yield* Seals
    const tombstones = yield* Tombstones
    return handlers.handleAll({
      tombstones: ({ query }) =>
        orUnavailable(tombstones.list(query)).pipe(
          Effect.catchTag("UnknownCursor", () => Effect.fail(unknownCursor()))
        ),
      seal: ({ params }) => orUnavailable(seals.of(params.id)),
      salts: ({ params, query }) => orUnavailable(seals.salts(params.id, query))
    })
  })
)

/** The `ledger` group (docs/reference/seal.md#ledger). */
export const LedgerHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "ledger",
  Effect.fnUntraced(function* (handlers) {
    const ledger = yield* Ledger
    return handlers.handleAll({ list: ({ query }) => orUnavailable(ledger.list(query)) })
  })
)

/** The `sealKeys` group (docs/reference/seal.md#keys). */
export const SealKeysHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "sealKeys",
  Effect.fnUntraced(function* (handlers) {
    const seals = yield* Seals
    return handlers.handleAll({ keys: () => orUnavailable(seals.keys) })
  })
)
