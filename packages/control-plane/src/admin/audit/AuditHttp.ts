import { auditQueryFields, ControlPlaneApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { AuditLog } from "../../platform/audit/AuditLog.ts"
import { jsonPages } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../../platform/http/SearchAnswers.ts"

/** `GET /audit` (docs/reference/admin.md#audit). */
export const AuditHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "audit",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handle("list", ({ query }) =>
      orUnavailable(Effect.map(orSearchRefused(auditQueryFields)(log.list(query)), jsonPages))
    )
  })
)
