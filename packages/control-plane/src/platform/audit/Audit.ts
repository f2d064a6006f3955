import * as Layer from "effect/Layer"
import { AuditLog } from "./AuditLog.ts"
import { AuditTrail } from "./AuditTrail.ts"

/** The audit log: writing and reading. */
export const layer = Layer.merge(AuditTrail.layer, AuditLog.layer)
