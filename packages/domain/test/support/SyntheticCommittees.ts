import { addRun, type Committee, emptyCommittee } from "@runplane/domain"

/** Numbers in [0, 1) from a seed: xorshift128 of Marsaglia (2003), not the generator of the code under test. */
export const uniform = (seed: number): (() => number) => {
  let [x, y, z, w] = [seed | 0 || 1, 362_436_069, 521_288_629, 88_675_123]
  const next = () => {
    const t = x ^ (x << 11)
    ;[x, y, z] = [y, z, w]
    w = w ^ (w >>> 19) ^ (t ^ (t >>> 8))
    return (w >>> 0) / 4_294_967_296
  }
  for (let skipped = 0; skipped < 32; skipped++) next()
  return next
}

/** Standard normal numbers (Box and Muller 1958). */
const normal = (next: () => number): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

/** Gamma numbers of any shape (Marsaglia and Tsang 2000). */
const gamma = (next: () => number, shape: number): number => {
  if (shape < 1) return gamma(next, shape + 1) * (1 - next()) ** (1 / shape)
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  while (true) {
    const x = normal(next)
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}

/** A committee whose correlation is known: draws the errors of all seats in one run. */
export interface Synthetic {
  readonly accuracies: ReadonlyArray<number>
  readonly meanCorrelation: number
  readonly draw: (next: () => number) => ReadonlyArray<boolean>
}

/** Errors that share a rate, drawn from a beta distribution for each run: each pair has the given correlation. */
export const betaBinomial = (seats: number, accuracy: number, correlation: number): Synthetic => {
  const size = 1 / correlation - 1
  const [wrong, right] = [(1 - accuracy) * size, accuracy * size]
  return {
    accuracies: Array.from({ length: seats }, () => accuracy),
    meanCorrelation: correlation,
    draw: (next) => {
      const [one, other] = [gamma(next, wrong), gamma(next, right)]
      const rate = one / (one + other)
      return Array.from({ length: seats }, () => next() < rate)
    }
  }
}

/** Errors of seats with their own accuracies, where a normal number with one common factor is below a threshold. */
export const gaussianCopula = (accuracies: ReadonlyArray<number>, latent: number): Synthetic => {
  const thresholds = accuracies.map((accuracy) => normalQuantile(1 - accuracy))
  const [common, own] = [Math.sqrt(latent), Math.sqrt(1 - latent)]
  const phis = accuracies.flatMap((_, left) =>
    accuracies.slice(left + 1).map((_, further) => copulaPhi(accuracies, thresholds, latent, left, left + 1 + further))
  )
  return {
    accuracies,
    meanCorrelation: phis.reduce((sum, phi) => sum + phi / phis.length, 0),
    draw: (next) => {
      const factor = common * normal(next)
      return thresholds.map((threshold) => factor + own * normal(next) < threshold)
    }
  }
}

/** The correlation of two errors, by the integral over the common factor. */
export const copulaPhi = (
  accuracies: ReadonlyArray<number>,
  thresholds: ReadonlyArray<number>,
  latent: number,
  left: number,
  right: number
): number => {
  const [p, q] = [1 - (accuracies[left] ?? 0), 1 - (accuracies[right] ?? 0)]
  const errs = (seat: number, factor: number) =>
    normalShare(((thresholds[seat] ?? 0) - Math.sqrt(latent) * factor) / Math.sqrt(1 - latent))
  const steps = 4_000
  let both = 0
  for (let step = 0; step < steps; step++) {
    const factor = -8 + (16 * (step + 0.5)) / steps
    both += (Math.exp(-factor * factor * 0.5) / Math.sqrt(2 * Math.PI)) * errs(left, factor) * errs(right, factor)
  }
  return ((both * 16) / steps - p * q) / Math.sqrt(p * (1 - p) * q * (1 - q))
}

/** The normal distribution by its series (Marsaglia 2004). */
export const normalShare = (x: number): number => {
  if (x < -8) return 0
  if (x > 8) return 1
  let [sum, term] = [x, x]
  for (let i = 3; sum !== sum + term; i += 2) {
    term *= (x * x) / i
    sum += term
  }
  return 0.5 + (sum * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI)
}

export const normalQuantile = (share: number): number => {
  let [low, high] = [-8, 8]
  for (let step = 0; step < 80; step++) {
    const middle = (low + high) / 2
    if (normalShare(middle) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** So many runs of a synthetic committee, each a case of its own, whose decisions are all right. */
export const committeeOf = (synthetic: Synthetic, runs: number, next: () => number): Committee => {
  const committee = emptyCommittee(synthetic.accuracies.map((_, seat) => `seat-${seat + 1}`))
  for (let run = 0; run < runs; run++) {
    const votes = synthetic.draw(next).map((errs) => (errs ? ("against" as const) : ("for" as const)))
    addRun(committee, { caseId: `case-${run}`, votes, outcome: "positive", isRight: true })
  }
  return committee
}

/** Runs in which each seat errs so many times, as its accuracy says. */
export const runsFor = (errors: number, { accuracies }: Synthetic): number =>
  Math.ceil(errors / (1 - Math.max(...accuracies)))
