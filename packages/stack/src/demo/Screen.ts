import type { CanonicalEvent, RunMetrics, RunState } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Addresses } from "../Stack.ts"
import { DEMO_SCENARIO, type DemoResult } from "./Demo.ts"
import { narrate } from "./Narration.ts"
import { describeOutcome, seconds } from "./Outcome.ts"
import { plainText } from "./PlainText.ts"

/** How text is drawn: with colours on a terminal, without them into a file or a pipe. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

const escaped = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`
const same = (text: string) => text

/** https://no-color.org is respected. */
export const styleFor = (stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style =>
  stream.isTTY === true && (env["NO_COLOR"] ?? "") === ""
    ? { bold: escaped(1, 22), dim: escaped(2, 22) }
    : { bold: same, dim: same }

const HEADING_WIDTH = 16
const WHO_WIDTH = 20

const row = (heading: string, text: string) => `  ${heading.padEnd(HEADING_WIDTH)} ${text}`

/** Where everything listens. */
export const showAddresses = (addresses: Addresses, { bold }: Style) =>
  Console.log(
    [
      bold("Runplane is running"),
      row("PostgreSQL", addresses.database),
      ...(addresses.authUrl === undefined ? [] : [row("auth service", addresses.authUrl)]),
      row("runtime", addresses.runtime),
      row("control plane", addresses.controlPlaneUrl),
      row("launch service", addresses.launcherUrl),
      ...policyRows(addresses)
    ].join("\n")
  )

/** How many of the packs' policies the runtime has, and why it has not the others. */
const policyRows = ({ policies }: Addresses) => {
  if (policies.length === 0) return []
  const missing = policies.flatMap((outcome) => (outcome.state === "registered" ? [] : [outcome]))
  const count = policies.length - missing.length
  return [
    row("policies", missing.length === 0 ? `${count} registered` : `${count} of ${policies.length} registered`),
    ...missing.map(({ policy, reason, state }) => row("", plainText(`${policy} ${state}: ${reason}`)))
  ]
}

export const showDemoStart = ({ bold }: Style) => Console.log(`\n${bold(`Example run of ${DEMO_SCENARIO}`)}`)

/** Prints an event as a line, with the seconds since the first one. */
export const makeEventPrinter = ({ bold, dim }: Style) => {
  let first: number | undefined
  return (event: CanonicalEvent) =>
    Effect.suspend(() => {
      const at = Date.parse(event.ts)
      first ??= at
      const line = narrate(event)
      if (line === undefined) return Effect.void
      const draw = { high: bold, normal: same, low: dim }[line.weight]
      const time = `${seconds(at - first).padStart(6)} s`
      return Console.log(`${dim(time)}  ${line.who.padEnd(WHO_WIDTH)} ${draw(line.what)}`)
    })
}

export const showOutcome = (state: RunState, metrics: RunMetrics, { bold }: Style) => {
  const rows = describeOutcome(state, metrics).map(([heading, text]) => row(heading, text))
  return Console.log(`\n${bold("Outcome")}\n${rows.join("\n")}`)
}

/** Scenario and inputs with which the bridge stops the failover: the veto is worth a look, too. */
const VETO_SCENARIO = "incident/region-failover@1.1.0"
const COLD_STANDBY = { replicationLagSeconds: 95, standby: { region: "north-2", warm: false } }

/** What to open and what to try next. */
export const showNextSteps = ({ runId }: DemoResult, addresses: Addresses, { bold }: Style) => {
  const { controlPlaneUrl, keyed, launcherUrl } = addresses
  const key = keyed ? ' -H "authorization: Bearer $KEY"' : ""
  const launcherKey = keyed ? ' -H "x-api-key: $KEY"' : ""
  const body = JSON.stringify({ scenarioRef: VETO_SCENARIO, inputs: COLD_STANDBY })
  return Console.log(
    [
      "",
      bold("Look at"),
      ...(addresses.console ? [row("console", `${controlPlaneUrl}/console/runs/${runId}`)] : []),
      row("state", `${controlPlaneUrl}/runs/${runId}/state`),
      row("events", `${controlPlaneUrl}/runs/${runId}/events`),
      row("metrics", `${controlPlaneUrl}/metrics`),
      ...(addresses.docs ? [row("API", `${controlPlaneUrl}/docs`)] : []),
      row("scenarios", `${launcherUrl}/scenarios`),
      "",
      bold("Try"),
      `  curl -N${key} '${controlPlaneUrl}/runs/${runId}/stream?afterSeq=0'`,
      `  curl${key} '${controlPlaneUrl}/runs?sortOrder=desc&limit=5'`,
      `  curl${launcherKey} -H 'content-type: application/json' ${launcherUrl}/examples/run -d '${body}'`
    ].join("\n")
  )
}

export const showServing = ({ dim }: Style) => Console.log(`\n${dim("Serving; Ctrl-C stops everything.")}`)
