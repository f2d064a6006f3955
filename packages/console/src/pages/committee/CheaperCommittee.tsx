import {
  DEFAULT_ALPHA as alpha,
  type CommitteeIndependence,
  type CommitteeSearchAnswer,
  DEFAULT_AGREEMENT as keepAgreement
} from "@runplane/api"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../client/Client.ts"
import { CallFailed } from "../../client/Problem.ts"
import { UserText } from "../../ui/basics.tsx"
import { Facts, Panel } from "../../ui/kit.tsx"
import { Failure } from "../../ui/States.tsx"
import { useMay } from "../../ui/useMe.ts"
import { counted, dollars, duration, percent } from "../../view/format/Format.ts"
import { OtherPolicies } from "./OtherPolicies.tsx"

interface CheaperCommitteeProps {
  readonly q: string
  readonly found: CommitteeIndependence
}

interface Wanted {
  readonly q: string
  readonly policies: ReadonlyArray<string>
}

const keyOf = ({ policies, q }: Wanted) => JSON.stringify([q, ...policies])

/** Searches the cheapest committee with the same outcomes, on demand: each search is an entry of the audit log. */
export const CheaperCommittee = ({ found, q }: CheaperCommitteeProps) => {
  const isAllowed = useMay()("operator")
  const [policies, setPolicies] = useState<ReadonlyArray<string>>([])
  const wanted: Wanted = { q, policies }
  const search = useMutation({
    mutationFn: (wanted: Wanted) =>
      call((api) =>
        api.committees.search({
          payload: {
            ...{ q: wanted.q, keepAgreement, alpha },
            ...(wanted.policies.length > 0 && {
              policies: wanted.policies.map((policyVersion) => ({ policyVersion }))
            })
          }
        })
      )
  })
  const isCurrent = search.variables !== undefined && keyOf(search.variables) === keyOf(wanted)
  const refusal = !isAllowed
    ? "A search needs the role operator."
    : q === ""
      ? "Search for the runs of one committee above first."
      : undefined
  return (
    <Panel
      title="The cheapest committee"
      note="chosen on one half of the cases, confirmed on the other"
      actions={
        <button
          type="button"
          className="btn"
          disabled={refusal !== undefined || search.isPending}
          onClick={() => search.mutate(wanted)}
        >
          {search.isPending ? "Searching" : "Search"}
        </button>
      }
    >
      <OtherPolicies chosen={policies} onChange={setPolicies} />
      {isTooFew(search.error) && isCurrent ? (
        <p className="px-3 py-2 wrap-anywhere" data-search>
          No committee is named: {search.error.problem.messages.join(" ")}.
        </p>
      ) : search.isError && isCurrent ? (
        <Failure what="No committee was searched" error={search.error} retry={() => search.mutate(wanted)} />
      ) : search.data === undefined || !isCurrent ? (
        <p className="px-3 py-2 text-muted">
          {refusal ??
            "A smaller committee is named only when the half that did not choose it confirms the same outcomes. Each search is recorded."}
        </p>
      ) : (
        <Answer answer={search.data} isOther={search.data.committee !== found.committee} />
      )}
    </Panel>
  )
}

/** Too few runs are an answer, which another attempt does not change. */
const isTooFew = (error: unknown): error is CallFailed => error instanceof CallFailed && error.problem.status === 409

const Answer = ({ answer, isOther }: { readonly answer: CommitteeSearchAnswer; readonly isOther: boolean }) => {
  const { found, otherCommittees, participants, searches, summary, truncated } = answer
  const { candidates, choosing, confirming, excluded, method, policies } = found.search
  return (
    <div className="flex flex-col">
      <p className="px-3 pt-2 font-medium wrap-anywhere" data-search>
        {summary}.
      </p>
      <Facts
        facts={[
          ...(isOther ? ([["Committee", <UserText key="all" text={participants.join(", ")} />]] as const) : []),
          ...(found.kind === "none" ? [] : namedFacts(found.committee)),
          [
            "Subsets",
            `${candidates} tried${policies === 0 ? "" : `, under their own policy and ${policies} more`}${method === "greedy" ? ", seats left out one by one: a cheaper one may exist" : ""}${
              excluded === 0 ? "" : `; ${excluded} cannot be counted without a seat that the policy needs`
            }`
          ],
          [
            "Cases",
            `chosen on ${choosing.cases}, confirmed on ${confirming.cases}${truncated ? ", of the latest runs" : ""}`
          ],
          [
            "Searches",
            searches === 1 ? "this is the first over these runs" : `${searches} over these runs, this one included`
          ],
          ...(otherCommittees === 0
            ? []
            : ([["Left out", `${counted(otherCommittees, "run")} of other participants`]] as const))
        ]}
      />
      {searches === 1 ? null : (
        <p className="px-3 pb-2 text-[12px] text-muted">
          The more searches, the likelier one of them finds a committee by chance.
        </p>
      )}
    </div>
  )
}

type Named = Extract<CommitteeSearchAnswer["found"], { kind: "named" }>["committee"]

const namedFacts = ({ accuracy, agreement, policy, removed, saved, seats }: Named) =>
  [
    ["Remains", <UserText key="seats" text={seats.join(", ")} />],
    ["Removed", <UserText key="removed" text={removed.join(", ")} />],
    ...(policy === undefined ? [] : ([["Policy", <UserText key="policy" text={policy.name} />]] as const)),
    [
      "Same outcome",
      `${percent(agreement.rate)} of the confirming cases (${percent(agreement.low)} to ${percent(agreement.high)})`
    ],
    ...(agreement.undecided === 0
      ? []
      : ([
          ["Not decided", `in ${agreement.undecided} of these cases the votes would have allowed either outcome`]
        ] as const)),
    [
      "Right decisions",
      accuracy === undefined
        ? "not known: no mark in the confirming half"
        : `${accuracy.named.count} of ${accuracy.named.n}, with all seats ${accuracy.all.count} of ${accuracy.all.n}`
    ],
    [
      "Saved",
      `${dollars(saved.costUsd)} in the confirming half${saved.costShare === undefined ? "" : `, ${percent(saved.costShare)}`}${
        saved.meanMs === undefined ? "" : `; about ${duration(saved.meanMs)} a run, an estimate`
      }`
    ]
  ] as const
