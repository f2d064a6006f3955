import type { ScenarioSummary } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { ArrowLeft } from "lucide-react"
import { Link } from "wouter"
import type { CallLauncher } from "../../client/Launcher.ts"
import { UserText } from "../../ui/basics.tsx"
import { Failure, Skeleton } from "../../ui/States.tsx"
import { cut, NAME_LENGTH } from "../../view/format/Format.ts"
import { scenarioSearch, stabilityPage } from "../../view/gates/GateLinks.ts"
import { LaunchInputs } from "./LaunchInputs.tsx"
import type { Again } from "./useAgain.ts"

interface LaunchFormProps {
  readonly call: CallLauncher
  readonly launcherUrl: string
  /** The run that is launched again. */
  readonly again: Again | undefined
  readonly scenario: ScenarioSummary
  readonly version: string
  readonly template: string
  readonly choose: (patch: { readonly version?: string; readonly template?: string }) => void
  readonly leave: () => void
}

/** Version, template, inputs and participants of a scenario, and the button that launches it. */
export const LaunchForm = ({
  again,
  call,
  choose,
  launcherUrl,
  leave,
  scenario,
  template,
  version
}: LaunchFormProps) => {
  const packSlug = scenario.packSlug ?? ""
  const schema = useQuery({
    queryKey: ["launch schema", packSlug, scenario.scenario, version, template],
    queryFn: ({ signal }) =>
      call(
        (api) =>
          api.catalog.launchSchema({
            params: { packSlug, scenarioSlug: scenario.scenario, version },
            query: template === "" ? {} : { template }
          }),
        signal
      )
  })
  return (
    <section aria-label="Form" className="min-w-0">
      <h1 className="sr-only lg:hidden">Launch</h1>
      <button type="button" className="btn btn-quiet -ml-2 text-soft lg:hidden" onClick={leave}>
        <ArrowLeft size={14} aria-hidden /> All scenarios
      </button>
      <h2 className="text-[17px] font-semibold tracking-tight">
        <UserText text={cut(scenario.name, NAME_LENGTH)} />
      </h2>
      <div className="mt-2 flex flex-wrap gap-3">
        <Choice
          label="Version"
          value={version}
          options={scenario.versions}
          onChange={(next) => choose({ version: next })}
        />
        {scenario.templates.length === 0 ? null : (
          <Choice
            label="Template"
            value={template}
            options={["", ...scenario.templates]}
            onChange={(next) => choose({ template: next })}
          />
        )}
        <Link
          href={stabilityPage(scenarioSearch(`${packSlug}/${scenario.scenario}@${version}`))}
          className="self-end pb-1 text-accent underline decoration-1 underline-offset-2"
        >
          Stability of its decisions
        </Link>
      </div>
      {schema.isPending ? <Skeleton rows={6} height={56} /> : null}
      {schema.isError ? (
        <Failure what="The scenario cannot be read" error={schema.error} retry={() => void schema.refetch()} />
      ) : null}
      {schema.data === undefined ? null : (
        <LaunchInputs
          key={again?.runId ?? ""}
          call={call}
          launcherUrl={launcherUrl}
          schema={schema.data}
          template={template}
          again={again}
        />
      )}
    </section>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: ReadonlyArray<string>
  readonly onChange: (value: string) => void
}

const Choice = ({ label, onChange, options, value }: ChoiceProps) => (
  <label>
    <span className="label block">{label}</span>
    <select className="field" value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map((option) => (
        <option key={option} value={option}>
          {option === "" ? "none" : option}
        </option>
      ))}
    </select>
  </label>
)
