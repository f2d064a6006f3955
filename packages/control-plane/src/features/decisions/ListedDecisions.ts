import type { RunExtra } from "../../platform/postgres/search/RunExtras.ts"

/** `GET /runs?include=decision` (docs/reference/runs.md#decision). */
export const listedDecisions: ReadonlyArray<RunExtra> = [
  { include: "decision", join: "LEFT JOIN run_decisions d ON d.run_id = r.id", column: "d.listed" }
]
