import { type CardRing, type CardVoter, cardSentence, type DecisionCard, sumsOf, tickOf } from "@runplane/domain"
import { voteFill } from "../../view/decision/VerdictTone.ts"
import type { Tone } from "../../view/format/Status.ts"
import { toneText, UserText } from "../basics.tsx"
import { Ring } from "./Ring.tsx"

interface CardRingsProps {
  readonly card: DecisionCard
  readonly word: string
  readonly tone: Tone
  readonly counts: string
  /** Changed voters as `proposal participant` keys. */
  readonly changed?: ReadonlyMap<string, ReadonlySet<string>> | undefined
  readonly onPress?: ((ring: CardRing, voter: CardVoter) => void) | undefined
}

/** The rings of a decision: that of the commitment large, the others small, and one bar for a common tally. */
export const CardRings = ({ card, changed, counts, onPress, tone, word }: CardRingsProps) => {
  const [first, ...others] = card.rings
  const isLarge = first !== undefined && (others.length === 0 || first.committed)
  const small = isLarge ? others : card.rings
  const label = cardSentence({ ...card, word, counts })
  const press = (ring: CardRing) => (onPress === undefined ? undefined : (voter: CardVoter) => onPress(ring, voter))
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {isLarge ? (
        <figure className="m-0">
          <Ring
            ring={first}
            card={card}
            label={label}
            isGrey={card.outOfReach}
            verdict={{ word, tone, lines: linesOf(counts) }}
            changed={changed?.get(first.proposalId)}
            onPress={press(first)}
          />
          {others.length === 0 || first.name === "" ? null : (
            <figcaption className="text-center font-medium">
              <UserText text={first.name} />
            </figcaption>
          )}
        </figure>
      ) : (
        <p className="text-center" data-verdict>
          <span className={`block text-[22px] font-semibold tracking-tight ${toneText[tone]}`}>{word}</span>
          <span className="num text-soft">{counts}</span>
        </p>
      )}
      {small.length === 0 ? null : (
        <ul className={`grid gap-x-4 gap-y-2 ${isLarge ? "grid-cols-3" : "grid-cols-2"}`}>
          {small.map((ring) => (
            <li key={ring.proposalId} className="min-w-0">
              <Ring
                ring={ring}
                card={card}
                label={`${ring.name}: ${ring.counts.for} for, ${ring.counts.against} against`}
                changed={changed?.get(ring.proposalId)}
                onPress={press(ring)}
              />
              <p className="truncate text-center text-[12px]" title={ring.name}>
                <UserText text={ring.name} className="font-medium" />{" "}
                <span className="num text-muted">
                  {ring.counts.for} : {ring.counts.against}
                </span>
              </p>
            </li>
          ))}
        </ul>
      )}
      {card.ringsLeftOut === undefined ? null : (
        <p className="text-center text-[12px] text-muted">{card.ringsLeftOut} earlier proposals are not drawn.</p>
      )}
      {card.tally === undefined ? null : <TallyBar tally={tallyAfter(card)} />}
    </div>
  )
}

/** The figures, and below them who has voted: each line fits into the ring. */
const linesOf = (counts: string): ReadonlyArray<string> => {
  const at = counts.lastIndexOf(", ")
  return at < 0 ? [counts] : [counts.slice(0, at), counts.slice(at + 2)]
}

/** The tally of the voters as they are drawn, which may be changed ones. */
const tallyAfter = ({ rings, ringsLeftOut, tally }: DecisionCard): NonNullable<DecisionCard["tally"]> | undefined => {
  if (tally === undefined || ringsLeftOut !== undefined) return tally
  const sums = rings.map(({ seats: voters }) => sumsOf(voters))
  const sum = (side: "for" | "against") => sums.reduce((total, each) => total + each[side], 0)
  return { ...tally, for: sum("for"), against: sum("against") }
}

/** The votes on all proposals as the policy counts them, with the mark that they have to reach. */
const TallyBar = ({ tally }: { readonly tally: DecisionCard["tally"] }) => {
  if (tally === undefined || tally.of <= 0) return null
  const tick = tickOf(tally.rule, tally)
  const share = (value: number) => `${Math.min(100, (value / tally.of) * 100)}%`
  const figure = (value: number) => Number(value.toPrecision(6))
  return (
    <div>
      <p className="num flex justify-between text-[12px] text-soft">
        <span>All proposals together: {figure(tally.for)} for</span>
        <span>{figure(tally.against)} against</span>
      </p>
      <div className="relative mt-1 h-2.5">
        <svg aria-hidden width="100%" height="10" className="rounded-sm">
          <rect width="100%" height="10" className={voteFill.none} />
          <rect width={share(tally.for)} height="10" className={voteFill.for} />
          <rect
            x={share(tally.of - tally.against)}
            width={share(tally.against)}
            height="10"
            className={voteFill.against}
          />
        </svg>
        {tick === undefined ? null : (
          <span
            className="absolute -top-1 h-[18px] border-l-2 border-text"
            style={{ left: share(tick.at) }}
            title={`${tick.strict ? "more than " : ""}${figure(tick.at)} needed`}
          />
        )}
      </div>
      {tick === undefined ? null : (
        <p className="num mt-1 text-[12px] text-soft">
          {tick.strict ? "more than " : ""}
          {figure(tick.at)} needed: {tick.reached ? "reached" : "not reached"}
        </p>
      )}
    </div>
  )
}
