import * as SchemaIssue from "effect/SchemaIssue"

/** What a client is told about a refused body, query or path: a list of broken rules, or one sentence. */
export type ViolationText = ReadonlyArray<string> | string

// An issue can carry one text only; the list travels beside it.
const texts = new WeakMap<SchemaIssue.Issue, ViolationText>()

/** A schema issue that carries the texts for the client. */
export const violation = (text: ViolationText): SchemaIssue.Issue => {
  const issue = new SchemaIssue.InvalidValue({ message: typeof text === "string" ? text : text.join("; ") })
  texts.set(issue, text)
  return issue
}

/** The texts of the first violation inside an issue; undefined when it was not raised by our rules. */
export const violationText = (issue: SchemaIssue.Issue): ViolationText | undefined => {
  const own = texts.get(issue)
  if (own !== undefined) return own
  if ("issue" in issue) return violationText(issue.issue)
  if ("issues" in issue) {
    for (const inner of issue.issues) {
      const text = violationText(inner)
      if (text !== undefined) return text
    }
  }
  return undefined
}
