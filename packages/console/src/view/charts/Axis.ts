type Say = (value: number) => string

/** The labels of an axis: each tick has the first of these texts that no earlier tick has, or none. */
export const distinctLabels = (ticks: ReadonlyArray<number>, formats: ReadonlyArray<Say>): ReadonlyArray<string> => {
  const used = new Set<string>()
  return ticks.map((tick) => {
    const label = formats.map((say) => say(tick)).find((text) => !used.has(text)) ?? ""
    used.add(label)
    return label
  })
}

/** Round numbers from 0 to `most`, at most `count` steps: 0, 200, 400. */
export const roundTicks = (most: number, count: number): ReadonlyArray<number> => {
  if (!(most > 0)) return [0]
  const rough = most / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, at) => at * step)
}

/** Positions for labels along a line: the first one, and each that is at least `apart` behind the one before it. */
export const spacedTicks = (positions: ReadonlyArray<number>, apart: number): ReadonlyArray<number> => {
  const order = positions.map((_, at) => at).toSorted((one, other) => (positions[one] ?? 0) - (positions[other] ?? 0))
  const ticks: Array<number> = []
  let next = Number.NEGATIVE_INFINITY
  for (const at of order) {
    const position = positions[at] ?? 0
    if (position < next) continue
    ticks.push(at)
    next = position + apart
  }
  return ticks
}
