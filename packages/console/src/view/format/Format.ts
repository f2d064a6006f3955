import { firstGraphemes, graphemesOf, percentText, usdText, usdTexts } from "@runplane/domain"
import { timeSetting } from "./TimeSetting.ts"

/** Texts for times, numbers and names, in English and in the chosen time zone. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type Say = (at: number) => string

/** A formatter of the chosen zone. It takes a fraction of a millisecond to create, and lists need hundreds. */
const timesAs = (options: Intl.DateTimeFormatOptions): Say => {
  let madeFor: string | undefined
  let format: Intl.DateTimeFormat | undefined
  return (at) => {
    const { zone } = timeSetting.get()
    if (format === undefined || madeFor !== zone) {
      format = new Intl.DateTimeFormat("en-GB", { ...options, ...(zone !== "" && { timeZone: zone }) })
      madeFor = zone
    }
    return format.format(at)
  }
}

const EXACT = timesAs({
  year: "numeric",
  month: "short",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  timeZoneName: "longOffset"
})
const DATE_TIME = timesAs({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
const CLOCK = timesAs({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 })
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 })
const COUNT = new Intl.NumberFormat("en-US")
const SHORT_DOLLARS = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  notation: "compact",
  maximumSignificantDigits: 3
})

/** `just now`, `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`, then the date. Future times are `in 5 min`. */
export const relativeTime = (at: number, now: number): string => {
  const away = Math.abs(now - at)
  if (!Number.isFinite(away)) return "at an unknown time"
  if (away < 2 * SECOND) return "just now"
  const amount =
    away < MINUTE
      ? `${Math.floor(away / SECOND)} s`
      : away < HOUR
        ? `${Math.floor(away / MINUTE)} min`
        : away < DAY
          ? `${Math.floor(away / HOUR)} h`
          : away < 30 * DAY
            ? `${Math.floor(away / DAY)} d`
            : undefined
  if (amount === undefined) return new Date(at).toISOString().slice(0, 10)
  return at > now ? `in ${amount}` : `${amount} ago`
}

/** The exact instant, with milliseconds and the zone. */
export const exactTime = (at: number): string => (Number.isFinite(at) ? EXACT(at) : "unknown time")

/** `22 Nov, 14:03` in the chosen zone. */
export const dateTime = (at: number): string => (Number.isFinite(at) ? DATE_TIME(at) : "unknown time")

/** `22 Nov` in the chosen zone. */
export const dayMonth: Say = timesAs({ day: "numeric", month: "short" })

/** `14:03` in the chosen zone. */
export const clockMinute: Say = timesAs({ hour: "2-digit", minute: "2-digit" })

/** `14:03:22` in the chosen zone. */
export const clockSecond: Say = timesAs({ hour: "2-digit", minute: "2-digit", second: "2-digit" })

/** `14:03:22.417` in the chosen zone. */
export const clockTime = (at: number): string => (Number.isFinite(at) ? CLOCK(at) : "--:--:--")

/** Milliseconds as `840 ms`, `4.5 s`, `2 min 05 s`, `3 h 07 min`, `2 d 4 h`. */
export const duration = (ms: number): string => {
  if (!Number.isFinite(ms)) return "unknown"
  const value = Math.max(0, ms)
  if (value < SECOND) return `${Math.round(value)} ms`
  if (value < MINUTE) return `${(Math.floor(value / 100) / 10).toFixed(1)} s`
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0")
  if (value < HOUR) return `${Math.floor(value / MINUTE)} min ${two((value % MINUTE) / SECOND)} s`
  if (value < DAY) return `${Math.floor(value / HOUR)} h ${two((value % HOUR) / MINUTE)} min`
  return `${Math.floor(value / DAY)} d ${Math.floor((value % DAY) / HOUR)} h`
}

/** As `duration`, with decimals below 10 ms: `0.42 ms`, `3.1 ms`. */
export const fineDuration = (ms: number): string =>
  ms > 0 && ms < 10 ? `${Number(ms.toFixed(ms < 1 ? 2 : 1))} ms` : duration(ms)

