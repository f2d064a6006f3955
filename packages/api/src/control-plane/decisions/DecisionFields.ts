import { VERDICTS } from "@runplane/domain"
import { type DescribedField, fast, slow } from "../query/DescribedField.ts"

/** What the decision of a run says, as fields of its searches (docs/reference/search.md#decisions). */
export const decisionOfRun = {
  vote: {
    ...{ name: "vote", type: "keyword", values: ["APPROVE", "REJECT", "ABSTAIN"], dotted: true, ...fast },
    description: "Last ballot of a participant on one of its proposals, by the participant's id"
  },
  dissent: {
    ...{ name: "dissent", type: "keyword", ...fast },
    description: "Who voted against the committed outcome"
  },
  model: { name: "model", type: "keyword", ...fast, description: "One of the models that its agents call" },
  outcome: {
    ...{ name: "outcome", type: "keyword", values: ["positive", "negative", ...VERDICTS], ...slow },
    description: "How its last decision came out, or the verdict of its card"
  },
  case: {
    ...{ name: "case", type: "keyword", ...fast },
    description: "Its case, as the decision in a list has it: the same question of another run"
  },
  proposal: {
    ...{ name: "proposal", type: "text", ...slow },
    description: "A part of the option of one of its proposals, case ignored"
  }
} as const satisfies Readonly<Record<string, DescribedField>>
