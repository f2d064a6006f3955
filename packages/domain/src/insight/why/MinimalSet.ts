import type { Sliced } from "../../values/Sliced.ts"
import { type Act, counting, isOpening, type StandardMode } from "../Act.ts"
import { MAX_ENUMERATED, smallestSetsInSlices } from "../forecast/ModeForecast.ts"
import { type Position, sideOf, trialsOf } from "../Position.ts"

/**
 * The seqs of a smallest set of acts that carries an outcome against all acts against it. Up to
 * `MAX_ENUMERATED` acts every set is tried; beyond that acts are left out, many at a time and at last one by one, so
 * that none of the rest can be. Undefined when that would take too long.
 */
export function* smallestCarrying(
  acts: ReadonlyArray<Act>,
  mode: StandardMode,
  { isAllowed }: Position,
  positive: boolean
): Sliced<ReadonlyArray<number> | undefined> {
  const counted = counting(acts)
  const against = counted.filter((act) => sideOf(act, positive) === "against")
  const others = counted.filter((act) => sideOf(act, positive) !== "against")
  // Acts against a proposal stay, and so does the proposal itself.
  const opposed = new Set(against.map(({ proposalId }) => proposalId))
  const kept = others.filter((act) => isOpening(mode, act.type) && opposed.has(act.proposalId))
  const carries = (chosen: ReadonlyArray<Act>) => {
    const present = new Set(chosen)
    return kept.every((act) => present.has(act)) && isAllowed(inOrder([...chosen, ...against]), positive)
  }
  if (!carries(others)) return []
  const isFew = others.length <= MAX_ENUMERATED && 2 ** others.length <= 8 * trialsOf(counted)
  const least = isFew
    ? ((yield* smallestSetsInSlices(others, carries))[0] ?? [])
    : yield* withoutIdle(others, carries, trialsOf(counted))
  return least && inOrder(least).map(({ seq }) => seq)
}

const inOrder = (acts: ReadonlyArray<Act>) => [...acts].sort((left, right) => left.index - right.index)

/** Tries the latest acts first; undefined when the trials do not suffice. */
function* withoutIdle(
  acts: ReadonlyArray<Act>,
  carries: (acts: ReadonlyArray<Act>) => boolean,
  trials: number
): Sliced<ReadonlyArray<Act> | undefined> {
  let kept = acts
  let left = trials
  for (let size = Math.ceil(acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = kept.length; end > 0; end -= size) {
      if (left === 0) return undefined
      left -= 1
      yield
      const rest = [...kept.slice(0, Math.max(0, end - size)), ...kept.slice(end)]
      if (carries(rest)) kept = rest
    }
  }
  return kept
}
