/**
 * Money is summed in whole billionths of a US dollar, so that no sum is 0.30000000000000004 and the order of its parts
 * does not matter. Amounts stay numbers of dollars everywhere else: a double holds billionths exactly up to 2,000,000
 * dollars, and is within one of them beyond.
 */
const BILLIONTHS = 1_000_000_000

/** An amount of US dollars in whole billionths, half of one rounded up. */
export const nanoUsd = (usd: number): number => Math.round(usd * BILLIONTHS)

/** Whole billionths in US dollars. */
export const usdOfNano = (nano: number): number => nano / BILLIONTHS

/** The sum of two amounts of US dollars. */
export const addUsd = (one: number, other: number): number => usdOfNano(nanoUsd(one) + nanoUsd(other))

/** The sum of amounts of US dollars. */
export const sumUsd = (amounts: Iterable<number>): number => {
  let sum = 0
  for (const usd of amounts) sum += nanoUsd(usd)
  return usdOfNano(sum)
}

/** Digits that a small amount keeps. */
const SIGNIFICANT = 3
const MOST_DECIMALS = 9

const format = (least: number, most: number): Intl.NumberFormat =>
  new Intl.NumberFormat("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: least,
    maximumFractionDigits: most
  })
/** By the least and the most decimals: a formatter is slow to make. */
const formats = new Map<string, Intl.NumberFormat>()
const formatOf = (least: number, most: number): Intl.NumberFormat => {
  const name = `${least} ${most}`
  const found = formats.get(name) ?? format(least, most)
  formats.set(name, found)
  return found
}

/** The decimals that an amount needs: those of its first three digits, without zeros at the end. */
const decimalsOf = (usd: number, least: number): number => {
  const digits = usd === 0 ? 0 : SIGNIFICANT - 1 - Math.floor(Math.log10(Math.abs(usd)))
  const most = Math.max(least, Math.min(digits, MOST_DECIMALS))
  return formatOf(least, most).format(usd).split(".")[1]?.length ?? 0
}

/** The text of each amount of one line or column: all have the decimals of the one that needs most. */
export const usdTexts = (amounts: ReadonlyArray<number>, decimals: number): ((usd: number) => string) => {
  const digits = amounts.reduce((most, usd) => Math.max(most, decimalsOf(usd, decimals)), decimals)
  return (usd) => formatOf(digits, digits).format(usd)
}

/**
 * `$1,234.50`: so many decimals, and more where an amount is so small that they would not show three of its digits.
 * `beside` are the other amounts of the line.
 */
export const usdText = (usd: number, decimals: number, beside: ReadonlyArray<number> = []): string =>
  usdTexts([usd, ...beside], decimals)(usd)

/** A cost and the part of it that is a guess, where there is one: `$0.0123, ≈ $0.0021 of it guessed`. */
export const costText = (usd: number, guessedUsd = 0): string =>
  guessedUsd === 0
    ? usdText(usd, 4)
    : `${usdText(usd, 4, [guessedUsd])}, ≈ ${usdText(guessedUsd, 4, [usd])} of it guessed`
