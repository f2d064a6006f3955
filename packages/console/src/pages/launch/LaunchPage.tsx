import type { ScenarioSummary } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { Search } from "lucide-react"
import { useMemo, useState } from "react"
import { launcherAt } from "../../client/Launcher.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { Empty, Failure, Skeleton } from "../../ui/States.tsx"
import { counted, cut, LINES_LENGTH, NAME_LENGTH } from "../../view/format/Format.ts"
import { textParam } from "../../view/query/UrlState.ts"
import { LaunchForm } from "./LaunchForm.tsx"
import { useAgain } from "./useAgain.ts"

const params = { q: textParam, scenario: textParam, version: textParam, template: textParam, from: textParam }

const nameOf = ({ packSlug, scenario }: ScenarioSummary) => `${packSlug ?? ""}/${scenario}`

/** The scenarios that can be launched, and the form of the one that was chosen. */
export default function LaunchPage({ launcherUrl }: { readonly launcherUrl: string }) {
  const [page, set] = useUrlState(params)
  const [typed, setTyped] = useState(page.q)
  const call = useMemo(() => launcherAt(launcherUrl), [launcherUrl])
  useTitle("Launch")
  const catalog = useQuery({
    queryKey: ["scenarios", launcherUrl],
    queryFn: ({ signal }) => call((api) => api.catalog.scenarios(), signal)
  })
  const fits = (scenario: ScenarioSummary) => {
    const { agentRefs, name, summary = "", tags = [] } = scenario
    const said = [nameOf(scenario), name, summary, ...tags, ...agentRefs].join(" ").toLowerCase()
    return typed
      .toLowerCase()
      .split(/\s+/)
      .every((word) => said.includes(word))
  }
  const again = useAgain(page.from)
  const origin = again.data?.origin
  const isAgain = page.scenario === "" && origin !== undefined
  const wanted = isAgain ? origin : page
  const chosen = catalog.data?.find((scenario) => nameOf(scenario) === wanted.scenario)
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      <div className="mx-auto grid max-w-[1500px] gap-6 p-4 lg:grid-cols-[280px_1fr] 2xl:grid-cols-[340px_1fr]">
        <section
          aria-label="Scenarios"
          className={`min-w-0 ${chosen === undefined ? "lg:col-span-2" : "max-lg:hidden"}`}
        >
          <h1 className="text-[17px] font-semibold tracking-tight">Launch</h1>
          <p className="mt-0.5 text-muted">Choose a scenario to start its agents and watch their decision.</p>
          <label className="relative mt-3 block max-w-[420px]">
            <span className="sr-only">Search scenarios</span>
            <Search size={14} aria-hidden className="absolute top-2 left-2.5 text-muted" />
            <input
              type="search"
              className="field w-full pl-8"
              placeholder="Search by name, tag or agent"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          </label>
          {again.isError ? <Failure what="The run cannot be read" error={again.error} /> : null}
          {again.data !== undefined && origin === undefined ? (
            <p role="status" className="mt-3 text-warn">
              No launch service created that run, so it cannot be launched again from here.
            </p>
          ) : null}
          {catalog.isPending ? <Skeleton rows={5} height={88} /> : null}
          {catalog.isError ? (
            <Failure what="The scenarios cannot be read" error={catalog.error} retry={() => void catalog.refetch()} />
          ) : null}
          {catalog.data !== undefined && !catalog.data.some(fits) ? <Empty title="No scenario matches" /> : null}
          <ul className={`mt-4 grid grid-cols-1 gap-3 ${chosen === undefined ? "sm:grid-cols-2 xl:grid-cols-3" : ""}`}>
            {(catalog.data ?? []).filter(fits).map((scenario) => (
              <li key={nameOf(scenario)}>
                <button
                  type="button"
                  aria-pressed={scenario === chosen}
                  className={`panel flex h-full w-full flex-col p-3.5 text-left hover:border-accent ${
                    scenario === chosen ? "border-accent bg-accent-soft" : ""
                  }`}
                  onClick={() =>
                    set({ scenario: nameOf(scenario), version: "", template: "", from: "" }, { push: true })
                  }
                >
                  <span className="block font-semibold">
                    <UserText text={cut(scenario.name, NAME_LENGTH)} />
                  </span>
                  <span className="block font-mono text-[11px] text-muted">{nameOf(scenario)}</span>
                  {scenario.summary === undefined ? null : (
                    <span className="mt-1 line-clamp-3 text-soft">
                      <UserText text={cut(scenario.summary, LINES_LENGTH)} />
                    </span>
                  )}
                  <span className="mt-2 flex flex-wrap gap-1">
                    <Chip tone="accent">{counted(scenario.agentRefs.length, "agent")}</Chip>
                    {(scenario.tags ?? []).slice(0, 5).map((tag) => (
                      <Chip key={tag}>
                        <UserText text={cut(tag, NAME_LENGTH)} className="truncate" />
                      </Chip>
                    ))}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </section>
        {chosen === undefined ? null : (
          <LaunchForm
            key={`${nameOf(chosen)}@${wanted.version}#${wanted.template}`}
            call={call}
            launcherUrl={launcherUrl}
            again={origin?.scenario === nameOf(chosen) ? again.data : undefined}
            scenario={chosen}
            version={chosen.versions.includes(wanted.version) ? wanted.version : (chosen.versions.at(-1) ?? "")}
            template={chosen.templates.includes(wanted.template) ? wanted.template : ""}
            choose={(patch) => set({ ...wanted, ...patch })}
            leave={() => set({ scenario: "", version: "", template: "", from: "" })}
          />
        )}
      </div>
    </div>
  )
}
