/** Texts of a runtime's refusals, and what they say to a reader. */
const WORDS: ReadonlyArray<readonly [RegExp, (parts: ReadonlyArray<string>) => string]> = [
  [
    /^(?:deny|hold|finalize_decline): (\d+) critical of (\d+) needed to veto$/,
    ([have, need]) =>
      `${have} ${have === "1" ? "critical objection is" : "critical objections are"} a veto (${need} needed)`
  ],
  [
    /^vote quorum not met: (\d+) voters of (\d+) participants \(quorum: ([\d.]+) (count|percentage)\)$/,
    ([have, all, need, type]) => `${have} of ${all} voted, the quorum is ${need}${type === "percentage" ? " %" : ""}`
  ]
]

/** What a veto does, by the word of the rules. */
const VETOES: ReadonlyMap<string, string> = new Map([
  ["deny", "refuses every commitment"],
  ["hold", "holds the decision"],
  ["finalize_decline", "ends it with a decline"]
])

/** A refusal of the rules for a reader. Its text on the wire is that of the runtime, which others compare. */
export const refusalWords = (text: string): string => {
  for (const [pattern, say] of WORDS) {
    const parts = pattern.exec(text)
    if (parts !== null) return say(parts.slice(1))
  }
  return text.replace(/ \((deny|hold|finalize_decline)\)/, (_, word: string) => `, which ${VETOES.get(word)}`)
}
