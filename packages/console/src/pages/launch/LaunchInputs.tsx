import type { LaunchSchema } from "@runplane/api"
import { isJsonObject } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import type * as Schema from "effect/Schema"
import { Rocket } from "lucide-react"
import { useEffect, useMemo, useState } from "react"
import { Link, useLocation } from "wouter"
import type { CallLauncher } from "../../client/Launcher.ts"
import { problemOf } from "../../client/Problem.ts"
import { Avatar, Chip, UserText } from "../../ui/basics.tsx"
import { useSettled } from "../../ui/hooks.ts"
import { Failure } from "../../ui/States.tsx"
import { duration, modeLabel } from "../../view/format/Format.ts"
import { inputsOf } from "../../view/launch/Again.ts"
import { fieldSpec, inputFaults } from "../../view/launch/FormSchema.ts"
import { launchSteps } from "../../view/launch/LaunchSteps.ts"
import { CopyAs } from "./CopyAs.tsx"
import { InputField, JsonEntry } from "./InputField.tsx"
import { Preview } from "./Preview.tsx"
import { Steps } from "./Steps.tsx"
import type { Again } from "./useAgain.ts"
import { useLaunch } from "./useLaunch.ts"

interface LaunchInputsProps {
  readonly call: CallLauncher
  readonly launcherUrl: string
  readonly schema: LaunchSchema
  readonly template: string
  readonly again: Again | undefined
}

/** Inputs are compiled when they have been the same for so long, milliseconds. */
const SETTLED_MS = 400

