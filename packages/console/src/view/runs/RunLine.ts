import type { Run } from "@runplane/api"
import { runDuration } from "@runplane/domain"
import { costOf, duration, listedDollars } from "../format/Format.ts"
import { runStatusLabel } from "../format/Status.ts"
import type { RunFacts } from "../run/RunFacts.ts"

const ID_LETTERS = 8

/** One line of a phone: the verdict or the error, the cost, the duration and the id. */
export const runLine = (run: Run, { cost }: Pick<RunFacts, "cost">): string => {
  const ms = run.endedAt === undefined ? undefined : runDuration(run)
  return [
    run.decision?.word ?? run.errorCode ?? runStatusLabel(run.status).word,
    cost === undefined ? undefined : costOf(cost, listedDollars),
    ms === undefined ? undefined : duration(ms),
    run.id.slice(0, ID_LETTERS)
  ]
    .filter((part) => part !== undefined && part !== "")
    .join(" · ")
}
