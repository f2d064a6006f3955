import type { LaunchSchema, ScenarioSummary } from "@runplane/api"
import { useMutation, useQuery } from "@tanstack/react-query"
import type * as Schema from "effect/Schema"
import { ArrowLeft, Rocket } from "lucide-react"
import { useMemo, useState } from "react"
import { useLocation } from "wouter"
import type { CallLauncher } from "../../client/Launcher.ts"
import { CallFailed } from "../../client/Problem.ts"
import { Avatar, Chip, Said } from "../../ui/basics.tsx"
import { Failure, Skeleton } from "../../ui/States.tsx"
import { duration, modeLabel } from "../../view/Format.ts"
import { fieldSpec, inputFaults } from "../../view/FormSchema.ts"
import { InputField, JsonEntry } from "./InputField.tsx"

interface LaunchFormProps {
  readonly call: CallLauncher
  readonly scenario: ScenarioSummary
  readonly version: string
  readonly template: string
  readonly choose: (patch: { readonly version?: string; readonly template?: string }) => void
  readonly leave: () => void
}

/** Version, template and inputs of a scenario, who will take part, and the button that starts it. */
export const LaunchForm = ({ call, choose, leave, scenario, template, version }: LaunchFormProps) => {
  const packSlug = scenario.packSlug ?? ""
  const asked = useQuery({
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
      <button type="button" className="btn btn-quiet -ml-2 text-soft lg:hidden" onClick={leave}>
        <ArrowLeft size={14} aria-hidden /> All scenarios
      </button>
      <h2 className="text-[17px] font-semibold tracking-tight">
        <Said text={scenario.name} />
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
      </div>
      {asked.isPending ? <Skeleton rows={6} height={56} /> : null}
      {asked.isError ? (
        <Failure what="The scenario cannot be read" error={asked.error} retry={() => void asked.refetch()} />
      ) : null}
      {asked.data === undefined ? null : <Inputs call={call} schema={asked.data} template={template} />}
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

interface InputsProps {
  readonly call: CallLauncher
  readonly schema: LaunchSchema
  readonly template: string
}

const Inputs = ({ call, schema, template }: InputsProps) => {
  const [inputs, setInputs] = useState<Schema.JsonObject>(schema.defaults)
  const [label, setLabel] = useState("")
  const [isJson, setJson] = useState(false)
  const [, go] = useLocation()
  const spec = useMemo(() => fieldSpec(schema.formSchema), [schema])
  const launch = useMutation({
    mutationFn: () =>
      call((api) =>
        api.launch.runExample({
          payload: {
            scenarioRef: schema.scenarioRef,
            ...(template !== "" && { templateId: template }),
            inputs,
            bootstrapAgents: true,
            ...(label.trim() !== "" && { runLabel: label.trim() })
          }
        })
      ),
    onSuccess: ({ controlPlaneRun }) => {
      if (controlPlaneRun !== undefined) go(`/runs/${controlPlaneRun.runId}`)
    }
  })
  const faults = inputFaults(launch.error instanceof CallFailed ? launch.error.problem.metadata : undefined)
  const { modeName, policyVersion, ttlMs } = schema.launchSummary
  const change = (next: Schema.Json | undefined) => {
    if (typeof next === "object" && next !== null && !Array.isArray(next)) setInputs(next as Schema.JsonObject)
  }
  return (
    <form
      // What is wrong is said by the service, beside the fields.
      noValidate
      className="mt-4 flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!launch.isPending) launch.mutate()
      }}
    >
      <div className="panel flex flex-col gap-3 p-4">
        <div className="flex items-center justify-between">
          <h3 className="font-semibold">Inputs</h3>
          <button type="button" className="btn" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
            {isJson ? "As a form" : "As JSON"}
          </button>
        </div>
        {isJson || spec.kind !== "object" ? (
          <JsonEntry
            id="inputs-as-json"
            label="Inputs as JSON"
            value={inputs}
            onChange={change}
            described={{ "aria-invalid": faults.size > 0 }}
          />
        ) : (
          <InputField spec={spec} value={inputs} place="" faults={faults} onChange={change} />
        )}
      </div>
      <label className="block">
        <span className="label">Name of this run (may be empty)</span>
        <input
          type="text"
          maxLength={200}
          className="field mt-0.5 w-full"
          value={label}
          onChange={({ target }) => setLabel(target.value)}
        />
      </label>
      <section className="panel p-4" aria-label="Who takes part">
        <h3 className="font-semibold">Who takes part</h3>
        <ul className="mt-2 grid gap-2 sm:grid-cols-2">
          {schema.participants.map(({ agentRef, id, role }, place) => (
            <li key={id} className="flex items-center gap-2">
              <Avatar name={id} place={place} />
              <span className="min-w-0">
                <span className="block truncate font-medium">
                  <Said text={id} />
                </span>
                <span className="block truncate text-[12px] text-muted">
                  <Said text={`${role}, ${agentRef}`} />
                </span>
              </span>
            </li>
          ))}
        </ul>
        <p className="mt-3 flex flex-wrap gap-1.5">
          <Chip>{modeLabel(modeName)} mode</Chip>
          {policyVersion === undefined ? null : <Chip>{policyVersion}</Chip>}
          <Chip>at most {duration(ttlMs)}</Chip>
        </p>
      </section>
      {launch.isError ? <Failure what="The scenario was not launched" error={launch.error} /> : null}
      {launch.isSuccess && launch.data.controlPlaneRun === undefined ? (
        <p role="alert" className="text-warn">
          The agents were started, but the control plane did not take the run.
        </p>
      ) : null}
      <button type="submit" className="btn btn-main h-9 self-start px-4" disabled={launch.isPending}>
        <Rocket size={15} aria-hidden /> {launch.isPending ? "Starting the agents…" : "Launch"}
      </button>
    </form>
  )
}
