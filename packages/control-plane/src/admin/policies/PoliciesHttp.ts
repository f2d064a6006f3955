import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { currentCaller } from "../../platform/http/CurrentCaller.ts"
import { withoutEdgeAnswers } from "../../platform/http/EdgeAnswers.ts"
import { Policies } from "./Policies.ts"

/** The policy endpoints (docs/reference/http.md#policy-registration). */
export const PoliciesHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "policies",
  Effect.fn(function* (handlers) {
    const policies = yield* Policies
    return handlers.handleAll({
      register: ({ payload }) =>
        withoutEdgeAnswers(Effect.flatMap(currentCaller, (caller) => policies.register(payload, caller))),
      list: ({ query }) => withoutEdgeAnswers(policies.list(query.mode ?? "")),
      get: ({ params }) => withoutEdgeAnswers(policies.get(params.policyId)),
      unregister: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => policies.unregister(params.policyId, caller)).pipe(
          withoutEdgeAnswers,
          Effect.as({ ok: true as const })
        )
    })
  })
)