/** The inputs of a launch, their preview, the button, and the progress of the launch. */
export const LaunchInputs = ({ again, call, launcherUrl, schema, template }: LaunchInputsProps) => {
  const spec = useMemo(() => fieldSpec(schema.formSchema), [schema])
  const recorded = useMemo(
    () => inputsOf(again?.events ?? [], spec.kind === "object" ? spec.members.map(({ name }) => name) : []),
    [again, spec]
  )
  const [inputs, setInputs] = useState<Schema.JsonObject>({ ...schema.defaults, ...recorded })
  const [label, setLabel] = useState(again?.origin?.label ?? "")
  const [isJson, setJson] = useState(false)
  const [, go] = useLocation()
  const order = {
    scenarioRef: schema.scenarioRef,
    templateId: template === "" ? undefined : template,
    inputs,
    runLabel: label.trim() === "" ? undefined : label.trim(),
    againOf: again?.runId
  }
  const settled = useSettled(inputs, SETTLED_MS)
  const preview = useQuery({
    queryKey: ["compile", schema.scenarioRef, template, settled],
    queryFn: ({ signal }) =>
      call(
        (api) =>
          api.launch.compile({
            payload: {
              scenarioRef: schema.scenarioRef,
              ...(template !== "" && { templateId: template }),
              inputs: settled
            }
          }),
        signal
      ),
    // The previous result stays until the next answer.
    placeholderData: (before) => before,
    retry: false,
    staleTime: 60_000
  })
  const { launch, progress } = useLaunch(call, order)
  // The text of the JSON editor. The inputs are those of its last valid text.
  const [isValid, setValid] = useState(true)
  const refused = launch.error ?? preview.error
  const problem = refused === null ? undefined : problemOf(refused, "")
  const faults = inputFaults(problem?.metadata)
  const runId = launch.data?.controlPlaneRun?.runId
  const isOpen = progress.run?.startedSession === true && progress.run.lastEventIndex > 0
  useEffect(() => {
    if (runId !== undefined && isOpen) go(`/runs/${runId}`)
  }, [runId, isOpen, go])
  const change = (next: Schema.Json | undefined) => {
    if (!isJsonObject(next)) return
    setInputs(next)
    if (launch.isError) launch.reset()
  }
  const { modeName, policyVersion, ttlMs } = schema.launchSummary
  const pointers = spec.kind === "object" ? new Set(spec.members.map(({ name }) => `/${name}`)) : new Set<string>()
  const unmatched = [...faults].filter(
    ([pointer]) => pointer !== "" && !pointers.has(`/${pointer.split("/")[1] ?? ""}`)
  )
  return (
    <form
      // The service reports faults, which are shown beside the fields.
      noValidate
      className="mt-4 grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_320px] 2xl:grid-cols-[minmax(0,1fr)_400px]"
      onSubmit={(event) => {
        event.preventDefault()
        if (!launch.isPending) launch.mutate()
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        {again === undefined ? null : (
          <p role="status" className="rounded-md bg-accent-soft px-3 py-2 text-soft">
            As in{" "}
            <Link href={`/runs/${again.runId}`} className="text-accent underline">
              the run before
            </Link>
            :{" "}
            {Object.keys(recorded).length === 0
              ? "its log does not contain its inputs, so these are the defaults."
              : `${Object.keys(recorded).length} of its inputs are in its log, the others are the defaults.`}
          </p>
        )}
        <div className="panel flex flex-col gap-3 p-4">
          <div className="flex items-center justify-between">
            <h3 className="font-semibold">Inputs</h3>
            <button
              type="button"
              className="btn"
              aria-pressed={isJson}
              disabled={!isValid}
              title={isValid ? undefined : "The JSON is not valid: correct it first"}
              onClick={() => setJson(!isJson)}
            >
              {isJson ? "As a form" : "As JSON"}
            </button>
          </div>
          {isJson || spec.kind !== "object" ? (
            <JsonEntry
              id="inputs-as-json"
              label="Inputs as JSON"
              value={inputs}
              onChange={change}
              onValid={setValid}
              faultOf={(given) => (isJsonObject(given) ? undefined : "must be an object of inputs")}
              described={{ "aria-invalid": faults.size > 0 || !isValid }}
            />
          ) : (
            <InputField spec={spec} value={inputs} pointer="" faults={faults} onChange={change} />
          )}
          {isJson || unmatched.length > 0 ? (
            <div role="alert">
              <ul className="text-bad">
                {(isJson ? [...faults] : unmatched).map(([pointer, words]) => (
                  <li key={pointer}>
                    <code className="font-mono text-[12px]">{pointer === "" ? "inputs" : pointer}</code>{" "}
                    {words.join(", ")}
                  </li>
                ))}
              </ul>
            </div>
          ) : null}
        </div>
        <label className="block">
          <span className="label">Name of this run (optional)</span>
          <input
            type="text"
            maxLength={200}
            className="field mt-0.5 w-full"
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
        </label>
        <section className="panel p-4" aria-label="Participants">
          <h3 className="font-semibold">Participants</h3>
          <ul className="mt-2 grid gap-2 sm:grid-cols-2">
            {schema.participants.map(({ agentRef, id, role }, index) => (
              <li key={id} className="flex items-center gap-2">
                <Avatar name={id} index={index} />
                <span className="min-w-0">
                  <span className="block truncate font-medium">
                    <UserText text={id} />
                  </span>
                  <span className="block truncate text-[12px] text-muted">
                    <UserText text={`${role}, ${agentRef}`} />
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
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Preview
          compiled={preview.data}
          refusal={preview.isError ? problemOf(preview.error, "").messages.join("; ") : undefined}
          isWorking={preview.isFetching || settled !== inputs}
        />
        {launch.isError ? <Failure what="The scenario was not launched" error={launch.error} /> : null}
        <button
          type="submit"
          className="btn btn-main h-9 self-start px-4"
          disabled={!isValid || launch.isPending || (launch.isSuccess && runId !== undefined)}
        >
          <Rocket size={15} aria-hidden /> {launch.isPending ? "Starting the agents…" : "Launch"}
        </button>
        {progress.isAsked ? <Steps steps={launchSteps(progress)} /> : null}
        {runId === undefined ? null : (
          <Link href={`/runs/${runId}`} className="self-start text-accent underline">
            Go to the run
          </Link>
        )}
        <CopyAs order={order} launcherUrl={launcherUrl} />
      </div>
    </form>
  )
}
