import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { settingNames, unknownSettings } from "@runplane/server"
import { type Block, blocksOf, documents, faultsIn, variablesIn } from "../support/DocumentBlocks.ts"

const ROOT = join(import.meta.dirname, "../../../..")
const read = (path: string) => readFileSync(join(ROOT, path), "utf8")

/** The test that runs each block as printed; it names the document. */
const RUN_BY: Readonly<Record<string, string>> = {
  "docs/reference/a2a.md: a2a:": "packages/launcher/test/remote/RemoteDocument.test.ts",
  "docs/reference/analytics.md: CREATE VIEW tombstones AS SELECT * FROM file('ARCHIVE/tombstones/*/*.parquet', Parquet, 'run_id String');":
    "packages/stack/test/Analytics.fault.test.ts",
  "docs/reference/analytics.md: SELECT toStartOfWeek(ts, 1) AS week, model, sum(calls) AS calls, sum(toInt64(round(cost_usd * 1e9))) / 1e9 AS usd":
    "packages/stack/test/Analytics.fault.test.ts",
  "docs/reference/analytics.md: WITH outcome AS (": "packages/stack/test/Analytics.fault.test.ts",
  "docs/reference/analytics.md: SELECT scenario_ref, count() AS runs, round(quantileExactInclusive(0.95)(duration_ms)) AS p95":
    "packages/stack/test/Analytics.fault.test.ts",
  "docs/reference/analytics.md: SELECT rule, count() AS denials, uniqExact(run_id) AS runs FROM (":
    "packages/stack/test/Analytics.fault.test.ts",
  'docs/reference/clients.md: import { createControlPlane, createLauncher } from "@runplane/client"':
    "scripts/test-packages.mjs",
  "docs/reference/clients.md: from runplane import ControlPlane, Launcher": "scripts/packages/python.mjs",
  "docs/reference/clients.md: content_type_overrides:": "scripts/packages/receivers.mjs",
  "docs/reference/clients.md: from run_control_plane_client import Client": "scripts/packages/receivers.mjs",
  "docs/reference/clients.md: for service in control-plane launcher; do": "scripts/test-clients.mjs",
  "docs/reference/clients.md: import dev.runplane.controlplane.api.EventsApi;": "scripts/test-clients.mjs",
  "docs/reference/clients.md: package main": "scripts/test-clients.mjs",
  'docs/reference/clients.md: import { createServer } from "node:http"': "scripts/packages/receivers.mjs",
  "docs/reference/clients.md: import os": "scripts/packages/receivers.mjs",
  'docs/guides/opentelemetry/plain.md: import { type Span, SpanStatusCode, trace } from "@opentelemetry/api"':
    "packages/control-plane/test/features/ingest/Guides.integration.test.ts",
  'docs/guides/opentelemetry/decisions.md: import { type Attributes, trace } from "@opentelemetry/api"':
    "packages/control-plane/test/features/ingest/Guides.integration.test.ts",
  "docs/guides/consensus.md: from typing import TypedDict": "packages/stack/test/clients/Clients.runtime.test.ts",
  "docs/guides/consensus.md: import asyncio": "packages/stack/test/clients/Clients.runtime.test.ts",
  "docs/guides/a2a.md: import asyncio": "scripts/test-a2a.mjs",
  'docs/guides/a2a-voter.md: import { readFileSync } from "node:fs"': "scripts/a2a/participants.mjs",
  "docs/guides/a2a-voter.md: import json": "scripts/a2a/participants.mjs",
  "docs/guides/mcp.md: import asyncio": "packages/control-plane/test/features/mcp/McpAnswers.integration.test.ts",
  "docs/guides/ci.md: name: gate": "packages/cli/test/gate/CiGuide.test.ts",
  "docs/guides/ci.md: gate:": "packages/cli/test/gate/CiGuide.test.ts",
  "docs/reference/deploy.md: [Unit]": "scripts/rehearse-deploy.mjs",
  "docs/reference/deploy.md: upstream control-planes {":
    "packages/console/test/browser/proxies/TeamProxy.browser.test.ts",
  "docs/reference/deploy.md: location /runplane/ {": "packages/console/test/browser/Prefix.browser.test.ts",
  "docs/reference/operations.md: global:": "scripts/test-monitoring.mjs",
  "docs/reference/operations.md: SELECT pid, state, age(now(), xact_start), query FROM pg_stat_activity":
    "scripts/rehearse-deploy.mjs",
  "docs/reference/packs.md: apiVersion: scenarios.macp.dev/v1":
    "packages/launcher/test/author/Packs.integration.test.ts",
  "docs/reference/packs.md: mkdir team-packs && cd team-packs": "scripts/packages/packs.mjs",
  "docs/reference/packs.md: printf '.data/\\nnode_modules/\\n*.tgz\\n' > .gitignore": "scripts/packages/packs.mjs",
  "docs/reference/packs.md: mkdir packs && cp -R node_modules/team-packs/packs/. packs/": "scripts/packages/packs.mjs",
  "docs/reference/packs.md: - id: my-team-budget": "packages/launcher/test/control-plane/AlertRegistration.test.ts",
  "docs/reference/packs.md: contextTemplate:": "packages/launcher/test/author/Packs.integration.test.ts",
  "docs/reference/packs.md: participants: !include ../../../../_shared/participants/panel.yaml":
    "packages/launcher/test/author/Packs.integration.test.ts",
  "docs/reference/packs.md: metadataTemplate:": "packages/launcher/test/author/Packs.integration.test.ts",
  "docs/reference/packs.md: shadows:": "packages/stack/test/Shadows.fault.test.ts",
  "docs/reference/shadows.md: spec:": "packages/stack/test/Shadows.fault.test.ts",
  "docs/reference/people.md: people:": "packages/launcher/test/author/PeopleLint.test.ts",
  "docs/reference/people.md: # people.yaml": "packages/launcher/test/author/PeopleLint.test.ts",
  "docs/reference/seal.md: CREATE ROLE runplane_service LOGIN PASSWORD '...';":
    "packages/control-plane/test/queries/seals/DatabaseRole.integration.test.ts",
  "packs/README.md: import json, os, time": "packages/launcher/test/author/Packs.integration.test.ts",
  'scripts/build/readme/contracts.md: import controlPlane from "@runplane/contracts/openapi/control-plane.json" with { type: "json" }':
    "scripts/test-packages.mjs",
  'scripts/build/readme/domain.md: import { decodeEvent, emptyRunState, project } from "@runplane/domain"':
    "scripts/test-packages.mjs"
}

