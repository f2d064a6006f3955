import { decisionOfRun } from "@runplane/api"
import { nameKey, VOTE_VALUES, voteKey } from "@runplane/domain"
import type { SearchFields } from "../../platform/postgres/search/SearchFields.ts"
import { labelledOr } from "../../queries/runs/RunLabels.ts"
import { committedOutcome } from "../../queries/runs/RunOutcome.ts"

/** What the decision of a run says, as fields of searches. */
export const decisionSearchFields: SearchFields = {
  runs: [
    {
      field: decisionOfRun.vote,
      column: (sql, participantId) => ({
        type: "among",
        stored: (vote) => voteKey(vote, participantId),
        where: (test) => sql`r.id IN (SELECT d.run_id FROM run_decisions d WHERE ${test(sql`d.ballots`)})`,
        has: (ballots) => sql`${ballots} && ${VOTE_VALUES.map((vote) => voteKey(vote, participantId))}::text[]`
      })
    },
    {
      field: decisionOfRun.dissent,
      column: (sql) => ({
        type: "among",
        stored: nameKey,
        where: (test) => sql`r.id IN (SELECT d.run_id FROM run_decisions d WHERE ${test(sql`d.dissenters`)})`,
        has: (dissenters) => sql`cardinality(${dissenters}) > 0`
      })
    },
    {
      field: decisionOfRun.case,
      column: (sql) => ({
        type: "text",
        where: (test) => sql`r.id IN (SELECT d.run_id FROM run_decisions d WHERE ${test(sql`d.case_key`)})`,
        has: (value) => sql`${value} IS NOT NULL`
      })
    },
    {
      field: decisionOfRun.proposal,
      column: (sql) => ({
        type: "part",
        where: (test) => sql`r.id IN (SELECT d.run_id FROM run_decisions d WHERE ${test(sql`d.options`)})`,
        has: (options) => sql`${options} <> ''`
      })
    },
    {
      field: decisionOfRun.outcome,
      column: (sql) => {
        const committed = committedOutcome(sql)
        const verdict = sql`d.verdict`
        return {
          type: "text",
          where: (test) => sql`
            (${test(committed)} OR r.id IN (SELECT d.run_id FROM run_decisions d WHERE ${test(verdict)}))`,
          // Each run with a row has a verdict; an outcome is that of a commitment.
          has: (value) => (value === verdict ? sql`false` : sql`${value} IS NOT NULL`)
        }
      }
    },
    {
      field: decisionOfRun.model,
      column: (sql) =>
        labelledOr(sql, "models", (test) => sql`SELECT m.run_id FROM run_models m WHERE ${test(sql`m.model`)}`)
    }
  ]
}
