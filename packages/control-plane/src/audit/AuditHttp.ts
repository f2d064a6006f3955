import { ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog } from "./AuditLog.ts"

/** `GET /audit` (run-control-plane "Administration"). */
export const AuditHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "audit",
  Effect.fn(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handle("list", ({ query }) => Effect.orDie(log.list(query)))
  })
)
