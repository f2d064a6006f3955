/** One reason why a Commitment is refused: the rule, where it stands, and what it asks for. */
export interface RuleRefusal {
  /** Section and name of the rule, as a policy spells them; `mode.*` for what the mode itself asks for. */
  readonly rule: string
  readonly have: number | string
  readonly need: number | string
  /** All of it in words, for display. */
  readonly text: string
}
