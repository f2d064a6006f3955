// The client of @a2a-js/sdk, unmodified, against Runplane: both bindings, a stream, a list, an unknown task.
import { randomUUID } from "node:crypto"

const [url, sdk] = process.argv.slice(2)
const { ClientFactory } = await import(sdk)
const INPUTS = { severity: "sev2", errorRatePercent: 12.5, replicationLagSeconds: 4, customerFacing: true }

const must = (isTrue, what) => {
  if (!isTrue) throw new Error(what)
}

const request = () => ({
  message: {
    messageId: randomUUID(),
    contextId: "",
    taskId: "",
    role: 1,
    parts: [{ content: { $case: "data", value: INPUTS }, metadata: undefined, filename: "", mediaType: "" }],
    metadata: { skill: "incident/region-failover" },
    extensions: [],
    referenceTaskIds: []
  },
  configuration: undefined,
  metadata: undefined,
  tenant: ""
})

const client = await new ClientFactory().createFromUrl(url)
const answer = await client.sendMessage(request())
const names = answer.artifacts.map(({ name }) => name).join(", ")
must(names === "decision, receipt, seal", `the artifacts are ${names}`)
const kinds = []
for await (const { payload } of client.sendMessageStream(request())) kinds.push(payload?.$case)
must(kinds[0] === "task" && kinds.at(-1) === "statusUpdate", `the stream has ${kinds}`)
must(kinds.filter((kind) => kind === "artifactUpdate").length === 3, `the stream has ${kinds}`)
const task = await client.getTask({ id: answer.id, tenant: "", historyLength: undefined })
must(task.id === answer.id, "the task is another one")
const unknown = await client.getTask({ id: randomUUID(), tenant: "", historyLength: undefined }).then(
  () => undefined,
  (error) => error
)
must(unknown?.constructor?.name?.includes("TaskNotFound"), `an unknown task is ${unknown}`)
process.stdout.write(`javascript: ${kinds.length} objects of a stream\n`)
