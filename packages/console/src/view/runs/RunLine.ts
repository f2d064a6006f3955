import type { Run } from "@runplane/api"
import { runDuration } from "@runplane/domain"
import { costOf, duration, listedDollars } from "../format/Format.ts"
import type { RunFacts } from "../run/RunFacts.ts"

const ID_LETTERS = 8

/** One line that distinguishes runs of the same name: id, duration, cost, and the decision or the error. */
export const runLine = (run: Run, { action, cost }: Pick<RunFacts, "action" | "cost">): string => {
  const ms = run.endedAt === undefined ? undefined : runDuration(run)
  return [
    run.id.slice(0, ID_LETTERS),
    ms === undefined ? undefined : duration(ms),
    cost === undefined ? undefined : costOf(cost, listedDollars),
    action ?? run.errorCode
  ]
    .filter((part) => part !== undefined && part !== "")
    .join(" · ")
}
