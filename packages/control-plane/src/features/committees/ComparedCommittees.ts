import * as Effect from "effect/Effect"
import { type CommitteeSet, makeCommitteeReads, type Scope } from "./CommitteeReads.ts"
import { committeeKey } from "./CommitteeRows.ts"

/** One committee of an answer: its participants, and the seats that are compared, by their index in the rows. */
export interface Compared {
  readonly committee: string
  readonly participants: ReadonlyArray<string>
  readonly seats: ReadonlyArray<string>
  readonly at: ReadonlyArray<number>
}

const comparedOf = ({ committee, participants, voters }: CommitteeSet): Compared => ({
  ...{ committee, participants, at: voters },
  seats: voters.map((at) => participants[at] ?? "")
})

/** The committees that a request compares: one for each set, or one of the named seats over all of their sets. */
export const committeesOf = (sets: ReadonlyArray<CommitteeSet>, seats: ReadonlyArray<string> | undefined) =>
  new Map(
    sets.map((set): [string, Compared] => {
      if (seats === undefined) return [set.committee, comparedOf(set)]
      const at = seats.map((seat) => set.participants.indexOf(seat))
      return [set.committee, { committee: committeeKey(seats), participants: seats, seats, at }]
    })
  )

/** Models and prompts of the seats in the runs of one combination, by the index of the seat; empty without any. */
export interface Combination {
  readonly models: ReadonlyArray<string>
  readonly prompts: ReadonlyArray<string>
}

/** Reads the combinations of the models and prompts of each committee. */
export const makeModelsRead = Effect.map(makeCommitteeReads, (reads) =>
  Effect.fnUntraced(function* (scope: Scope, compared: ReadonlyMap<string, Compared>) {
    const found = new Map<string, Array<Combination>>()
    for (const { committee, models, prompts } of yield* reads.models(scope, [...compared.keys()])) {
      const one = compared.get(committee)
      if (one === undefined) continue
      const known = found.get(one.committee) ?? []
      known.push({
        models: one.at.map((at) => models[at] ?? ""),
        prompts: one.at.map((at) => prompts?.[at] ?? "")
      })
      found.set(one.committee, known)
    }
    return found
  })
)
