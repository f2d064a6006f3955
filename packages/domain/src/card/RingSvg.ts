import { escapeHtml, shownText } from "../values/VisibleText.ts"
import type { CardRing, DecisionCard } from "./Card.ts"
import { cardSentence, voterText } from "./CardText.ts"
import { type Line, RING_SIZE, ringPicture, type VoterShape } from "./Picture.ts"
import type { CardVoter, VoteSide } from "./Voters.ts"

/** Colours of paper: they do not follow a theme. */
const FILLS: Readonly<Record<VoteSide, string>> = {
  for: "#1b7f4d",
  against: "#b3261e",
  abstained: "#8b929c",
  none: "#ffffff"
}
const INKS: Readonly<Record<VoteSide, string>> = {
  for: "#ffffff",
  against: "#ffffff",
  abstained: "#111111",
  none: "#111111"
}
const LINE = "#5b6470"
const INK = "#111111"
/** The outline of a voter that has an opinion alone. */
const OUTLINES = { for: FILLS.for, against: FILLS.against, unsure: LINE } as const

const escaped = (text: string): string => escapeHtml(shownText(text))

/** The picture of a ring as an SVG for a printed page: no scripts, no styles, everything escaped. */
export const ringSvg = (card: DecisionCard, ring: CardRing): string => {
  const { hasVotes, participants, quorum, rings, voted, word } = card
  const isFirst = ring === rings[0]
  const turnout = hasVotes && isFirst ? { voted, of: participants, need: quorum?.need } : undefined
  const picture = ringPicture(ring.seats, { rule: ring.rule, turnout })
  const label = isFirst ? cardSentence(card) : `${ring.name}: ${headText(ring)}`
  const parts = [
    ...picture.voters.map((shape) => voterSvg(shape, hasVotes)),
    ...(picture.bar ?? []).map(({ count, path, vote }) => pathSvg(path, FILLS[vote], LINE, `${count} ${vote}`)),
    ...(picture.turnout === undefined ? [] : turnoutSvg(picture.turnout)),
    ...(picture.tick === undefined ? [] : [lineSvg(picture.tick, 2.5)]),
    textSvg(RING_SIZE.width / 2, 184, isFirst ? 24 : 17, isFirst ? word : headText(ring))
  ]
  return `<svg role="img" aria-label="${escaped(label)}" viewBox="0 0 ${RING_SIZE.width} ${RING_SIZE.height}" width="${RING_SIZE.width}" height="${RING_SIZE.height}">
${parts.join("\n")}
</svg>`
}

const headText = ({ counts }: CardRing): string => `${counts.for} for, ${counts.against} against`

const pathSvg = (path: string, fill: string, stroke: string, title: string): string =>
  `<path d="${path}" fill="${fill}" stroke="${stroke}"><title>${escaped(title)}</title></path>`

const voterSvg = ({ bolt, confidence, dot, label, path, pivotal, voter }: VoterShape<CardVoter>, hasVotes: boolean) => {
  const fill = FILLS[voter.vote]
  const stroke = voter.opinion === undefined ? LINE : OUTLINES[voter.opinion]
  const title = voterText(voter, hasVotes)
  return [
    ...(path === undefined ? [] : [pathSvg(path, fill, stroke, title)]),
    ...(dot === undefined
      ? []
      : [
          `<circle cx="${dot.x}" cy="${dot.y}" r="${dot.radius}" fill="${fill}" stroke="${stroke}"><title>${escaped(title)}</title></circle>`
        ]),
    ...(confidence === undefined ? [] : [`<path d="${confidence}" fill="${LINE}"/>`]),
    ...(label === undefined ? [] : [textSvg(label.x, label.y + 4, 12, label.text, INKS[voter.vote])]),
    ...(pivotal === undefined ? [] : [`<circle cx="${pivotal.x}" cy="${pivotal.y}" r="3.5" fill="${INK}"/>`]),
    ...(bolt === undefined
      ? []
      : [
          `<path d="M${bolt.x + 2} ${bolt.y - 8}L${bolt.x - 5} ${bolt.y + 2}H${bolt.x}L${bolt.x - 2} ${bolt.y + 8}L${bolt.x + 5} ${bolt.y - 2}H${bolt.x}Z" fill="#ffd34d" stroke="${INK}"/>`
        ])
  ].join("")
}

const turnoutSvg = ({ need, voted, whole }: NonNullable<ReturnType<typeof ringPicture>["turnout"]>) => [
  `<path d="${whole}" fill="#e3e6ea"/>`,
  ...(voted === "" ? [] : [`<path d="${voted}" fill="${LINE}"/>`]),
  ...(need === undefined ? [] : [lineSvg(need, 1.5)])
]

const lineSvg = ({ from, to }: Line, width: number): string =>
  `<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}" stroke="${INK}" stroke-width="${width}"/>`

const textSvg = (x: number, y: number, size: number, text: string, ink = INK): string =>
  `<text x="${x}" y="${y}" text-anchor="middle" font-family="sans-serif" font-size="${size}" fill="${ink}">${escaped(text)}</text>`
