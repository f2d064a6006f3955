import { type Act, counting, isOpening, type RuledMode } from "../Act.ts"
import { MAX_ENUMERATED, smallestSets } from "../forecast/Outlook.ts"
import { type Standing, sideOf } from "../Standing.ts"

/** Acts among which a smallest set is looked for. */
const MAX_ACTS = 2_000

/**
 * The seqs of a smallest set of acts that carries an outcome against all that was said against it. Up to
 * `MAX_ENUMERATED` acts every set is tried; beyond that acts are left out one by one, so that none of the rest can be.
 */
export const smallestCarrying = (
  acts: ReadonlyArray<Act>,
  mode: RuledMode,
  { isAllowed }: Standing,
  positive: boolean
): ReadonlyArray<number> => {
  const counted = counting(acts)
  const against = counted.filter((act) => sideOf(act, positive) === "against")
  const others = counted.filter((act) => sideOf(act, positive) !== "against")
  if (others.length > MAX_ACTS) return []
  // What was said against a proposal stays, and so the proposal itself.
  const opposed = new Set(against.map(({ proposalId }) => proposalId))
  const kept = others.filter((act) => isOpening(mode, act.type) && opposed.has(act.proposalId))
  const carries = (chosen: ReadonlyArray<Act>) => {
    const present = new Set(chosen)
    return kept.every((act) => present.has(act)) && isAllowed(inOrder([...chosen, ...against]), positive)
  }
  if (!carries(others)) return []
  const least =
    others.length <= MAX_ENUMERATED ? (smallestSets(others, carries)[0] ?? []) : withoutIdle(others, carries)
  return inOrder(least).map(({ seq }) => seq)
}

const inOrder = (acts: ReadonlyArray<Act>) => [...acts].sort((left, right) => left.index - right.index)

const withoutIdle = (acts: ReadonlyArray<Act>, carries: (acts: ReadonlyArray<Act>) => boolean): ReadonlyArray<Act> =>
  [...acts].reverse().reduce<ReadonlyArray<Act>>((kept, act) => {
    const rest = kept.filter((one) => one !== act)
    return carries(rest) ? rest : kept
  }, acts)
