import { plainText, row, type Style } from "@runplane/cli"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { Addresses, ConsoleState } from "../Stack.ts"
import { DEMO_SCENARIO, type DemoResult } from "./Demo.ts"
import type { Question } from "./Question.ts"

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
      ...telemetryRows(addresses),
      row("packs", addresses.packs),
      ...policyRows(addresses)
    ].join("\n")
  )

/** Where exporters send to. */
const telemetryRows = ({ controlPlaneUrl, ingest }: Addresses) =>
  ingest === undefined
    ? []
    : [
        row("OpenTelemetry", `OTEL_EXPORTER_OTLP_ENDPOINT=${controlPlaneUrl}`),
        row("", ingest.grpc.startsWith("off") ? `gRPC ${ingest.grpc}` : `or by gRPC http://${ingest.grpc}`)
      ]

/** The number of registered policies, and the reason for each missing one. */
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

/** Why there is no example run. */
export const showNoExample = (reason: string) => Console.log(`\nNo example run: ${reason}`)

/** Scenario and inputs with which the bridge stops the failover by its veto. */
const VETO_SCENARIO = "incident/region-failover@1.1.0"
const COLD_STANDBY = { replicationLagSeconds: 95, standby: { region: "north-2", warm: false } }

/** What to open and what to try next. */
export const showNextSteps = Effect.fnUntraced(function* (
  { runId }: DemoResult,
  addresses: Addresses,
  { bold }: Style
) {
  const { controlPlaneUrl, keyed, launcherUrl } = addresses
  const console = yield* addresses.console
  const key = keyed ? ' -H "authorization: Bearer $KEY"' : ""
  const launcherKey = keyed ? ' -H "x-api-key: $KEY"' : ""
  const body = JSON.stringify({ scenarioRef: VETO_SCENARIO, inputs: COLD_STANDBY })
  yield* Console.log(
    [
      "",
      bold("Look at"),
      ...consoleRows(console, `${controlPlaneUrl}/console/runs/${runId}`),
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
})

const consoleRows = (console: ConsoleState, page: string) => {
  switch (console) {
    case "served":
      return [row("console", page)]
    case "building":
      return [row("console", page), row("", "it is being built, and the page reloads itself until then")]
    case "failed":
      return [row("console", "could not be built; the services run without it")]
    case "absent":
      return []
  }
}

/** The question that waits for a person. */
export const showQuestion = (question: Question, { launcherUrl }: Addresses, { bold }: Style) => {
  switch (question._tag) {
    case "Absent":
      return Effect.void
    case "NoDatabase":
      return Console.log("\nNo question to a person: LAUNCHER_DATABASE_URL is not set")
    case "Failed":
      return Console.error(`runplane: the example with a person has no question yet: ${plainText(question.reason)}`)
    case "Open": {
      const { item, title } = question
      const about = title === undefined ? [] : [row("question", plainText(title))]
      const address = row("answer", `${launcherUrl}/inbox/${item}`)
      return Console.log(["", bold("One question waits for you"), ...about, address].join("\n"))
    }
  }
}

export const showServing = ({ dim }: Style) => Console.log(`\n${dim("Serving; Ctrl-C stops everything.")}`)
