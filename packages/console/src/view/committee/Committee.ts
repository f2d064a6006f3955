import type { CommitteeIndependence, CommitteeWorth } from "@runplane/api"
import { counted, dollars, percent } from "../format/Format.ts"

type Pair = CommitteeIndependence["pairs"][number]
type Worth = CommitteeWorth["seats"][number]

/** What the cells of the matrix are: how errors go together, or how often two seats cast the same vote. */
export type MatrixKind = "errors" | "agreement"

/** A cell of the matrix of two seats. */
export interface MatrixCell {
  readonly text: string
  /** How strongly it is coloured, from 0 to 1; undefined without a figure. */
  readonly strength: number | undefined
  /** Errors that go together less than by chance have another colour. */
  readonly isBelow: boolean
  readonly says: string
}

/** Errors are shown once a pair has a correlation: before that the matrix has nothing but agreement. */
export const firstKind = ({ pairs }: Pick<CommitteeIndependence, "pairs">): MatrixKind =>
  pairs.some(({ errors }) => errors.phi !== undefined && !errors.isTooFew) ? "errors" : "agreement"

const nothing = (says: string): MatrixCell => ({ text: "–", strength: undefined, isBelow: false, says })

const errorCell = ({ errors, left, right }: Pair): MatrixCell => {
  const { both, isTooFew, largestPhi, leftOnly, phi, rightOnly, sharedRuns } = errors
  const names = `${left} and ${right}`
  if (phi === undefined) {
    return nothing(
      sharedRuns === 0
        ? `${names}: no run with a truth in which both voted`
        : `${names}: one of them never or always errs in ${counted(sharedRuns, "shared run")}`
    )
  }
  if (isTooFew) return nothing(`${names}: too few shared runs, ${sharedRuns}`)
  const most = largestPhi === undefined ? "" : `, at most ${largestPhi.toFixed(2)} with their accuracies`
  return {
    text: phi.value.toFixed(2),
    strength: Math.min(1, Math.abs(phi.value)),
    isBelow: phi.value < 0,
    says:
      `${names}: correlation ${phi.value.toFixed(2)} (${phi.low.toFixed(2)} to ${phi.high.toFixed(2)})${most}; ` +
      `both erred in ${both}, one alone in ${leftOnly + rightOnly} of ${counted(sharedRuns, "run")}`
  }
}

const agreementCell = ({ agreement, left, right }: Pair): MatrixCell => {
  const { agreed, kappa, runs, share } = agreement
  const names = `${left} and ${right}`
  if (share === undefined) return nothing(`${names}: no run in which both voted`)
  const beyond = kappa === undefined ? "" : `, kappa ${kappa.toFixed(2)}`
  return {
    text: percent(share.rate),
    strength: share.rate,
    isBelow: false,
    says: `${names}: the same vote in ${agreed} of ${counted(runs, "run")}${beyond}`
  }
}

/** The cell of each two seats, by row and column; a seat has none with itself. */
export const matrixOf = (
  seats: ReadonlyArray<string>,
  pairs: ReadonlyArray<Pair>,
  kind: MatrixKind
): ReadonlyArray<ReadonlyArray<MatrixCell | undefined>> => {
  const keyOf = (left: string, right: string) => JSON.stringify([left, right].toSorted())
  const found = new Map(pairs.map((pair) => [keyOf(pair.left, pair.right), pair]))
  return seats.map((row) =>
    seats.map((column) => {
      const pair = row === column ? undefined : found.get(keyOf(row, column))
      return pair === undefined ? undefined : kind === "errors" ? errorCell(pair) : agreementCell(pair)
    })
  )
}

/** The seat that outcomes need least, of those whose removal can be counted: ties go to the most expensive one. */
export const leastNeeded = (seats: ReadonlyArray<Worth>): Worth | undefined =>
  seats
    .filter(({ changed }) => changed.n > 0)
    .toSorted((one, other) => one.changed.rate - other.changed.rate || other.costPerRunUsd - one.costPerRunUsd)[0]

