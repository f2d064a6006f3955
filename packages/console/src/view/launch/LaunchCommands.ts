import type * as Schema from "effect/Schema"

/** The parameters of a launch. */
export interface LaunchOrder {
  readonly scenarioRef: string
  readonly templateId: string | undefined
  readonly inputs: Schema.JsonObject
  readonly runLabel: string | undefined
  /** The run that it repeats. */
  readonly againOf?: string | undefined
}

/** A text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The body of the request. */
export const launchBody = ({ againOf, inputs, runLabel, scenarioRef, templateId }: LaunchOrder) => ({
  scenarioRef,
  ...(templateId !== undefined && { templateId }),
  inputs,
  bootstrapAgents: true,
  ...(runLabel !== undefined && { runLabel }),
  ...(againOf !== undefined && { againOf })
})

/** With curl; the key is named, not written, so that it does not end in a history. */
export const curlOf = (order: LaunchOrder, launcherUrl: string, needsKey: boolean): string =>
  [
    `curl ${quoted(`${launcherUrl}/examples/run`)}`,
    ...(needsKey ? [`-H "x-api-key: $RUNPLANE_API_KEY"`] : []),
    `-H 'content-type: application/json'`,
    `-d ${quoted(JSON.stringify(launchBody(order)))}`
  ].join(" \\\n  ")

/** With the command line of Runplane. It has no label for a run. */
export const commandOf = ({ inputs, scenarioRef, templateId }: LaunchOrder, launcherUrl: string): string =>
  [
    `runplane --launcher-url ${quoted(launcherUrl)} launch ${quoted(scenarioRef)}`,
    ...(templateId === undefined ? [] : [`--template ${quoted(templateId)}`]),
    ...Object.entries(inputs).map(([name, value]) => `-i ${quoted(`${name}=${inputText(value)}`)}`),
    "--watch"
  ].join(" \\\n  ")

/** A text that would be read as JSON is written as JSON. */
const inputText = (value: Schema.Json): string => {
  if (typeof value !== "string") return JSON.stringify(value)
  try {
    JSON.parse(value)
    return JSON.stringify(value)
  } catch {
    return value
  }
}

/** With the typed client for TypeScript. */
export const clientOf = (order: LaunchOrder, launcherUrl: string, needsKey: boolean): string => {
  const key = needsKey ? `, apiKey: process.env["RUNPLANE_API_KEY"] ?? ""` : ""
  const written = JSON.stringify(launchBody(order), undefined, 2)
  return `import { createLauncher } from "@runplane/client"

const launcher = createLauncher({ baseUrl: ${JSON.stringify(launcherUrl)}${key} })
const { controlPlaneRun } = await launcher.call("runExample", {
  body: ${written.replaceAll("\n", "\n  ")}
})
console.log(controlPlaneRun?.runId)
`
}
