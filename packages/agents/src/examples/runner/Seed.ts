/** FNV-1a, 32 bits: spreads a text over the non-negative integers, the same on every machine. */
export const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return value >>> 0
}

/** A number from `low` to `high`, both inclusive, that depends on the text alone. */
export const spread = (text: string, low: number, high: number): number => low + (hash(text) % (high - low + 1))

/** One of the texts, chosen by the seed alone. */
export const pick = <const Options extends readonly [string, ...ReadonlyArray<string>]>(
  seed: string,
  options: Options
): string => options[hash(seed) % options.length] ?? options[0]

/** `value` moved by up to `by` hundredths in either direction, kept between 0 and 1. */
export const around = (seed: string, value: number, by: number): number =>
  Math.min(Math.max(Math.round(value * 100) + spread(seed, -by, by), 0), 100) / 100
