import type { ActivePolicy } from "../insight/ActivePolicy.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { recountWithShadow, type SeatRecount } from "../insight/Recount.ts"
import { withShadow } from "../insight/WithShadow.ts"
import { committeeFacts } from "./CommitteeFacts.ts"
import type { SeatVote } from "./CommitteeRun.ts"

/** A shadow: an agent that was tried beside a participant. It is not a seat of the committee. */
export interface ShadowSeat {
  /** `<as>~<agent>` */
  readonly shadow: string
  readonly as: string
  readonly agent: string
}

/** What a run says about one of its shadows, as plain data. */
export interface ShadowInRun extends ShadowSeat {
  /** Its vote on the decided proposal; undefined without one. */
  readonly vote: SeatVote | undefined
  /** The run counted again as if the shadow had acted in place of its participant. */
  readonly recount: SeatRecount
  /** Undefined where no model call of the shadow is on record. */
  readonly costUsd: number | undefined
  /** Part of `costUsd` that is a guess. */
  readonly guessedCostUsd: number
}

/** Reads the shadows of an ended run. A shadow that cast no vote says nothing of what its vote would have changed. */
export const shadowsInRun = (run: Deliberation, by: ActivePolicy): ReadonlyArray<ShadowInRun> =>
  Array.from(run.shadows.values(), (fact): ShadowInRun => {
    const { agent, as, shadow } = fact
    const spent = run.shadowSpending.get(shadow)
    const [vote] = committeeFacts({ ...withShadow(run, fact), shadows: new Map() }, by, [as]).votes
    return {
      ...{ shadow, as, agent, vote, costUsd: spent?.costUsd },
      recount:
        vote === undefined
          ? { kind: "not counted", reason: "no vote of the shadow" }
          : recountWithShadow(run, by, fact),
      guessedCostUsd: spent?.guessedCostUsd ?? 0
    }
  })
