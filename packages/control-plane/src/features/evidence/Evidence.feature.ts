import type { Feature } from "../../Feature.ts"
import { EvidenceHttp } from "./EvidenceHttp.ts"

/** One file that an auditor checks without the service (docs/reference/evidence.md). */
export const evidence = { name: "evidence", tables: [], routes: EvidenceHttp } satisfies Feature
