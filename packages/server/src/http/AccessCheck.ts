import { withoutAccess } from "@runplane/api"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Layer from "effect/Layer"

/** A service does not start while an endpoint of its contract has no required role (docs/reference/http.md#roles). */
export const layerAccessCheck = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      const missing = withoutAccess(api)
      return missing.length === 0
        ? Effect.void
        : Effect.die(new Error(`these endpoints do not say which role they need: ${missing.join(", ")}`))
    })
  )
