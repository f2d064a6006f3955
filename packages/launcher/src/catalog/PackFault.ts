/**
 * Something in a pack file that loads and yet cannot be meant (docs/internals/launch.md#faults). The message says what
 * to do;
 * `at` are the keys that lead to the value in question.
 */
export interface PackFault {
  readonly level: "error" | "warning"
  readonly at: ReadonlyArray<string>
  readonly message: string
}
