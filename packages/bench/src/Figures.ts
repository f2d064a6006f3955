/** One number that a scenario found. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Which way is better; the aim is reached at the value itself. */
  readonly better: "more" | "less"
  readonly aim?: number
}

/** What one repetition of a scenario found. */
export interface Outcome {
  readonly scenario: string
  /** The figures in words, one line. */
  readonly line: string
  readonly figures: ReadonlyArray<Figure>
}

/** A figure over all repetitions. */
export interface Summary {
  readonly name: string
  readonly unit: string
  readonly best: number
  readonly median: number
  readonly values: ReadonlyArray<number>
  readonly aim?: { readonly value: number; readonly better: Figure["better"]; readonly reached: boolean }
}
