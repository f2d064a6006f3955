import { type ShareInterval, wilson } from "./Wilson.ts"

/**
 * How often each pattern, a short text, occurred in each case. Its size grows with the cases and with the different
 * patterns of a case, not with repeats.
 */
export interface CasePatterns {
  readonly cases: Map<string, number>
  readonly patterns: Map<string, number>
  /** By `case * MAX_PATTERNS + pattern`. */
  readonly counts: Map<number, number>
}

/** Different patterns of one collection; the product with a number of cases must stay an exact integer. */
const MAX_PATTERNS = 2 ** 24

export const emptyCasePatterns = (): CasePatterns => ({ cases: new Map(), patterns: new Map(), counts: new Map() })

/** Counts one run, in place: a copy for each of many thousand runs would be quadratic. */
export const addPattern = ({ cases, counts, patterns }: CasePatterns, caseId: string, pattern: string): void => {
  const key = indexIn(cases, caseId) * MAX_PATTERNS + indexIn(patterns, pattern)
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

const indexIn = (indexes: Map<string, number>, text: string): number => {
  const known = indexes.get(text)
  if (known !== undefined) return known
  indexes.set(text, indexes.size)
  return indexes.size - 1
}

/** The counts in columns: row i says that its pattern occurred `count[i]` times in its case. */
export interface PatternColumns {
  readonly rows: number
  /** Names of the cases and patterns by their index. */
  readonly caseIds: ReadonlyArray<string>
  readonly patterns: ReadonlyArray<string>
  readonly caseOf: Int32Array
  readonly patternOf: Int32Array
  readonly count: Int32Array
}

export const patternColumns = ({ cases, counts, patterns }: CasePatterns): PatternColumns => {
  const rows = counts.size
  const [caseOf, patternOf, count] = [new Int32Array(rows), new Int32Array(rows), new Int32Array(rows)]
  let row = 0
  for (const [key, times] of counts) {
    caseOf[row] = Math.floor(key / MAX_PATTERNS)
    patternOf[row] = key % MAX_PATTERNS
    count[row] = times
    row += 1
  }
  return { rows, caseIds: [...cases.keys()], patterns: [...patterns.keys()], caseOf, patternOf, count }
}

/** A share of runs, how many they are, and the number of their cases. */
export interface CaseShare extends ShareInterval {
  readonly count: number
  readonly n: number
  readonly cases: number
}

/**
 * The share of the runs with a feature among those that have a value, with its interval of 95 %. Repeats of one case
 * are not independent, so the Wilson interval is that of as many runs as the variance between the cases is worth: `n`
 * over the design effect, and the number of cases where no run or each run has the feature. `featureOf` is called once
 * for each pattern; undefined leaves the pattern out.
 */
export const caseShare = (
  { caseIds, caseOf, count, patternOf, patterns, rows }: PatternColumns,
  featureOf: (pattern: string) => boolean | undefined
): CaseShare => {
  const values = patterns.map(featureOf)
  const [runs, having] = [new Float64Array(caseIds.length), new Float64Array(caseIds.length)]
  for (let row = 0; row < rows; row++) {
    const value = values[patternOf[row] ?? 0]
    if (value === undefined) continue
    const at = caseOf[row] ?? 0
    runs[at] = (runs[at] ?? 0) + (count[row] ?? 0)
    if (value) having[at] = (having[at] ?? 0) + (count[row] ?? 0)
  }
  return shareOfCases(runs, having)
}

/** The same from the runs of each case, and those that have the feature. */
export const shareOfCases = (runs: ArrayLike<number>, having: ArrayLike<number>): CaseShare => {
  let [n, total, cases] = [0, 0, 0]
  for (let at = 0; at < runs.length; at++) {
    n += runs[at] ?? 0
    total += having[at] ?? 0
    if ((runs[at] ?? 0) > 0) cases += 1
  }
  if (cases === n) return { count: total, n, cases, ...wilson(total, n) }
  if (total === 0 || total === n) return { count: total, n, cases, ...wilson(total === 0 ? 0 : cases, cases) }
  const rate = total / n
  let squares = 0
  for (let at = 0; at < runs.length; at++) squares += ((having[at] ?? 0) - rate * (runs[at] ?? 0)) ** 2
  // One case says nothing about the variance between cases.
  const effect = cases === 1 ? n : Math.max(1, ((squares / n) * (cases / (cases - 1))) / (rate * (1 - rate)))
  const size = Math.max(1, n / effect)
  return { count: total, n, cases, ...wilson(rate * size, size) }
}
