import {
  type CardRing,
  type CardVoter,
  type DecisionCard,
  RING_SIZE,
  ringPicture,
  type VoterShape,
  voterText
} from "@runplane/domain"
import { type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef } from "react"
import { voteFill } from "../../view/decision/VerdictTone.ts"
import type { Tone } from "../../view/format/Status.ts"

/** Voters up to which each of them is a button of the picture; more are too small to be pressed. */
export const MOST_PRESSED = 12

interface RingProps {
  readonly ring: CardRing
  readonly card: Pick<DecisionCard, "hasVotes" | "participants" | "quorum" | "voted">
  /** The word in the ring and the lines below it; none for a small ring. */
  readonly verdict?: { readonly word: string; readonly tone: Tone; readonly lines: ReadonlyArray<string> } | undefined
  /** The sentence of the whole picture. */
  readonly label: string
  readonly isGrey?: boolean
  readonly changed?: ReadonlySet<string> | undefined
  readonly onPress?: ((voter: CardVoter) => void) | undefined
}

/** A half ring of voters. Each voter is a button while its vote can be tried otherwise. */
export const Ring = memo(function Ring({ card, changed, isGrey = false, label, onPress, ring, verdict }: RingProps) {
  const { hasVotes, participants, quorum, voted } = card
  const { bar, voters, tick, turnout } = useMemo(
    () =>
      ringPicture(ring.seats, {
        rule: ring.rule,
        turnout: hasVotes && verdict !== undefined ? { voted, of: participants, need: quorum?.need } : undefined
      }),
    [ring, hasVotes, verdict === undefined, voted, participants, quorum?.need]
  )
  const canPress = onPress !== undefined && ring.seats.length <= MOST_PRESSED
  const pressed = useRef<string>(undefined)
  const svg = useRef<SVGSVGElement>(null)
  const press = canPress
    ? (voter: CardVoter) => {
        pressed.current = voter.participantId
        onPress(voter)
      }
    : undefined
  // A voter that moves to another side is moved in the document, which drops its focus.
  useLayoutEffect(() => {
    if (pressed.current === undefined || document.activeElement !== document.body) return
    const voter = svg.current?.querySelector<SVGGElement>(`[data-voter="${CSS.escape(pressed.current)}"]`)
    voter?.focus({ preventScroll: true })
  }, [ring])
  return (
    <svg
      ref={svg}
      viewBox={`0 ${tick === undefined ? 8 : -8} ${RING_SIZE.width} ${RING_SIZE.height}`}
      className={`block w-full overflow-visible ${isGrey ? "opacity-60 grayscale" : ""}`}
      role={press === undefined ? "img" : "group"}
      aria-label={label}
      data-ring={ring.proposalId}
    >
      {bar?.map(({ count, path, vote }) => (
        <path key={vote} d={path} className={voteFill[vote]}>
          <title>{`${count}`}</title>
        </path>
      ))}
      {voters.map((shape) => (
        <Voter
          key={shape.voter.participantId}
          shape={shape}
          hasVotes={hasVotes}
          isChanged={changed?.has(shape.voter.participantId) === true}
          onPress={press}
        />
      ))}
      {/* Beside the buttons, whose names are sentences. */}
      <g aria-hidden className="pointer-events-none text-[11px] font-semibold" textAnchor="middle">
        {voters.map(({ label, voter: { participantId, vote } }) =>
          label === undefined ? null : (
            <text
              key={participantId}
              x={label.x}
              y={label.y + 4}
              className={vote === "for" || vote === "against" ? "fill-panel" : "fill-text"}
            >
              {label.text}
            </text>
          )
        )}
      </g>
      {turnout === undefined ? null : (
        <g aria-hidden>
          <path d={turnout.whole} className="fill-line" />
          {turnout.voted === "" ? null : <path d={turnout.voted} className="fill-muted" />}
          {turnout.need === undefined ? null : (
            <line
              x1={turnout.need.from.x}
              y1={turnout.need.from.y}
              x2={turnout.need.to.x}
              y2={turnout.need.to.y}
              className="stroke-text"
              strokeWidth={2}
            />
          )}
        </g>
      )}
      {tick === undefined ? null : (
        <g aria-hidden className="pointer-events-none">
          <line
            x1={tick.from.x}
            y1={tick.from.y}
            x2={tick.to.x}
            y2={tick.to.y}
            className="stroke-text"
            strokeWidth={2}
          />
          <text
            x={tick.label.x}
            y={tick.label.y}
            textAnchor={tick.label.x < 130 ? "end" : tick.label.x > 290 ? "start" : "middle"}
            className="fill-soft text-[12px]"
          >
            {tick.strict ? "more needed" : "needed"}
          </text>
        </g>
      )}
      {verdict === undefined ? null : <Words {...verdict} />}
    </svg>
  )
})

