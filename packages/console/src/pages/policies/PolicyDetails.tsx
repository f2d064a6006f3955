import type { PolicyDescriptor } from "@runplane/api"
import { DEFAULT_POLICY_ID } from "@runplane/domain"
import { Trash2 } from "lucide-react"
import { Suspense } from "react"
import { call } from "../../client/Client.ts"
import { Id, Time, UserText } from "../../ui/basics.tsx"
import { Confirm, DialogButton } from "../../ui/dialogs/Confirm.tsx"
import JsonTree from "../../ui/json/JsonTree.tsx"
import { Facts, Panel, Select, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { newestRuns } from "../../ui/search/useRunSearch.ts"
import { useRead } from "../../ui/useRead.ts"
import { counted, cut, NAME_LENGTH } from "../../view/format/Format.ts"
import { REFUSALS_SEEN } from "../../view/policies/Refusals.ts"
import { rulesInWords } from "../../view/policies/RegistryPolicy.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"

const PolicyDiff = lazily(() => import("./PolicyDiff.tsx"))

interface PolicyDetailsProps {
  readonly policy: PolicyDescriptor
  /** Scenarios of the catalog that refer to it; undefined where nothing is known of them. */
  readonly scenarios: ReadonlyArray<string> | undefined
  /** What it can be compared with, and the id of the chosen one; empty for none. */
  readonly others: ReadonlyArray<PolicyDescriptor>
  readonly comparedId: string
  readonly onCompare: (policyId: string) => void
  readonly mayWrite: boolean
  readonly onGone: () => void
}

/** One policy: its rules in words and as JSON, its runs and scenarios, and its differences from another one. */
export default function PolicyDetails({
  comparedId,
  mayWrite,
  onCompare,
  onGone,
  others,
  policy,
  scenarios = []
}: PolicyDetailsProps) {
  const { description, mode, policyId, registeredAtUnixMs, rules, schemaVersion } = policy
  const search = `policyVersion:${queryValue(policyId)}`
  const used = useRead(["policy runs", policyId], (api) => api.runs.list({ query: { ...newestRuns(1), q: search } }))
  const denied = useRead(["policy denials", policyId], (api) =>
    api.runs.list({ query: { ...newestRuns(1), q: `${search} event:policy.denied` } })
  )
  const link = (q: string) => `/runs?${new URLSearchParams({ q, archived: "true" }).toString()}`
  const words = rulesInWords(policy)
  const compared = others.find(({ policyId: id }) => id === comparedId)
  // Those of the same mode first.
  const choices = others.toSorted((one, other) => Number(other.mode === mode) - Number(one.mode === mode))
  const canGo = policyId !== DEFAULT_POLICY_ID
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Panel
        title={cut(policyId, NAME_LENGTH)}
        actions={
          <>
            {others.length === 0 ? null : (
              <Select
                label="Compare with"
                className="max-w-[260px]"
                value={compared?.policyId ?? ""}
                options={[
                  ["", "Compare with…"],
                  ...choices.map(({ policyId: id }) => [id, cut(id, NAME_LENGTH)] as const)
                ]}
                onChange={onCompare}
              />
            )}
            {mayWrite && canGo ? (
              <DialogButton
                className="btn btn-bad"
                dialog={(close) => (
                  <Confirm
                    title={`Remove ${cut(policyId, NAME_LENGTH)}?`}
                    button="Remove the policy"
                    fault="The policy could not be removed"
                    isHarmful
                    onClose={close}
                    renews={[["policies"]]}
                    act={() => call((api) => api.policies.unregister({ params: { policyId } })).then(onGone)}
                  >
                    <p className="text-soft">Open sessions keep the policy. New sessions can no longer use it.</p>
                    {scenarios.length === 0 ? (
                      <p className="text-soft">No scenario of the catalog refers to it.</p>
                    ) : (
                      <div>
                        <p className="font-medium text-warn">
                          {counted(scenarios.length, "scenario")} of the catalog{" "}
                          {scenarios.length === 1 ? "refers" : "refer"} to it and could not be launched:
                        </p>
                        <ul className="mt-1 list-disc pl-5">
                          {scenarios.map((reference) => (
                            <li key={reference}>{reference}</li>
                          ))}
                        </ul>
                      </div>
                    )}
                  </Confirm>
                )}
              >
                <Trash2 size={14} aria-hidden /> Remove
              </DialogButton>
            ) : null}
          </>
        }
      >
        <Facts
          facts={[
            ["Id", <Id key="id" id={policyId} edge={40} label="policy id" />],
            ["Purpose", <UserText key="for" text={description === "" ? "–" : cut(description, 2_000)} />],
            [
              "Mode",
              <span key="mode" className="font-mono text-[12px]">
                {mode}
              </span>
            ],
            ["Schema version", schemaVersion],
            [
              "Registered",
              registeredAtUnixMs === undefined ? (
                "Built in"
              ) : (
                <Time key="at" at={new Date(registeredAtUnixMs).toISOString()} />
              )
            ],
            [
              "Runs",
              used.data === undefined ? (
                "…"
              ) : (
                <span key="runs" data-policy-runs>
                  <TextLink href={link(search)}>{counted(used.data.total, "run")}</TextLink>
                  {denied.data === undefined || denied.data.total === 0 ? null : (
                    <>
                      , <TextLink href={link(`${search} event:policy.denied`)}>{denied.data.total}</TextLink> of them
                      with a refusal on record; {REFUSALS_SEEN}
                    </>
                  )}
                </span>
              )
            ],
            [
              "Scenarios",
              scenarios.length === 0 ? (
                "None"
              ) : (
                <ul key="scenarios">
                  {scenarios.map((reference) => (
                    <li key={reference}>
                      <TextLink href={launchLink(reference)}>{reference}</TextLink>
                    </li>
                  ))}
                </ul>
              )
            ]
          ]}
        />
      </Panel>
      {compared === undefined ? null : (
        <Suspense fallback={null}>
          <PolicyDiff left={policy} right={compared} />
        </Suspense>
      )}
      <div className="grid items-start gap-3 xl:grid-cols-2">
        <Panel title="In words">
          {words.length === 0 ? (
            <p className="p-3 text-muted">The console cannot describe the rules of this mode; see the JSON.</p>
          ) : (
            <ul className="flex flex-col gap-1.5 p-3">
              {words.map(({ rule, text }) => (
                <li key={`${rule} ${text}`} title={rule} className="flex gap-2">
                  <span aria-hidden className="text-accent">
                    •
                  </span>
                  <UserText text={text} />
                </li>
              ))}
            </ul>
          )}
        </Panel>
        <Panel title="As JSON">
          <div className="overflow-auto p-3">
            <JsonTree value={rules} />
          </div>
        </Panel>
      </div>
    </div>
  )
}

const launchLink = (reference: string) => {
  const [scenario = "", version = ""] = reference.split("@")
  return `/launch?${new URLSearchParams({ scenario, version }).toString()}`
}
