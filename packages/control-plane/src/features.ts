import type { Feature } from "./Feature.ts"
import { alerts } from "./features/alerts/Alerts.feature.ts"
import { archive } from "./features/archive/Archive.feature.ts"
import { committees } from "./features/committees/Committees.feature.ts"
import { decisions } from "./features/decisions/Decisions.feature.ts"
import { erasure } from "./features/erasure/Erasure.feature.ts"
import { evidence } from "./features/evidence/Evidence.feature.ts"
import { ingest } from "./features/ingest/Ingest.feature.ts"
import { mcp } from "./features/mcp/Mcp.feature.ts"
import { receipts } from "./features/receipts/Receipts.feature.ts"
import { webhooks } from "./features/webhooks/Webhooks.feature.ts"

/** The features of the service. Their order means nothing. */
export const features = [
  alerts,
  archive,
  committees,
  decisions,
  erasure,
  evidence,
  ingest,
  mcp,
  receipts,
  webhooks
] as const satisfies ReadonlyArray<Feature>