/** Below this many runs the sentence warns of itself. */
const FEW_RUNS = 30

/** What the committee would be without its least needed seat; undefined when no run can be counted again. */
export const withoutText = ({ costUsd, seats }: CommitteeWorth): string | undefined => {
  const least = leastNeeded(seats)
  if (least === undefined) return undefined
  const { changed, costUsd: own, guessedCostUsd, idle, seat } = least
  const share = costUsd > 0 ? own / costUsd : undefined
  const cheaper =
    share === undefined
      ? "with no known cost"
      : share === 0
        ? "no cheaper"
        : `${guessedCostUsd > 0 ? "about " : ""}${percent(share)} cheaper`
  const bound = idle === undefined ? "" : `: at most ${percent(idle.atMost)} of all at 95 %`
  const same =
    changed.count === 0
      ? `no outcome changes in ${counted(changed.n, "run")}${bound}`
      : `${changed.count} of ${counted(changed.n, "decision")} would be refused`
  const few = changed.n < FEW_RUNS ? " Too few runs to rely on." : ""
  return `Without ${seat} ${cheaper}, and ${same}.${few}`
}

/** How many runs have a truth, and a warning when they are not like the others. */
export const truthTexts = ({
  truth
}: Pick<CommitteeIndependence, "truth">): { readonly share: string; readonly bias: string | undefined } => {
  const { positiveDifference, runs, withTruth } = truth
  const share = `${withTruth} of ${counted(runs, "run")} ${withTruth === 1 ? "has" : "have"} a mark "correct".`
  const isBiased = positiveDifference !== undefined && (positiveDifference.low > 0 || positiveDifference.high < 0)
  if (!isBiased) return { share, bias: undefined }
  const more = positiveDifference.value > 0 ? "more" : "less"
  const by = Math.abs(Math.round(positiveDifference.value * 100))
  return {
    share,
    bias: `Runs with a mark are not like the others: they decide yes ${more} often, by ${counted(by, "point")}. The figures hold for runs like these.`
  }
}

/** The cost of a seat for each right decision that needed it. */
export const costPerRight = ({ costPerRightUsd }: Worth): string =>
  costPerRightUsd === undefined ? "none needed it" : dollars(costPerRightUsd)

/** Why a seat has no correlation of its errors, in words. */
export const leftOutText = (reason: CommitteeIndependence["seats"][number]["leftOut"]): string | undefined => {
  if (reason === undefined) return undefined
  return reason === "no value" ? "no vote in a run with a truth" : reason
}

const VOTED = new Set(["*", "macp.mode.decision.v1", "macp.mode.quorum.v1"])

/** Whether a policy of this mode may govern the runs of a committee. */
export const canDecideByVotes = (policyMode: string): boolean => VOTED.has(policyMode)

type Paired = CommitteeWorth["shadows"][number]["paired"]

/** Below this the difference of a shadow and its participant is not taken for chance. */
const ALPHA = 0.05

/** How clear the difference of a shadow and its participant is. */
export const pairedText = ({ isTooFew, p, runs }: Pick<Paired, "isTooFew" | "p" | "runs">): string => {
  if (runs === 0) return "no truth"
  if (isTooFew) return "too few cases"
  const text = p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`
  return p > ALPHA ? `${text}, may be chance` : text
}

/** The seat that a shadow errs with most; undefined while no pair has a correlation. */
export const closestSeat = (
  pairs: ReadonlyArray<Pair>
): { readonly seat: string; readonly text: string; readonly says: string } | undefined => {
  const [closest] = pairs
    .flatMap((pair) => {
      const { isTooFew, phi } = pair.errors
      return isTooFew || phi === undefined ? [] : [{ pair, phi: phi.value }]
    })
    .toSorted((one, other) => other.phi - one.phi)
  if (closest === undefined) return undefined
  const { says, text } = errorCell(closest.pair)
  return { seat: closest.pair.left, text, says }
}
