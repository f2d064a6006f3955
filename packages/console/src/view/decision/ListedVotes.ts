import type { Run } from "@runplane/api"
import { standardMode, type VoteSide } from "@runplane/domain"

type Listed = NonNullable<Run["decision"]>

interface ListedVotes {
  /** The voters of the glyph; of a large session the groups of votes, as wide as they are large. */
  readonly voters: ReadonlyArray<readonly [vote: VoteSide, weight: number]>
  /** "3 : 1", for and against; undefined where no vote was cast, and where several proposals are open. */
  readonly votes: string | undefined
}

/** Whether the sides of a mode are those of answers, not of votes. */
const isWork = (modeName = ""): boolean => ["task", "handoff", "proposal"].includes(standardMode(modeName) ?? "")

const GROUPS: ReadonlyArray<VoteSide> = ["for", "abstained", "none", "against"]

/** What a list draws of the votes of a decision. */
export const listedVotes = (
  { heads, seats }: Pick<Listed, "heads" | "seats">,
  modeName: string | undefined
): ListedVotes => ({
  voters:
    seats?.map(([, vote, weight]) => [vote, weight] as const) ??
    (heads === undefined
      ? [["none", 1]]
      : GROUPS.flatMap((vote) => (heads[vote] === 0 ? [] : [[vote, heads[vote]] as const]))),
  votes:
    heads === undefined || heads.for + heads.against === 0 || isWork(modeName)
      ? undefined
      : `${heads.for} : ${heads.against}`
})