/** Their pages name the versions that they were tried with. */
const BY_HAND = "needs packages of another registry or framework; tried by hand"

const CLIENTS = "needs packages of PyPI; packages/stack/test/clients/Clients.runtime.test.ts runs the programs"

/** The blocks without a test, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "docs/guides/consensus.md: python3 -m venv agents": CLIENTS,
  "docs/guides/consensus.md: agents/bin/python graph.py": CLIENTS,
  "docs/guides/consensus.md: agents/bin/python subagents.py": CLIENTS,
  'docs/guides/a2a-voter.md: cd "$CHECKOUT" && PACKS_DIR="$OLDPWD/packs" npm start':
    "starts services on the ports of the guides; scripts/a2a/participants.mjs starts them on others",
  "docs/guides/ag-ui.md: npm init -y && npm pkg set type=module": BY_HAND,
  "docs/guides/ag-ui.md: <!doctype html>": BY_HAND,
  'docs/guides/ag-ui.md: import { HttpAgent } from "@ag-ui/client"': BY_HAND,
  'docs/guides/ag-ui.md: import react from "@vitejs/plugin-react"': BY_HAND,
  "docs/reference/archive.md: events/dt=2026-11-26/main-0000000000000001-0000000000020000.parquet":
    "names of files; packages/domain/test/archive checks their form",
  'docs/reference/operations.md: runplane="docker compose -f docker/compose.yaml run --rm --no-deps --user $(id -u):$(id -g) --volume $PWD:/backup"':
    "needs containers; tried by hand",
  "docs/reference/archive.md: SELECT * FROM read_parquet('runs/*/*.parquet')": BY_HAND,
  "docs/internals/inside.md: runtime (gRPC)      OpenTelemetry (HTTP, gRPC)     people, judges          the clock":
    "a picture",
  "docs/guides/opentelemetry/agent-framework.md: import asyncio": BY_HAND,
  'docs/guides/opentelemetry/ai-sdk.md: import { openai } from "@ai-sdk/openai"': BY_HAND,
  "docs/guides/opentelemetry/collector.md: receivers:": BY_HAND,
  "docs/guides/opentelemetry/collector.md: exporters:": BY_HAND,
  "docs/guides/opentelemetry/crewai.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/decisions.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/dspy.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/google-adk.md: import asyncio": BY_HAND,
  "docs/guides/opentelemetry/langgraph.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/openai-agents.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/plain.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/pydantic-ai.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/agno.md: import telemetry": BY_HAND,
  'docs/guides/opentelemetry/claude-agent-sdk.md: import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"':
    BY_HAND,
  "docs/guides/opentelemetry/claude-agent-sdk.md: export CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp OTEL_LOG_TOOL_DETAILS=1":
    BY_HAND,
  "docs/guides/opentelemetry/haystack.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/langfuse.md: from langfuse import get_client, observe": BY_HAND,
  "docs/guides/opentelemetry/langfuse.md: export LANGFUSE_BASE_URL=http://127.0.0.1:3001 LANGFUSE_PUBLIC_KEY=any LANGFUSE_SECRET_KEY=KEY":
    BY_HAND,
  "docs/guides/opentelemetry/langsmith.md: from langchain.agents import create_agent": BY_HAND,
  "docs/guides/opentelemetry/langsmith.md: export LANGSMITH_TRACING=true LANGSMITH_OTEL_ENABLED=true LANGSMITH_OTEL_ONLY=true LANGSMITH_API_KEY=any":
    BY_HAND,
  "docs/guides/opentelemetry/litellm.md: import litellm": BY_HAND,
  "docs/guides/opentelemetry/litellm.md: model_list:": BY_HAND,
  'docs/guides/opentelemetry/mastra.md: import { Agent } from "@mastra/core/agent"': BY_HAND,
  "docs/guides/opentelemetry/mlflow.md: import json": BY_HAND,
  'docs/guides/opentelemetry/openai-agents-js.md: import { Agent, Runner, tool } from "@openai/agents"': BY_HAND,
  "docs/guides/opentelemetry/phoenix.md: from openai import OpenAI": BY_HAND,
  "docs/guides/opentelemetry/phoenix.md: export PHOENIX_COLLECTOR_ENDPOINT=http://127.0.0.1:3001 PHOENIX_API_KEY=KEY":
    BY_HAND,
  "docs/guides/opentelemetry/semantic-kernel.md: import telemetry": BY_HAND,
  "docs/guides/opentelemetry/semantic-kernel.md: export SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS=true":
    BY_HAND,
  "docs/guides/opentelemetry/setup.md: from opentelemetry import trace": BY_HAND,
  'docs/guides/opentelemetry/setup.md: import { NodeSDK } from "@opentelemetry/sdk-node"': BY_HAND,
  'docs/reference/alerts.md: {"id": "person.silent", "name": "person.silent", "measure": "personSilent", "per": "run", "window": "run",':
    "two bodies; a test of the records of people sends the second",
  'docs/reference/alerts.md: {"id": "support-budget", "name": "Budget of support", "match": "environment:production",':
    "a body; the tests of alerts send the same fields",
  "docs/reference/analytics.md: CREATE TABLE events_copy ENGINE = ReplacingMergeTree ORDER BY (run_id, index) AS SELECT * FROM events;":
    "a copy in ClickHouse; tried by hand in chdb",
  "docs/reference/analytics.md: CREATE TABLE hive.runplane.event_files (seq bigint, run_id varchar, ts timestamp(3), type varchar, sender varchar,":
    "needs a server of Trino; tried by hand with its version 476",
  "docs/reference/analytics.md: SELECT scenario_ref, runs, round(v[i] + (at - i) * (v[least(i + 1, cardinality(v))] - v[i])) AS p95":
    "needs a server of Trino; tried by hand with its version 476",
  "docs/reference/analytics.md: SET spark.sql.session.timeZone = UTC;":
    "needs Spark; tried by hand with its version 4.3",
  "docs/reference/gate.md: cases:": "a case file, as packs/incident/gate.yaml; played by hand",
  "docs/reference/evidence.md: python3 verify.py CASE.evidence.zip --keys runplane-keys.json [--min-chain 2] [--allow-unproven]":
    "the usage; the tests of evidence and its guide run it",
  'docs/reference/marks.md: {"target": {"kind": "decision"}, "name": "correct", "value": false, "comment": "the region stayed healthy",':
    "a body; the tests of marks send the same fields",
  'docs/reference/marks.md: {"kind": "number", "min": 0, "max": 1, "better": "higher", "description": "How well the run was led"}':
    "a body; the tests of marks send the same fields",
  'docs/reference/marks.md: {"target": {"kind": "run"}, "name": "comment", "value": true, "comment": "we saw this on Monday too", "source": "human"}':
    "a body; the tests of marks send the same fields",
  "docs/reference/deploy.md: POST /tokens": "the request to an auth service",
  'docs/reference/deploy.md: {"token": "...", "expires_in_seconds": 3600}': "the answer of an auth service",
  "README.md: Example run of incident/region-failover@1.0.0": "the output of npm start",
  "README.md: you        Why did the last run decide as it did?":
    "a conversation; the answers are those of the example run",
  "README.md: scenario + inputs --> launch service :3000 -- starts --> agents": "a picture of the parts",
  "README.md: from macp_sdk import AuthConfig, DecisionSession, MacpClient": "needs the SDK of PyPI; tested by hand",
  'docs/reference/ingest.md: with trace.get_tracer("app").start_as_current_span("answer-ticket"):':
    "needs the SDK of PyPI; tested by hand",
  'docs/reference/seal.md: m0 = SHA-256("runplane-marks-v1\\n" + runId)': "a formula",
  'docs/reference/seal.md: h0 = SHA-256("runplane-seal-v2\\n" + runId)': "a formula",
  'docs/reference/erasure.md: {"find": "Ann Lee", "reason": "request 4711", "dryRun": true}':
    "two bodies of requests; packages/control-plane/test/features/erasure sends such ones",
  'docs/reference/seal-format.md: disclosure = base64url(["<salt>","<pointer>",<text of the value>])': "a formula",
  'docs/reference/seal-format.md: e0 = SHA-256("runplane-erasures-v1\\n" + runId)': "a formula",
  "packs/README.md: <pack>/pack.yaml": "a picture of folders",
  "packs/README.md: npm run packs -- validate packs/my-team/scenarios/team-decision/1.0.0": "a command and its output",
  'docs/guides/README.md: alias runplane="$CHECKOUT/node_modules/.bin/node $CHECKOUT/packages/stack/src/runplane/main.ts"':
    "an alias for a reader's own shell; the test of the guides has a command instead",
  'docs/guides/mcp.md: claude mcp add --transport http runplane http://127.0.0.1:3001/mcp --header "Authorization: Bearer $RUNPLANE_API_KEY"':
    "needs Claude Code; tried by hand with its version 2",
  "docs/guides/deploy.md: createuser --pwprompt runplane":
    "needs a PostgreSQL of the machine; scripts/rehearse-deploy.mjs",
  "docs/guides/operating.md: runplane backup runplane.backup":
    "needs a second database; scripts/rehearse-deploy.mjs, and packages/stack/test/support/LocalCommands.ts",
  "docs/guides/upgrade.md: runplane backup before-upgrade.backup": "scripts/rehearse-deploy.mjs backs up a database",
  "docs/guides/upgrade.md: git pull --ff-only && npm start": "needs two releases of the repository",
  "docs/guides/upgrade.md: docker build -f docker/Dockerfile -t runplane .": "needs a daemon of Docker",
  "docs/guides/upgrade.md: runplane migrate": "scripts/rehearse-deploy.mjs migrates, and restarts processes in turn",
  "docs/guides/upgrade.md: helm upgrade runplane docker/helm/runplane --reuse-values": "needs a cluster of Kubernetes",
  "docs/guides/upgrade.md: createdb --owner runplane runplane_before": "scripts/rehearse-deploy.mjs restores a backup",
  "docker/README.md: Dockerfile               one image: control-plane, launcher, sandbox, all-in-one, and each command of `runplane`":
    "a picture of folders",
  "scripts/build/readme/contracts.md: openapi/control-plane.json     the run control plane": "a picture of folders"
}

