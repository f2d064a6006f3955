import { auditQueryFields, ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { jsonPages } from "../edge/JsonAnswer.ts"
import { orUnavailable } from "../edge/OutageAnswers.ts"
import { orSearchRefused } from "../edge/SearchAnswers.ts"
import { AuditLog } from "./AuditLog.ts"

/** `GET /audit` (docs/http.md#audit). */
export const AuditHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "audit",
  Effect.fn(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handle("list", ({ query }) =>
      orUnavailable(Effect.map(orSearchRefused(auditQueryFields)(log.list(query)), jsonPages))
    )
  })
)
