import { arcPath, onRing, type Point, parliament } from "./Geometry.ts"
import { initials } from "./Initials.ts"
import { type CardRule, sumsOf, type Tick, tickOf } from "./Ticks.ts"
import type { CardVoter, VoteSide } from "./Voters.ts"

/** Size of the picture of a ring: the view box of its SVG. */
export const RING_SIZE = { width: 420, height: 232 } as const

const CENTRE: Point = { x: 210, y: 214 }
const INNER = 130
const OUTER = 186
/** Of the outer arcs, whose length is a confidence. */
const CONFIDENCE = [190, 195] as const
/** Of the inner arc, which shows the turnout. */
const TURNOUT = [114, 119] as const
const PIVOTAL = 204
const LABEL = 158
const GAP = 0.004

/** From so many voters they are dots, and from so many more a bar. */
const DOTS_FROM = 25
const BAR_FROM = 400
/** Least width of a voter: one without weight is seen too. */
const MIN_SHARE = 0.02

/** One voter as it is drawn: a piece of the ring, or a dot. */
export interface VoterShape<S> {
  readonly voter: S
  readonly path?: string
  readonly dot?: Point & { readonly radius: number }
  /** Its initials, and where they are. */
  readonly label?: Point & { readonly text: string }
  readonly confidence?: string
  readonly pivotal?: Point
  /** Where the sign of an objection is. */
  readonly bolt?: Point
}

export interface Line {
  readonly from: Point
  readonly to: Point
}

/** A ring as shapes of an SVG of `RING_SIZE`. */
export interface RingPicture<S> {
  readonly voters: ReadonlyArray<VoterShape<S>>
  /** Instead of voters, from 400 on: the groups of one bar. */
  readonly bar?: ReadonlyArray<{ readonly vote: VoteSide; readonly count: number; readonly path: string }>
  readonly tick?: Line & { readonly label: Point; readonly reached: boolean; readonly strict: boolean }
  readonly turnout?: { readonly whole: string; readonly voted: string; readonly need?: Line }
}

type DrawnVoter = Pick<CardVoter, "participantId" | "vote" | "weight"> & Partial<CardVoter>

interface RingOptions {
  readonly rule?: CardRule | undefined
  /** Participants with a ballot and all of them; absent in a session without votes. */
  readonly turnout?: { readonly voted: number; readonly of: number; readonly need?: number | undefined } | undefined
}

/** The shapes of a ring. `voters` are in the order of the ring. */
export const ringPicture = <S extends DrawnVoter>(voters: ReadonlyArray<S>, options: RingOptions): RingPicture<S> => {
  const spans = spansOf(voters)
  const tick = options.rule === undefined ? undefined : tickOf(options.rule, sumsOf(voters))
  return {
    ...shapesOf(voters, spans),
    ...(tick !== undefined && { tick: tickLine(tick, spans) }),
    ...(options.turnout !== undefined && options.turnout.of > 0 && { turnout: turnoutOf(options.turnout) })
  }
}

interface Span<S> {
  readonly voter: S
  readonly from: number
  readonly to: number
}

/** The part of the ring of each voter, by its weight; never less than the least width. */
const spansOf = <S extends DrawnVoter>(voters: ReadonlyArray<S>): ReadonlyArray<Span<S>> => {
  const total = voters.reduce((sum, { weight }) => sum + weight, 0)
  const least = Math.min(MIN_SHARE, 0.5 / Math.max(1, voters.length))
  const shares = voters.map(({ weight }) => Math.max(least, total === 0 ? 1 / voters.length : weight / total))
  const whole = shares.reduce((sum, share) => sum + share, 0)
  let at = 0
  return voters.map((voter, index) => {
    const from = at
    at += (shares[index] ?? 0) / whole
    return { voter, from, to: at }
  })
}

/** Where so much weight is reached on the ring. */
const shareAt = <S extends DrawnVoter>(spans: ReadonlyArray<Span<S>>, weight: number): number => {
  let sum = 0
  for (const { from, voter, to } of spans) {
    if (voter.weight > 0 && weight <= sum + voter.weight + 1e-9) {
      return from + ((to - from) * Math.max(0, weight - sum)) / voter.weight
    }
    sum += voter.weight
  }
  return 1
}