/** `3,138`. */
export const whole = (value: number): string => COUNT.format(Math.round(value))

/** `12.3 k`, `4.1 M`: where the exact number does not matter. */
export const compact = (value: number): string => COMPACT.format(value)

/** US dollars: two decimals, and more where a small amount needs them for its first digits. */
export const dollars = (value: number, beside: ReadonlyArray<number> = []): string =>
  value === 0 && beside.length === 0 ? "$0" : usdText(value, 2, beside)

/** A formatter for the amounts of one column or line: all have the decimals of the one that needs most. */
export const alignedDollars = (values: ReadonlyArray<number>): ((value: number) => string) => usdTexts(values, 2)

/** A share from 0 to 1 as `88 %`. */
export const percent = (share: number): string => percentText(share)

/** The difference of two shares as `12 points`. */
export const points = (share: number): string => counted(Math.round(share * 100), "point")

/** As `dollars`, short for lists: `$1.01M`, `$0.00000555`. */
export const listedDollars = (value: number): string => (value >= 10_000 ? SHORT_DOLLARS.format(value) : dollars(value))

/** As `dollars`, short for the axis of a chart: `$1.2K`. */
export const axisDollars = (value: number): string => (value < 100 ? dollars(value) : SHORT_DOLLARS.format(value))

/** What calls cost, and how certain that is. */
export interface Cost {
  readonly costUsd: number
  /** Calls without counts, which the cost lacks. */
  readonly callsWithoutUsage?: number | undefined
  /** Part of the cost that is a guess, because no price of the model is known. */
  readonly guessedCostUsd?: number | undefined
}

/** The cost of sums over calls, as state and metrics of a run have them. */
export const costIn = (sums: Omit<Cost, "costUsd"> & { readonly estimatedCostUsd: number }): Cost => ({
  costUsd: sums.estimatedCostUsd,
  callsWithoutUsage: sums.callsWithoutUsage,
  guessedCostUsd: sums.guessedCostUsd
})

/** A cost as text: `over` where calls lack their usage, so an unknown cost is never `$0`; `≈` for a guess. */
export const costOf = ({ callsWithoutUsage = 0, costUsd, guessedCostUsd = 0 }: Cost, say = dollars): string => {
  const cost = guessedCostUsd > 0 ? `≈ ${say(costUsd)}` : say(costUsd)
  return callsWithoutUsage === 0 ? cost : costUsd === 0 ? "unknown" : `over ${cost}`
}

/** Why a cost is not exact, for a tooltip and for screen readers; empty when it is exact. */
export const costNote = ({ callsWithoutUsage = 0, costUsd, guessedCostUsd = 0 }: Cost): string =>
  [
    guessedCostUsd === 0
      ? ""
      : `${guessedCostUsd === costUsd ? "all" : dollars(guessedCostUsd)} of it is a guess: no known price of the model`,
    callsWithoutUsage === 0 ? "" : `${counted(callsWithoutUsage, "call")} without usage not included`
  ]
    .filter((part) => part !== "")
    .join("; ")

/** An id with its middle left out; short ones stay whole. */
export const middleCut = (id: string, edge = 6): string => {
  const characters = [...graphemesOf(id)]
  return characters.length <= 2 * edge + 3
    ? id
    : `${characters.slice(0, edge).join("")}…${characters.slice(-edge).join("")}`
}

/** Characters of a name, and of a few lines about it, in lists: many very long ones take seconds to be laid out. */
export const NAME_LENGTH = 160
export const LINES_LENGTH = 400
/** Characters of a run's name in a title. */
export const TITLE_LENGTH = 140

/** A text of at most `most` graphemes; emoji and letters with marks stay whole. */
export const cut = (text: string, most: number): string => {
  const start = firstGraphemes(text, most)
  return start === text ? text : `${start}…`
}

/** `1 event`, `2 events`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : many}`

/** The last part of a mode id: `macp.mode.decision.v1` is `decision`. */
export const modeLabel = (modeName: string): string => /^[\w.-]*\.mode\.([\w-]+)\.v\d+$/.exec(modeName)?.[1] ?? modeName
