import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { currentCaller } from "../../platform/http/CurrentCaller.ts"
import { Policies } from "./Policies.ts"

/** The policy endpoints (docs/reference/http.md#policy-registration). */
export const PoliciesHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "policies",
  Effect.fn(function* (handlers) {
    const policies = yield* Policies
    return handlers.handleAll({
      register: ({ payload }) => Effect.flatMap(currentCaller, (caller) => policies.register(payload, caller)),
      list: ({ query }) => policies.list(query.mode ?? ""),
      get: ({ params }) => policies.get(params.policyId),
      unregister: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => policies.unregister(params.policyId, caller)).pipe(
          Effect.as({ ok: true as const })
        )
    })
  })
)