const toneFill: Readonly<Record<Tone, string>> = {
  good: "fill-good",
  bad: "fill-bad",
  warn: "fill-warn",
  accent: "fill-accent",
  calm: "fill-soft"
}

/** A text that fits into the ring: its size, for a width in units of the picture. */
const fitted = (text: string, most: number, width: number): number => Math.min(most, width / (text.length * 0.56))

const Words = ({ lines, tone, word }: NonNullable<RingProps["verdict"]>) => (
  <g aria-hidden textAnchor="middle">
    <text
      x={210}
      y={lines.length > 1 ? 172 : 182}
      className={`font-semibold tracking-tight ${toneFill[tone]}`}
      fontSize={fitted(word, 26, 196)}
    >
      {word}
    </text>
    {lines.map((line, at) => (
      <text
        key={line}
        x={210}
        y={(lines.length > 1 ? 194 : 206) + at * 18}
        className="num fill-soft"
        fontSize={fitted(line, 13.5, 206)}
      >
        {line}
      </text>
    ))}
  </g>
)

interface VoterProps {
  readonly shape: VoterShape<CardVoter>
  readonly hasVotes: boolean
  readonly isChanged: boolean
  readonly onPress: ((voter: CardVoter) => void) | undefined
}

const OPINION_STROKES = { for: "stroke-good", against: "stroke-bad", unsure: "stroke-muted" } as const

const Voter = ({ hasVotes, isChanged, onPress, shape }: VoterProps) => {
  const { bolt, confidence, dot, path, pivotal, voter } = shape
  const { opinion, vote } = voter
  const text = voterText(voter, hasVotes)
  // A vote is filled; a mere opinion has an outline.
  const look = `${voteFill[vote]} transition-[fill] duration-200 group-focus-visible:stroke-accent group-focus-visible:stroke-4 motion-reduce:transition-none`
  const stroke = isChanged
    ? "stroke-accent stroke-3"
    : opinion === undefined
      ? ""
      : `${OPINION_STROKES[opinion]} stroke-2`
  const button =
    onPress === undefined
      ? {}
      : {
          role: "button",
          tabIndex: 0,
          "aria-label": `${text}${isChanged ? "; changed" : ""}; try another vote`,
          onClick: () => onPress(voter),
          onKeyDown: (event: KeyboardEvent) => {
            if (event.key !== "Enter" && event.key !== " ") return
            event.preventDefault()
            onPress(voter)
          }
        }
  return (
    <g
      className={onPress === undefined ? "" : "group cursor-pointer outline-none"}
      data-voter={voter.participantId}
      {...button}
    >
      <title>{text}</title>
      {path === undefined ? null : <path d={path} className={`${look} ${stroke}`} data-vote={vote} />}
      {dot === undefined ? null : (
        <circle cx={dot.x} cy={dot.y} r={dot.radius} className={`${look} ${stroke}`} data-vote={vote} />
      )}
      {confidence === undefined ? null : <path d={confidence} className={`${voteFill[vote]} opacity-60`} aria-hidden />}
      {pivotal === undefined ? null : (
        <circle cx={pivotal.x} cy={pivotal.y} r={3.5} className="fill-text" aria-hidden />
      )}
      {bolt === undefined ? null : (
        <path
          aria-hidden
          d={`M${bolt.x + 2} ${bolt.y - 10}l-7.5 11.5h5.5l-2 8.5l7.5-11.5h-5.5z`}
          className={vote === "for" || vote === "against" ? "fill-panel" : "fill-text"}
        />
      )}
    </g>
  )
}
