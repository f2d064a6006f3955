/** What the outcome would have been without one vote. */
export interface Counterfactual {
  readonly seq: number
  readonly participantId: string
  readonly text: string
  readonly stillAllowed: boolean
  readonly reasons: ReadonlyArray<string>
}