/** Lines of a shell or of an environment. */
const SHELL =
  /^(?:npm|npx|node|node_modules\/\.bin\/node|curl|runplane|docker|amtool|createdb|createuser|pip|cargo|git|journalctl|openssl|openapi-generator-cli|openapi-python-client|vitest|[A-Z][A-Z0-9_]*=|-[dHN] )/

const documented = (service: string): ReadonlyArray<string> =>
  Object.keys(JSON.parse(read(`packages/api/openapi/${service}.json`)).paths)

const patterns = [...documented("control-plane"), ...documented("launcher")].map(
  (path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
)
/** Paths of other protocols and of other programs: of A2A, a receiver, an issuer, a claim. */
const FOREIGN_PATHS = new Set([
  "/a2a",
  "/.well-known/agent-card.json",
  "/hook",
  "/realms/company",
  "/roles",
  "/runplane"
])
const isPath = (path: string) =>
  path === "/" || FOREIGN_PATHS.has(path) || patterns.some((pattern) => pattern.test(path))

/** Settings that the exporters and instrumentations of applications read. */
const EXPORTER_SETTINGS = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]

const known = {
  settings: new Set([...settingNames, ...EXPORTER_SETTINGS]),
  isPath,
  isFile: (path: string) => existsSync(join(ROOT, path))
}

