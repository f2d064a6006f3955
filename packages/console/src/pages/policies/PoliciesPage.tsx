import type { PolicyDescriptor } from "@runplane/api"
import { Plus } from "lucide-react"
import { Suspense, useMemo } from "react"
import { UserText } from "../../ui/basics.tsx"
import { DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { Loaded, Select, Sheet } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { Empty, Skeleton } from "../../ui/States.tsx"
import { useCatalogUse } from "../../ui/useCatalogUse.ts"
import { useMay } from "../../ui/useMe.ts"
import { useRead } from "../../ui/useRead.ts"
import { counted, cut, LINES_LENGTH, modeLabel, NAME_LENGTH } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { textParam } from "../../view/query/UrlState.ts"

const RegisterDialog = lazily(() => import("./RegisterDialog.tsx"))
const PolicyDetails = lazily(() => import("./PolicyDetails.tsx"))

const params = { mode: textParam, id: textParam, with: textParam }
const NOTHING: ReadonlyMap<string, ReadonlyArray<string>> = new Map()

/** The governance policies of the runtime's registry, by mode. */
export default function PoliciesPage({ launcherUrl }: { readonly launcherUrl: string | undefined }) {
  const [state, set] = useUrlState(params)
  const mayWrite = useMay()("admin")
  useTitle("Policies")
  const policies = useRead(["policies"], (api) => api.policies.list({ query: {} }), { everyMs: LATER_MS })
  const scenarios = useCatalogUse(launcherUrl)?.scenariosOfPolicy ?? NOTHING
  const shown = useMemo(
    () => (policies.data ?? []).filter(({ mode }) => state.mode === "" || mode === state.mode),
    [policies.data, state.mode]
  )
  const modes = [...new Set((policies.data ?? []).map(({ mode }) => mode))].toSorted()
  const chosen = shown.find(({ policyId }) => policyId === state.id) ?? shown[0]
  return (
    <Sheet
      title="Policies"
      note={policies.data === undefined ? undefined : counted(shown.length, "policy", "policies")}
      actions={
        <>
          <Select
            label="Mode"
            value={state.mode}
            options={[["", "Every mode"], ...modes.map((mode) => [mode, wordsOf(mode)] as const)]}
            onChange={(mode) => set({ mode, id: "" })}
          />
          {mayWrite ? (
            <DialogButton
              className="btn btn-main"
              dialog={(close) => (
                <Suspense fallback={null}>
                  <RegisterDialog onClose={close} />
                </Suspense>
              )}
            >
              <Plus size={14} aria-hidden /> Register
            </DialogButton>
          ) : null}
        </>
      }
    >
      <Loaded read={policies} what="The policies cannot be read" rows={8} height={44}>
        {() =>
          chosen === undefined ? (
            policies.data?.length === 0 ? (
              <Empty title="The runtime has no policy yet">
                A policy defines which votes a decision needs.{" "}
                {mayWrite ? "Register the first one." : "An administrator can register one."}
              </Empty>
            ) : (
              <Empty title="No policy of this mode">Choose another mode, or register one.</Empty>
            )
          ) : (
            <div className="grid items-start gap-3 lg:grid-cols-[minmax(260px,340px)_1fr]">
              <nav aria-label="Policies by mode" className="panel max-h-[45vh] overflow-auto lg:max-h-none">
                {groupsOf(shown).map(([mode, group]) => (
                  <section key={mode} aria-label={wordsOf(mode)}>
                    <h2 className="label border-b border-line bg-sunken px-3 py-1.5">{wordsOf(mode)}</h2>
                    <ul>
                      {group.map((policy) => (
                        <li key={policy.policyId} className="border-b border-line last:border-0">
                          <button
                            type="button"
                            aria-current={policy.policyId === chosen.policyId}
                            className={`flex w-full flex-col items-start px-3 py-2 text-left ${
                              policy.policyId === chosen.policyId ? "bg-accent-soft" : "hover:bg-sunken"
                            }`}
                            onClick={() => set({ id: policy.policyId })}
                          >
                            <UserText text={cut(policy.policyId, NAME_LENGTH)} className="font-medium" />
                            <span className="line-clamp-2 text-[12px] text-soft">
                              <UserText text={cut(policy.description, LINES_LENGTH)} />
                            </span>
                          </button>
                        </li>
                      ))}
                    </ul>
                  </section>
                ))}
              </nav>
              <Suspense fallback={<Skeleton rows={6} height={44} />}>
                <PolicyDetails
                  key={chosen.policyId}
                  policy={chosen}
                  others={(policies.data ?? []).filter(({ policyId }) => policyId !== chosen.policyId)}
                  comparedId={state.with}
                  onCompare={(policyId) => set({ with: policyId, id: chosen.policyId })}
                  scenarios={scenarios.get(chosen.policyId)}
                  mayWrite={mayWrite}
                  onGone={() => set({ id: "" })}
                />
              </Suspense>
            </div>
          )
        }
      </Loaded>
    </Sheet>
  )
}

const wordsOf = (mode: string) => (mode === "*" ? "Any mode" : modeLabel(mode))

const groupsOf = (policies: ReadonlyArray<PolicyDescriptor>) => {
  const groups = new Map<string, Array<PolicyDescriptor>>()
  for (const policy of policies) groups.set(policy.mode, [...(groups.get(policy.mode) ?? []), policy])
  return [...groups].toSorted(([one], [other]) => one.localeCompare(other))
}
