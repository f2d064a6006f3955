import { CurrentActor, RequestId } from "@runplane/api"
import * as Effect from "effect/Effect"

/** Who makes the current request, for the audit log. */
export const currentCaller = Effect.gen(function* () {
  return { actor: yield* CurrentActor, requestId: yield* RequestId }
})
