// Records the examples of the OpenAPI documents: plays a client of both services of a running stack, and keeps what
// they were asked and answered. Long lists are cut. Give the addresses of the two services of a stack that was started
// with THROTTLE_LIMIT=1000, and with packs (PACKS_DIR) whose policy.incident.balanced lets macp-control-plane commit:
// other identities may not suspend a session.
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import {
  beginningOf,
  book,
  fetched,
  type Json,
  keptMetrics,
  published,
  readStream,
  recorder,
  shortenedLines
} from "./recording.ts"

const [controlPlane = "http://127.0.0.1:3001", launcher = "http://127.0.0.1:3000"] = process.argv.slice(2)

const ENDED = ["completed", "failed", "cancelled"]
const SCENARIO = "incident/region-failover@1.0.0"

const books = { controlPlane: book(), launcher: book() }

const ask = recorder(controlPlane, books.controlPlane)
const launch = recorder(launcher, books.launcher)

const untilEnded = async (run: string) => {
  while (true) {
    const { value } = await fetched(controlPlane, "GET", `/runs/${run}`)
    if (ENDED.includes(value.status)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const untilStatus = async (run: string, wanted: string) => {
  while (true) {
    const { status } = (await fetched(controlPlane, "GET", `/runs/${run}`)).value
    if (status === wanted) return
    if (ENDED.includes(status)) throw new Error(`run ${run} is ${status} before it was seen ${wanted}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const inputs = { service: "checkout-api", replicationLagSeconds: 4, standby: { region: "north-2", warm: true } }

// Launch service.
await launch("getHealth", "GET", "/healthz")
await launch("getLiveness", "GET", "/livez")
await launch("getReadiness", "GET", "/readyz")
await launch("getMetrics", "GET", "/metrics", { cut: keptMetrics })
await launch("setLogLevel", "PUT", "/admin/log-level", { body: { level: "debug" } })
await launch("listPacks", "GET", "/packs")
await launch("listPackScenarios", "GET", "/packs/incident/scenarios")
await launch("listScenarios", "GET", "/scenarios")
await launch("listAgents", "GET", "/agents")
await launch("getAgent", "GET", "/agents/replication-agent")
await launch(
  "getLaunchSchema",
  "GET",
  "/packs/incident/scenarios/region-failover/versions/1.0.0/launch-schema?template=default"
)
const { runDescriptor } = await launch("compileLaunch", "POST", "/launch/compile", {
  body: { scenarioRef: SCENARIO, inputs }
})
const example = { scenarioRef: SCENARIO, inputs, tags: ["nightly"], runLabel: "nightly failover drill" }
const { sessionId: run } = await launch("runExample", "POST", "/examples/run", { body: example })
await launch("getLaunchQueue", "GET", "/examples/queue")
await launch("listProcesses", "GET", "/processes")
await untilStatus(run, "running")

/** Sends an agent with a model call as spans, and records the spans of their run. */
async function recordSpans() {
  const traceId = crypto.randomUUID().replaceAll("-", "")
  const now = BigInt(Date.now()) * 1_000_000n
  const span = (spanId: string, name: string, attributes: Record<string, string>, more: object) => ({
    traceId,
    spanId,
    name,
    startTimeUnixNano: `${now}`,
    endTimeUnixNano: `${now + 900_000_000n}`,
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    ...more
  })
  const agent = "eee19b7ec3c1b174"
  const spans = [
    span(agent, "invoke_agent", { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "risk-analyst" }, {}),
    span(
      "eee19b7ec3c1b175",
      "chat gpt-5.1",
      { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5.1" },
      { parentSpanId: agent }
    )
  ]
  await fetched(controlPlane, "POST", "/v1/traces", { resourceSpans: [{ scopeSpans: [{ spans }] }] })
  const list = `/runs?q=traceId:${traceId}%20status:completed`
  let { value: runs } = await fetched(controlPlane, "GET", list)
  while (runs.data.length === 0) {
    await new Promise((done) => setTimeout(done, 500))
    runs = (await fetched(controlPlane, "GET", list)).value
  }
  await ask("getRunSpans", "GET", `/runs/${runs.data[0].id}/spans`)
}

await ask("suspendRun", "POST", `/runs/${run}/suspend`, { body: { reason: "waiting for the operator" } })
const early = `/runs/${run}/export?includeRaw=true&eventLimit=1`
await ask("exportRun", "GET", early, { name: "bundle", summary: "format=json" })
await ask("exportRun", "GET", `${early}&format=jsonl`, {
  name: "lines",
  summary: "format=jsonl",
  cut: shortenedLines
})
await ask("resumeRun", "POST", `/runs/${run}/resume`, { body: { reason: "operator is back" } })
await untilEnded(run)
const { value: second } = await fetched(launcher, "POST", "/examples/run", {
  ...example,
  inputs: { ...inputs, replicationLagSeconds: 95 }
})
await untilEnded(second.sessionId)

// A run whose session is never opened does not advance, so its stream is short.
const descriptor = {
  ...runDescriptor,
  session: { ...runDescriptor.session, metadata: { ...runDescriptor.session.metadata, cancellationDelegated: true } },
  execution: { ...runDescriptor.execution, idempotencyKey: `failover-drill-${run.slice(0, 8)}` }
}
await ask("validateRun", "POST", "/runs/validate", { body: descriptor })
const { runId: waiting } = await ask("createRun", "POST", "/runs", { body: descriptor })
await untilStatus(waiting, "starting")
const live = await readStream(
  `${controlPlane}/runs/${waiting}/stream?afterSeq=0&heartbeatMs=1000`,
  (text) => text.includes("event: heartbeat") && text.endsWith("\n\n")
)
books.controlPlane["streamRun"] = {
  answers: {
    recorded: { contentType: "text/event-stream", summary: "A run that waits for its initiator", value: live }
  }
}
const { runId: unopened } = (
  await fetched(controlPlane, "POST", "/runs", {
    ...runDescriptor,
    execution: {},
    session: { ...runDescriptor.session, sessionId: crypto.randomUUID() }
  })
).value
await ask("abandonRun", "POST", `/runs/${unopened}/abandon`, {
  body: { reason: "agent incident-commander (commander-agent) exited (code=1)" }
})
await ask("cancelRun", "POST", `/runs/${waiting}/cancel`, { body: { reason: "operator request" } })

// Reading a run.
await ask("getRun", "GET", `/runs/${run}`)
await ask("listRuns", "GET", "/runs?limit=2")
await ask("listRuns", "GET", "/runs?q=status:(completed,failed)%20events:%3E10&sortBy=events&limit=1", {
  name: "search",
  summary: "A search, the runs with most events first"
})
await ask("getRunState", "GET", `/runs/${run}/state`)
await ask("getRunMetrics", "GET", `/runs/${run}/metrics`)
await ask("addArtifact", "POST", `/runs/${run}/artifacts`, {
  body: { kind: "report", label: "Post-mortem", uri: "https://example.org/reports/17" }
})
await ask("listArtifacts", "GET", `/runs/${run}/artifacts`)
await ask("listMessages", "GET", `/runs/${run}/messages`)
const { value: messages } = await fetched(controlPlane, "GET", `/runs/${run}/messages`)
await ask("getAcceptedMessage", "GET", `/runs/${run}/messages/${messages.at(-1).messageId}`)
await ask("getRunTraces", "GET", `/runs/${run}/traces`)
await recordSpans()
const { value: events } = await fetched(controlPlane, "GET", `/runs/${run}/events`)
await ask("listRunEvents", "GET", `/runs/${run}/events?limit=2`, {
  name: "array",
  summary: "With afterSeq and limit alone"
})
await ask("listRunEvents", "GET", `/runs/${run}/events?type=proposal.created,decision.finalized&limit=2`, {
  name: "page",
  summary: "With a filter"
})
await ask("listEvents", "GET", `/events?type=run.completed&limit=2`)
await ask("listEvents", "GET", `/events?q=type:run.completed%20OR%20sender:impact-analyst&limit=2`, {
  name: "search",
  summary: "A search for what no index finds"
})
await ask("listSearchFields", "GET", "/query/fields?resource=audit")
await ask("listModelCosts", "GET", "/pricing/models")
await ask("countRunFacets", "GET", "/runs/facets?fields=status,sourceRef,environment")
const [first, , third] = events
const replay = { mode: "instant", fromSeq: first.seq, toSeq: third.seq }
const { streamUrl } = await ask("prepareReplay", "POST", `/runs/${run}/replay`, { body: replay })
await ask("streamReplay", "GET", streamUrl, { cut: (text) => text })
await ask("followRunAsAgUi", "GET", `/runs/${run}/ag-ui?since=${third.seq}`, { cut: beginningOf })
await ask("runAsAgUi", "POST", `/runs/${run}/ag-ui?since=${third.seq}`, {
  body: { threadId: "thread-1", runId: "run-1" },
  cut: beginningOf
})
await ask("getReplayState", "GET", `/runs/${run}/replay/state?seq=${third.seq}`)
await ask("rebuildProjection", "POST", `/runs/${run}/projection/rebuild`)
await ask("compareRuns", "POST", "/runs/compare", { body: { leftRunId: run, rightRunId: second.sessionId } })

// What proves that a history is the one that was.
await ask("getRunSeal", "GET", `/runs/${run}/seal`)
await ask("getRunSalts", "GET", `/runs/${run}/salts?limit=2`)
await ask("getSealKeys", "GET", "/.well-known/runplane-keys.json")

// What is said about decisions.
const voted = events.find(({ type }: Json) => type === "proposal.updated")
await ask("getForecast", "GET", `/runs/${run}/forecast?atSeq=${voted.seq}`)
const why = `/runs/${run}/decision/why`
await ask("explainDecision", "GET", why, { name: "json", summary: "Accept: application/json" })
for (const [name, accept] of [
  ["markdown", "text/markdown"],
  ["html", "text/html"]
] as const) {
  await ask("explainDecision", "GET", why, {
    name,
    summary: `Accept: ${accept}`,
    headers: { accept },
    cut: (text: string) => text
  })
}
await ask("getDecisionCard", "GET", `/runs/${run}/decision/card`)
await ask("askWhatIf", "POST", `/runs/${run}/what-if`, {
  body: { policy: { rules: { voting: { algorithm: "unanimous" } } } }
})
await ask("getDivergence", "GET", `/runs/${run}/divergence?with=${second.sessionId}`)
await ask("backtestPolicy", "POST", "/policies/backtest", {
  body: {
    policy: { mode: "macp.mode.decision.v1", rules: { voting: { algorithm: "unanimous" } } },
    scope: { scenarioRef: "incident/", createdAfter: "2026-07-01", limit: 100 }
  },
  cut: (text: string) => text
})
await ask("getStability", "GET", "/stability?by=model&q=tags:example")
await ask("getOverview", "GET", "/dashboard/overview?window=1h")
await ask("listAgentMetrics", "GET", "/dashboard/agents/metrics")

// The runtime and its policies.
await ask("getRuntimeManifest", "GET", "/runtime/manifest")
await ask("listRuntimeModes", "GET", "/runtime/modes")
await ask("listRuntimeRoots", "GET", "/runtime/roots")
await ask("getRuntimeHealth", "GET", "/runtime/health")
await ask("registerPolicy", "POST", "/runtime/policies", {
  body: {
    policyId: "policy.incident.strict",
    mode: "macp.mode.decision.v1",
    description: "All voters must agree",
    rules: { voting: { algorithm: "unanimous" }, commitment: { authority: "initiator_only" } },
    schemaVersion: 3
  }
})
await ask("listPolicies", "GET", "/runtime/policies")
await ask("getPolicy", "GET", "/runtime/policies/policy.incident.strict")
await ask("unregisterPolicy", "DELETE", "/runtime/policies/policy.incident.strict")

// Views, and the log as a stream.
const { id: view } = await ask("createView", "POST", "/views", {
  body: {
    name: "Expensive and declined",
    resource: "runs",
    q: "outcome:negative cost:>0.5",
    columns: ["status", "cost"],
    sort: "cost desc"
  }
})
await ask("listViews", "GET", "/views?resource=audit")
await ask("updateView", "PATCH", `/views/${view}`, { body: { columns: ["status", "cost", "duration"] } })
await ask("deleteView", "DELETE", `/views/${view}`)

// Marks of the first run, and the definition of a name.
await ask("putMarkDefinition", "PUT", "/marks/definitions/quality", {
  body: { kind: "number", min: 0, max: 1, better: "higher", description: "How well the run was led" }
})
await ask("listMarkDefinitions", "GET", "/marks/definitions")
await ask("getMarkDefinition", "GET", "/marks/definitions/quality")
const newMark = {
  target: { kind: "decision" },
  name: "correct",
  value: true,
  comment: "the region stayed healthy",
  source: "api",
  idempotencyKey: "crm-4711"
}
const { id: mark } = await ask("addMark", "POST", `/runs/${run}/marks`, { body: newMark })
await ask("listRunMarks", "GET", `/runs/${run}/marks`)
await ask("listMarks", "GET", "/marks?q=name:correct&limit=1")
await fetched(controlPlane, "POST", `/runs/${run}/marks`, {
  ...newMark,
  source: "judge",
  judge: { name: "strict" },
  idempotencyKey: "strict-4711"
})
await fetched(controlPlane, "POST", `/runs/${run}/marks`, { ...newMark, source: "human", idempotencyKey: "ann-4711" })
await ask("getMarkAgreement", "GET", "/marks/agreement?name=correct")
await ask("listAgentRecords", "GET", "/agents/records")
await ask("getAgentRecord", "GET", `/agents/${voted.data.sender}/record`)
// Committees, over some claims that a committee has decided, each a case of its own.
const CLAIMS = 8
const CLAIM_SCENARIO = "support/refund-claim@1.0.0"
for (let claim = 1; claim <= CLAIMS; claim++) {
  const receiptShown = claim % 2 === 1
  const claimInputs = { claimId: `CLM-${claim}`, daysSincePurchase: receiptShown ? 12 : 55, receiptShown }
  const started = { scenarioRef: CLAIM_SCENARIO, inputs: claimInputs }
  const { sessionId } = (await fetched(launcher, "POST", "/examples/run", started)).value
  await untilEnded(sessionId)
  const right = receiptShown ? "decision.selected" : "decision.rejected"
  await fetched(controlPlane, "POST", `/runs/${sessionId}/marks`, { ...newMark, value: right })
}
const ofClaims = `q=scenario:${CLAIM_SCENARIO}`
while (true) {
  const { value } = await fetched(controlPlane, "GET", `/committees/independence?${ofClaims}`)
  if (value.data[0]?.truth.withTruth === CLAIMS) break
  await new Promise((resolve) => setTimeout(resolve, 100))
}
await ask("getCommitteeIndependence", "GET", `/committees/independence?${ofClaims}`)
await ask("getCommitteeSeats", "GET", `/committees/seats?${ofClaims}`)
await ask("searchCommittee", "POST", "/committees/search", {
  body: { q: `scenario:${CLAIM_SCENARIO}`, keepAgreement: 0.2, alpha: 0.9 }
})
await ask("deleteMark", "DELETE", `/runs/${run}/marks/${mark}`)
await ask("deleteMarkDefinition", "DELETE", "/marks/definitions/quality")
const enough = (text: string) => text.split("event: canonical_event").length > 2
const log = await readStream(`${controlPlane}/events/stream?afterSeq=0&types=run.completed`, enough)
books.controlPlane["streamEvents"] = {
  answers: { recorded: { contentType: "text/event-stream", value: log.slice(0, log.lastIndexOf("\n\n") + 2) } }
}

// Webhooks: the address has no listener, so the delivery waits for its next attempt.
const webhook = {
  url: "http://127.0.0.1:9/hooks/runs",
  events: ["run.cancelled"],
  secret: "correct horse battery staple"
}
const { id: hook } = await ask("createWebhook", "POST", "/webhooks", { body: webhook })
const { runId: hooked } = (await fetched(controlPlane, "POST", `/runs/${waiting}/clone`, {})).value
await fetched(controlPlane, "POST", `/runs/${hooked}/cancel`, {})
let deliveries: Json
do {
  deliveries = await ask("listDeliveries", "GET", `/webhooks/${hook}/deliveries`)
} while (deliveries.data[0]?.errorMessage === undefined)
await ask("redeliver", "POST", `/webhooks/${hook}/deliveries/${deliveries.data[0].id}/redeliver`)
await ask("testWebhook", "POST", `/webhooks/${hook}/test`)
await ask("listWebhooks", "GET", "/webhooks")
await ask("updateWebhook", "PATCH", `/webhooks/${hook}`, { body: { active: false } })
await ask("deleteWebhook", "DELETE", `/webhooks/${hook}`)

// Managing runs.
const { runId: clone } = await ask("cloneRun", "POST", `/runs/${waiting}/clone`, { body: { tags: ["retry"] } })
await ask("cancelRuns", "POST", "/runs/batch/cancel", { body: { runIds: [clone, run] } })
await ask("archiveRuns", "POST", "/runs/batch/archive", { body: { runIds: [clone] } })
await ask("unarchiveRuns", "POST", "/runs/batch/unarchive", { body: { runIds: [clone] } })
await ask("exportRuns", "POST", "/runs/batch/export", { body: { runIds: [clone] } })
await ask("deleteRuns", "POST", "/runs/batch/delete", { body: { runIds: [clone, second.sessionId] } })
await ask("listTombstones", "GET", "/runs/tombstones?limit=2")
await ask("listLedger", "GET", "/ledger?limit=2")
await ask("archiveRun", "POST", `/runs/${run}/archive`)
await ask("unarchiveRun", "POST", `/runs/${run}/unarchive`)

// Erasures, as dry runs: nothing of the other examples is erased.
const erasure = { find: "writes would be lost", reason: "request 4711 of the person", dryRun: true }
await ask("eraseFromRun", "POST", `/runs/${run}/erasures`, { body: erasure })
const { id: erasureId } = await ask("eraseFromRuns", "POST", "/erasures", {
  body: { ...erasure, query: `id:${run}` }
})
let job: Json
do {
  job = await ask("getErasure", "GET", `/erasures/${erasureId}`)
} while (job.state !== "done")
await ask("listErasures", "GET", "/erasures")

// Operation.
await ask("listAuditEntries", "GET", "/audit?limit=2&action=run.cancel")
await ask("getCircuitBreakerHistory", "GET", "/admin/circuit-breaker/history")
await ask("resetCircuitBreaker", "POST", "/admin/circuit-breaker/reset")
await ask("getProcess", "GET", "/admin/process")
await ask("listProcesses", "GET", "/admin/processes")
await ask("getArchive", "GET", "/admin/archive")
await ask("getIngest", "GET", "/admin/ingest")
await ask("getDriftReport", "GET", "/admin/runtime/sessions")
await ask("getHealth", "GET", "/healthz")
await ask("getLiveness", "GET", "/livez")
await ask("getReadiness", "GET", "/readyz")
await ask("setLogLevel", "PUT", "/admin/log-level", { body: { level: "debug" } })
await ask("getMetrics", "GET", "/metrics", { cut: keptMetrics })

for (const [file, kept] of [
  ["control-plane", books.controlPlane],
  ["launcher", books.launcher]
] as const) {
  const target = fileURLToPath(new URL(`../document/examples/${file}.json`, import.meta.url))
  writeFileSync(target, `${published(JSON.stringify(kept, null, 2))}\n`)
}