const nameOf = ({ document, lines }: Block) => `${document}: ${lines[0]?.trim()}`
const isPicture = ({ document, language }: Block) => language === "text" || document.startsWith("packages/")
const isShell = ({ language, lines }: Block) =>
  language === "indented" &&
  lines.every(
    (line, index) => SHELL.test(line.trim()) || [line, lines[index - 1] ?? ""].some((each) => / \\$/.test(each))
  )
/** Guides.fault.test.ts runs these. */
const isOfGuide = ({ document, language }: Block) => language === "sh" && document.startsWith("docs/guides/")
const isJson = ({ lines }: Block) => lines[0]?.trim() === "{"

describe("code in the documents", () => {
  const blocks = documents.flatMap((document) => blocksOf(document))

  it("is found", () => {
    assert.isAbove(blocks.length, 40)
    const found = new Set(blocks.map(nameOf))
    for (const name of [...Object.keys(RUN_BY), ...Object.keys(NOT_RUN)]) assert.isTrue(found.has(name), name)
  })

  it("is run by a test, or is a line that is checked here, or has a reason", () => {
    const left = blocks.filter(
      (block) =>
        !isPicture(block) &&
        !isShell(block) &&
        !isOfGuide(block) &&
        !isJson(block) &&
        RUN_BY[nameOf(block)] === undefined &&
        NOT_RUN[nameOf(block)] === undefined
    )
    assert.deepStrictEqual(left.map(nameOf), [])
    for (const [name, test] of Object.entries(RUN_BY)) {
      const document = name.slice(0, name.indexOf(":"))
      assert.include(read(test), document, `${test} runs ${name}`)
    }
  })

  it("names settings, paths and files that exist", () => {
    const shell = blocks.filter((block) => isShell(block) || isOfGuide(block))
    assert.isAbove(shell.length, 20)
    assert.isAbove(shell.filter(isOfGuide).length, 20)
    assert.deepStrictEqual(
      shell.flatMap((block) =>
        block.lines.flatMap((line) => faultsIn(line.trim(), known).map((fault) => `${block.document}: ${fault}`))
      ),
      []
    )
  })

  it("has a closing fence for each opening one", () => {
    for (const document of documents) {
      const fences = read(document).match(/^(?:```+|~~~+).*$/gm) ?? []
      assert.isTrue(
        fences.every((fence, index) => (index % 2 === 0 ? /^```\w*$/ : /^```$/).test(fence)),
        document
      )
      assert.strictEqual(fences.length % 2, 0, document)
    }
  })

  it("names variables of which no program warns", () => {
    const compose = ["docker/compose.yaml", "docker/compose.monitoring.yaml"].flatMap((file) => read(file).split("\n"))
    const named = new Set([...blocks.flatMap(({ lines }) => lines), ...compose].flatMap(variablesIn))
    for (const name of ["WEBHOOK_SECRET", "RUNPLANE_KEYS", "DATABASE_URL"]) assert.isTrue(named.has(name), name)
    assert.deepStrictEqual(unknownSettings(named), [])
  })

  it("cites files that exist", () => {
    const cited = documents.flatMap((document) =>
      [...read(document).matchAll(/`((?:packages|scripts|docs|migrations|docker|proto)\/[\w@./-]+)`/g)].flatMap(
        ([, path = ""]) =>
          known.isFile(path) || known.isFile(join(dirname(document), path)) ? [] : [`${document}: ${path}`]
      )
    )
    assert.deepStrictEqual(cited, [])
  })

  it("names files and folders of the control plane that exist", () => {
    const source = readdirSync(join(ROOT, "packages/control-plane/src"), { recursive: true, encoding: "utf8" })
    const path = "packages/control-plane/README.md"
    const lines = blocks.filter(({ document }) => document === path).flatMap((block) => block.lines)
    const named = lines.flatMap((line) => {
      const [, names = ""] = /^ *(?:-> )?((?:[\w/-]+(?:, )?)+) {2,}/.exec(line) ?? []
      return names.split(", ").filter((name) => name !== "")
    })
    assert.isAbove(named.length, 20)
    const exists = (name: string) =>
      name.endsWith("/")
        ? source.some((file) => `/${file}/`.includes(`/${name}`))
        : source.some((file) => `/${file}`.endsWith(`/${name}.ts`) || file === name)
    assert.deepStrictEqual(
      named.filter((name) => !exists(name)),
      []
    )
  })

  it("has each dependency in the table of dependencies, with its purpose", () => {
    const [, table = ""] = read("docs/internals/dependencies.md").split(/^\| -.*$/m)
    const named = [...table.matchAll(/`([^`]+)`/g)].flatMap(([, name = ""]) => [name])
    const isNamed = (name: string) =>
      named.some((entry) => entry === name || (entry.endsWith("/*") && name.startsWith(entry.slice(0, -1))))
    const manifests = [
      "package.json",
      ...readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}/package.json`)
      // The package for Python has none.
    ].filter((file) => existsSync(join(ROOT, file)))
    const dependencies = manifests.flatMap((file) => {
      const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(file))
      return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    })
    // The Node of each platform is one row.
    const foreign = dependencies.filter((name) => !/^@runplane\/|^node-/.test(name))
    assert.isAbove(foreign.length, 40)
    assert.deepStrictEqual(
      [...new Set(foreign)].filter((name) => !isNamed(name)),
      []
    )
  })

  it("is beside prose that quotes the default of a setting as the table of settings has it", () => {
    const table = [...read("docs/reference/settings.md").matchAll(/^\| `(\w+)` \|[^|]*\| `(\d+)` \|/gm)]
    const defaults = new Map(table.map(([, name = "", value = ""]) => [name, Number(value)]))
    const quoted = documents.flatMap((document) =>
      [...read(document).matchAll(/`([A-Z][A-Z0-9_]+)`\s\(([\d,]+)( MiB)?[;)]/g)].flatMap(
        ([, name = "", value = "", unit]) => {
          const expected = defaults.get(name)
          const number = Number(value.replaceAll(",", "")) * (unit === undefined ? 1 : 1024 * 1024)
          return expected === undefined
            ? []
            : [{ quote: `${document}: ${name} (${number})`, isRight: number === expected }]
        }
      )
    )
    assert.isAbove(quoted.length, 30)
    assert.deepStrictEqual(
      quoted.filter(({ isRight }) => !isRight).map(({ quote }) => quote),
      []
    )
  })

  it("is valid JSON if it begins with a brace", () => {
    const objects = blocks.filter(isJson)
    assert.isNotEmpty(objects)
    for (const { document, lines } of objects) assert.doesNotThrow(() => JSON.parse(lines.join("\n")), document)
  })
})

describe("the reader of documents", () => {
  it.each([
    ["OIDC_ISUER=https://login.example.com", "OIDC_ISUER is not a setting"],
    ["curl -s http://127.0.0.1:3001/nothing", "no service serves /nothing"],
    ["node packages/nothing.ts", "packages/nothing.ts does not exist"],
    ["PORT=1 LOG_LEVLE=info npm start # NOTHING=1", "LOG_LEVLE is not a setting"]
  ])("finds what is wrong with %s", (line, fault) => {
    assert.deepStrictEqual(faultsIn(line, known), [fault])
  })

  it("distinguishes fences from indented lines, and keeps a block with an empty line in one", () => {
    const text = "text\n\n    a\n\n    b\n\nmore\n\n```ts\nc\n```\n"
    assert.deepStrictEqual(
      blocksOf("page.md", text).map(({ language, lines }) => [language, lines]),
      [
        ["indented", ["a", "b"]],
        ["ts", ["c"]]
      ]
    )
  })
})