const tickLine = <S extends DrawnVoter>(
  { at, reached, strict }: Tick,
  spans: ReadonlyArray<Span<S>>
): NonNullable<RingPicture<S>["tick"]> => {
  const share = shareAt(spans, at)
  return {
    from: onRing(CENTRE, INNER - 4, share),
    to: onRing(CENTRE, 200, share),
    label: onRing(CENTRE, 208, share),
    reached,
    strict
  }
}

const turnoutOf = ({
  need,
  of,
  voted
}: NonNullable<RingOptions["turnout"]>): NonNullable<RingPicture<never>["turnout"]> => {
  const [inner, outer] = TURNOUT
  const share = need === undefined ? undefined : Math.min(1, need / of)
  return {
    whole: arcPath(CENTRE, inner, outer, 0, 1),
    voted: voted === 0 ? "" : arcPath(CENTRE, inner, outer, 0, Math.min(1, voted / of)),
    ...(share !== undefined && {
      need: { from: onRing(CENTRE, inner - 6, share), to: onRing(CENTRE, outer + 5, share) }
    })
  }
}

const shapesOf = <S extends DrawnVoter>(
  voters: ReadonlyArray<S>,
  spans: ReadonlyArray<Span<S>>
): Pick<RingPicture<S>, "voters" | "bar"> => {
  if (voters.length >= BAR_FROM) return { voters: [], bar: groupsOf(spans) }
  if (voters.length >= DOTS_FROM) {
    const { dots, radius } = parliament(CENTRE, INNER, OUTER, voters.length)
    return {
      voters: voters.map((voter, index): VoterShape<S> => {
        const dot = dots[index] ?? CENTRE
        return { voter, dot: { ...dot, radius }, ...(voter.objection !== undefined && { bolt: dot }) }
      })
    }
  }
  return { voters: spans.map((span) => arcOf(span, spans.length)) }
}

const arcOf = <S extends DrawnVoter>({ from, voter, to }: Span<S>, count: number): VoterShape<S> => {
  // Between two neighbours, never at the ends of the ring.
  const gap = count === 1 ? 0 : Math.min(GAP, (to - from) / 4)
  const [begin, end] = [from + gap, to - gap]
  const middle = (from + to) / 2
  const isWide = to - from >= 0.055
  const { confidence, objection, pivotal } = voter
  return {
    voter,
    path: arcPath(CENTRE, INNER, OUTER, begin, end),
    ...(isWide && {
      label: {
        ...onRing(CENTRE, objection === undefined ? LABEL : LABEL + 10, middle),
        text: initials(voter.participantId)
      }
    }),
    ...(confidence !== undefined &&
      confidence > 0 && {
        confidence: arcPath(CENTRE, ...CONFIDENCE, begin, begin + (end - begin) * confidence)
      }),
    ...(pivotal === true && { pivotal: onRing(CENTRE, PIVOTAL, middle) }),
    ...(objection !== undefined && { bolt: onRing(CENTRE, isWide ? LABEL - 12 : LABEL, middle) })
  }
}

const groupsOf = <S extends DrawnVoter>(spans: ReadonlyArray<Span<S>>): NonNullable<RingPicture<S>["bar"]> => {
  const groups = new Map<VoteSide, { from: number; to: number; count: number }>()
  for (const { from, voter, to } of spans) {
    const group = groups.get(voter.vote) ?? { from, to, count: 0 }
    groups.set(voter.vote, { from: group.from, to, count: group.count + 1 })
  }
  return Array.from(groups, ([vote, { count, from, to }]) => ({
    vote,
    count,
    path: arcPath(CENTRE, INNER, OUTER, from, to)
  }))
}

/** The view box of a glyph. */
export const GLYPH_SIZE = { width: 34, height: 18 } as const

/** A small ring for lists: the path of each group or voter with its vote. */
export const glyphPicture = (
  voters: ReadonlyArray<readonly [vote: VoteSide, weight: number]>
): ReadonlyArray<{ readonly vote: VoteSide; readonly path: string }> => {
  const spans = spansOf(voters.map(([vote, weight]) => ({ participantId: "", vote, weight })))
  const gap = voters.length > 12 || voters.length === 1 ? 0 : 0.012
  return spans.map(({ from, voter, to }) => ({
    vote: voter.vote,
    path: arcPath({ x: 17, y: 17 }, 8.5, 16.5, from + gap, to - gap)
  }))
}
