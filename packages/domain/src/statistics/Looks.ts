import { twoSidedZ, wilson } from "./Wilson.ts"

/** The error of all looks at one case together, both sides. */
const ERROR = 0.05

/** The confidence of the interval at each of several looks at a growing sample (Bonferroni). */
export const levelOf = (looks: number): number => 1 - ERROR / looks

/** The sample sizes at which a gate evaluates a case: `runs`, twice and four times as many, each at most `maxRuns`. */
export const looksOf = (runs: number, maxRuns: number): ReadonlyArray<number> => [
  ...new Set([runs, 2 * runs, 4 * runs].map((size) => Math.min(size, Math.max(runs, maxRuns))))
]

/** The fewest runs, all of them in agreement, whose interval begins at the demanded agreement or above. */
export const runsNeeded = (agreement: number, looks: number): number => {
  const z = twoSidedZ(levelOf(looks))
  let needed = Math.max(1, Math.floor((agreement * z * z) / (1 - agreement)))
  while (wilson(needed, needed, levelOf(looks)).low < agreement) needed++
  return needed
}
