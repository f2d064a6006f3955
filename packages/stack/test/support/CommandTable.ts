import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { controlPlaneForm } from "@runplane/server"
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { runplane } from "../../src/runplane/Commands.ts"
import { command } from "./CommandLineReads.ts"

const UNKNOWN = "00000000-0000-4000-8000-000000000000"

const descriptor = {
  mode: "live",
  runtime: { kind: "rust" },
  session: {
    modeName: "macp.mode.decision.v1",
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 60_000,
    participants: [{ id: "a" }],
    metadata: { cancellationDelegated: true }
  }
}

const policy = {
  policyId: "policy.command-line",
  mode: "macp.mode.decision.v1",
  schemaVersion: 1,
  description: "made by a command",
  rules: {
    voting: { algorithm: "none", quorum: { type: "count", value: 0 } },
    objection_handling: { critical_severity_vetoes: false, veto_threshold: 1 },
    evaluation: { minimum_confidence: 0, required_before_voting: false },
    commitment: { authority: "initiator_only", designated_roles: [], require_vote_quorum: false }
  }
}

/** What is made on the way, for the commands after it. */
interface World {
  readonly ended: string
  launched: string
  created: string
  waiting: string
  webhook: string
  delivery: string
  mark: string
  erasure: string
  alert: string
  readonly folder: string
}

interface Row {
  /** The command, as its group and name. */
  readonly name: string
  /** Its arguments when it does what it should. */
  readonly args: (world: World) => ReadonlyArray<string>
  /** What of its answer later rows need. */
  readonly keep?: (world: World, answer: Answer) => void
  /** Arguments that name a thing that does not exist. */
  readonly stranger?: ReadonlyArray<string>
  /** The code that it ends with; 0 unless said. */
  readonly code?: number
  /** It answers lines and no document. */
  readonly lines?: boolean
}

interface Answer {
  readonly runId?: string
  readonly id?: string
  readonly sessionId?: string
  readonly data?: ReadonlyArray<{ readonly id: string }>
}

/** The session of the created run, which is not the id of the run. */
const SESSION = "a-session-of-the-table-"

/** Every command that calls a service, in an order in which each finds its data. */
const rows: ReadonlyArray<Row> = [
  // The evaluator has opened its alert when the last rows read it.
  { name: "budgets add", args: () => ["team", "--limit", "0.0001", "--backfill", "--zone", "Europe/Berlin"] },
  { name: "runs list", args: () => ["--sort", "mark.quality", "--order", "asc"] },
  { name: "runs show", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  { name: "runs watch", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  {
    name: "runs create",
    args: ({ folder }) => [join(folder, "run.json")],
    keep: (world, { runId = "" }) => {
      world.created = runId
    }
  },
  {
    name: "runs create",
    args: ({ folder }) => [join(folder, "waiting.json")],
    keep: (world, { runId = "" }) => {
      world.waiting = runId
    }
  },
  { name: "runs abandon", args: ({ waiting }) => [waiting, "--reason", "r"], stranger: [UNKNOWN, "--reason", "r"] },
  {
    name: "launch",
    args: () => ["incident/region-failover@1.0.0"],
    stranger: ["nowhere/none@1.0.0"],
    keep: (world, { sessionId = "" }) => {
      world.launched = sessionId
    }
  },
  { name: "stability", args: () => ["tags:nightly", "--by", "week"] },
  { name: "committee independence", args: () => ["scenario:incident/region-failover@1.0.0"] },
  { name: "committee seats", args: () => ["scenario:incident/region-failover@1.0.0"] },
  // It has too few runs.
  { name: "committee search", args: () => ["scenario:incident/region-failover@1.0.0"], code: 4 },
  { name: "gate", args: ({ folder }) => [join(folder, "cases.yaml"), "--runs", "1"] },
  {
    name: "cases add",
    args: ({ ended, folder }) => [ended, "--expect-outcome", "--file", join(folder, "made.yaml")],
    stranger: [UNKNOWN]
  },
  { name: "scenarios list", args: () => [] },
  { name: "scenarios show", args: () => ["incident/region-failover@1.0.0"], stranger: ["nowhere/none@1.0.0"] },
  { name: "processes list", args: () => [] },
  { name: "inbox list", args: () => [] },
  { name: "inbox show", args: () => [UNKNOWN], code: 3 },
  { name: "inbox watch", args: () => ["--once"], lines: true },
  { name: "inbox delegations", args: () => [] },
  // A stack without keys knows one person, who cannot delegate.
  {
    name: "inbox delegate",
    args: () => ["--to", "person:ben", "--until", "2099-12-24T18:00[Europe/Berlin]", "--reason", "on leave"],
    code: 4
  },
  { name: "inbox revoke", args: () => [UNKNOWN], code: 3 },
  { name: "answer", args: () => [UNKNOWN, "--vote", "reject", "--reason", "r", "--hash", "00000000"], code: 3 },
  // Those of the launch may have ended by themselves.
  { name: "processes stop", args: () => [UNKNOWN], code: 3 },
  // The runtime lets its initiator alone do this, and this session is not open yet.
  { name: "runs suspend", args: ({ created }) => [created, "--reason", "r"], stranger: [UNKNOWN], code: 4 },
  { name: "runs resume", args: ({ created }) => [created], stranger: [UNKNOWN], code: 4 },
  { name: "runs cancel", args: ({ created }) => [created, "--reason", "r"], stranger: [UNKNOWN] },
  { name: "runs archive", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  { name: "runs unarchive", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  { name: "runs export", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  {
    name: "evidence",
    args: ({ ended, folder }) => [ended, "--output", join(folder, "case.evidence.zip")],
    stranger: [UNKNOWN, "--output", join(tmpdir(), "none.evidence.zip")]
  },
  { name: "runs verify", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  { name: "runs compare", args: ({ created, ended }) => [ended, created], stranger: [UNKNOWN, UNKNOWN] },
  { name: "runs why", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  { name: "runs forecast", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  {
    name: "runs what-if",
    args: ({ ended }) => [ended, "--policy-version", "policy.default"],
    stranger: [UNKNOWN, "--policy-version", "policy.default"]
  },
  {
    name: "marks add",
    args: ({ ended }) => [ended, "correct", "Yes", "--comment", "c"],
    stranger: [UNKNOWN, "quality", "0.5"],
    keep: (world, { id = "" }) => {
      world.mark = id
    }
  },
  { name: "marks list", args: ({ ended }) => [ended], stranger: [UNKNOWN] },
  { name: "marks definitions", args: () => [] },
  { name: "marks agreement", args: () => [] },
  { name: "marks delete", args: ({ ended, mark }) => [ended, mark], stranger: [UNKNOWN, UNKNOWN] },
  {
    name: "erase run",
    args: ({ ended }) => [ended, "--find", "writes would be lost", "--reason", "request 4711"],
    stranger: [UNKNOWN, "--find", "writes would be lost", "--reason", "request 4711"]
  },
  {
    name: "erase runs",
    args: () => ["--find", "writes would be lost", "--reason", "request 4711", "--query", "tags:nightly"],
    keep: (world, { id = "" }) => {
      world.erasure = id
    }
  },
  // No person has a seat in a session of these runs.
  { name: "erase people", args: () => [UNKNOWN, "--reason", "r"], code: 3 },
  { name: "erase show", args: ({ erasure }) => [erasure], stranger: [UNKNOWN] },
  { name: "erase list", args: () => [] },
  { name: "runs delete", args: ({ created }) => [created, "--yes"], stranger: [UNKNOWN, "--yes"] },
  { name: "events tail", args: () => ["--after", "0", "--once"], lines: true },
  { name: "policies list", args: () => [] },
  { name: "policies register", args: ({ folder }) => [join(folder, "policy.json")] },
  { name: "policies show", args: () => [policy.policyId], stranger: ["policy.gone"] },
  {
    name: "policies backtest",
    args: () => ["--policy-version", policy.policyId],
    stranger: ["--policy-version", "policy.gone"]
  },
  { name: "agents record", args: () => ["incident-commander", "--by", "prompt"] },
  { name: "policies unregister", args: () => [policy.policyId], stranger: ["policy.gone"] },
  {
    name: "webhooks add",
    args: () => ["http://127.0.0.1:9/hook", "--event", "run.completed"],
    keep: (world, { id = "" }) => {
      world.webhook = id
    }
  },
  { name: "webhooks list", args: () => [] },
  {
    name: "webhooks test",
    args: ({ webhook }) => [webhook],
    stranger: [UNKNOWN],
    keep: (world, { id = "" }) => {
      world.delivery = id
    }
  },
  { name: "webhooks deliveries", args: ({ webhook }) => [webhook], stranger: [UNKNOWN] },
  { name: "webhooks redeliver", args: ({ delivery, webhook }) => [webhook, delivery], stranger: [UNKNOWN, UNKNOWN] },
  { name: "webhooks remove", args: ({ webhook }) => [webhook] },
  { name: "budgets list", args: () => [] },
  { name: "budgets test", args: () => ["team"], stranger: ["gone"] },
  {
    name: "alerts list",
    args: () => ["--rule", "team"],
    keep: (world, { data = [] }) => {
      world.alert = data[0]?.id ?? ""
    }
  },
  { name: "alerts ack", args: ({ alert }) => [alert, "--note", "seen"], stranger: [UNKNOWN] },
  { name: "ledger verify", args: () => [] },
  { name: "prices show", args: () => ["vendor1-4o"] },
  { name: "prices check", args: () => ["--since", "30d"] },
  { name: "prices whatif", args: () => ["--catalogue", "off"] }
]

/** Commands that ask no service: they read files, or are the services. `LocalCommands.ts` looks at them. */
const testedElsewhere = [
  ...[
    "verify",
    "completions",
    "dev",
    "migrate",
    "backup",
    "restore",
    "settings",
    "prices update",
    "archive compact",
    "query"
  ],
  ...["serve control-plane", "serve launcher", "serve sandbox", "serve all"],
  // By the tests of packages/cli.
  ...["help", "version", "profiles add", "profiles use", "profiles list", "profiles remove"],
  // On a running stack, by checkMcp.
  "mcp",
  ...["packs validate", "packs lint", "packs compile", "packs new"]
]

/** The names of all commands that have none below them. */
const leaves = (of: Command.Command.Any, above: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const below = of.subcommands.flatMap(({ commands }) => [...commands])
  return below.length === 0 ? [above.join(" ")] : below.flatMap((command) => leaves(command, [...above, command.name]))
}

const files = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "runplane-commands-"))
    const session = { ...descriptor.session, sessionId: SESSION }
    writeFileSync(join(folder, "run.json"), JSON.stringify({ ...descriptor, session }))
    writeFileSync(join(folder, "waiting.json"), JSON.stringify(descriptor))
    writeFileSync(join(folder, "policy.json"), JSON.stringify(policy))
    // JSON is YAML. One run of one has a lower bound of 0.21.
    const one = { name: "one", scenarioRef: "incident/region-failover@1.0.0", expect: { agreement: 0.2 } }
    writeFileSync(join(folder, "cases.yaml"), JSON.stringify({ cases: [one] }))
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A service that knows no key: each answer is the refusal of the control plane's own edge. */
const locked = Effect.acquireRelease(
  Effect.promise(async () => {
    const refusal = HttpServerResponse.toWeb(controlPlaneForm.unauthenticated("Invalid authorization token"))
    const body = await refusal.text()
    const server = createServer((request, response) => {
      request
        .resume()
        .on("end", () => response.writeHead(refusal.status, { "content-type": "application/json" }).end(body))
    })
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    return server
  }),
  (server) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise<void>((done) => server.close(() => done()))
    })
)

/** What the tables of these commands print as ids, the text of each line's column, and which commands take them. */
const printed: ReadonlyArray<{
  readonly by: ReadonlyArray<string>
  readonly id: (line: string) => string | undefined
  readonly takenBy: ReadonlyArray<(id: string) => ReadonlyArray<string>>
}> = [
  {
    by: ["runs", "list"],
    id: (line) => line.split(/\s+/)[0],
    takenBy: [(id) => ["runs", "show", id]]
  },
  {
    by: ["runs", "list"],
    id: (line) => /session (\S+)$/.exec(line)?.[1],
    takenBy: [
      ...["show", "watch", "why", "forecast", "export"].map((name) => (id: string) => ["runs", name, id]),
      (id) => ["runs", "compare", id, id]
    ]
  },
  {
    by: ["events", "tail", "--after", "0", "--once"],
    id: (line) => line.split(/\s+/)[1],
    takenBy: [(id) => ["runs", "show", id]]
  },
  { by: ["policies", "list"], id: (line) => line.split(/\s+/)[0], takenBy: [(id) => ["policies", "show", id]] }
]

/** Runs the commands that take an id with the last id of each column that the text for people has. */
const takesEveryId = Effect.fnUntraced(function* (here: ReadonlyArray<string>) {
  for (const { by, id, takenBy } of printed) {
    const { stdout } = yield* command([...by, ...here])
    const lines = stdout.flatMap((text) => text.split("\n"))
    const last = lines.flatMap((line) => id(line.trim()) ?? []).at(-1)
    assert.isDefined(last, by.join(" "))
    for (const args of takenBy) {
      const words = args(last ?? "")
      const { code, complaint } = yield* command([...words, ...here])
      assert.strictEqual(code, 0, `${words.join(" ")}: ${complaint}`)
    }
  }
})

const oneLine = (complaint: string, words: string) => {
  assert.notStrictEqual(complaint, "", words)
  assert.notInclude(complaint, "\n", words)
}

/**
 * Every command against a running stack with that ended run: what it answers with `--json`, and one line with the
 * documented exit code for a wrong flag, an unknown thing, a wrong key and a service that is not there
 * (docs/reference/cli.md#exit-codes).
 */
export const checkEveryCommand = Effect.fnUntraced(function* (
  ports: { readonly controlPlane: number; readonly launcher: number },
  ended: string
) {
  assert.sameMembers([...new Set(rows.map(({ name }) => name)), ...testedElsewhere], [...leaves(runplane)])
  // The secret of deliveries is not a flag: flags are visible in the list of processes.
  process.env["RUNPLANE_WEBHOOK_SECRET"] = "a secret of the test"
  const made = { launched: "", created: "", waiting: "", webhook: "", delivery: "", mark: "", erasure: "", alert: "" }
  const world: World = { ended, ...made, folder: yield* files }
  const at = (plane: string | number, launcher: string | number) => [
    ...["--url", `http://127.0.0.1:${plane}`, "--launcher-url", `http://127.0.0.1:${launcher}`]
  ]
  const here = at(ports.controlPlane, ports.launcher)
  const nowhere = at(1, 1)
  const address = (yield* locked).address()
  if (address === null || typeof address === "string") throw new Error("the locked service listens on a port")
  const closed = at(address.port, address.port)

  for (const name of leaves(runplane)) {
    const { code, complaint, stdout } = yield* command([...name.split(" "), "--nonsense"])
    assert.deepStrictEqual([code, stdout], [2, []], name)
    oneLine(complaint, name)
    assert.include(complaint, "--nonsense", name)
  }
  for (const { args, code = 0, keep, lines = false, name, stranger } of rows) {
    const call = [...name.split(" "), ...args(world)]
    const words = call.join(" ")
    const { complaint, stdout, ...end } = yield* command([...call, ...here, lines ? "--jsonl" : "--json"])
    assert.strictEqual(end.code, code, `${words}: ${complaint}`)
    if (code === 0) {
      const documents = lines ? stdout : [stdout.join("\n")]
      assert.isNotEmpty(documents, words)
      const [answer] = documents.map((text) => JSON.parse(text))
      keep?.(world, answer.compiled ?? answer)
    } else oneLine(complaint, words)

    // The command before this one has printed the ids that are tried here.
    if (name === "runs delete") yield* takesEveryId(here)
    const expectations: ReadonlyArray<readonly [ReadonlyArray<string>, ReadonlyArray<string>, number]> = [
      [call, nowhere, 5],
      [call, closed, 4],
      ...(stranger === undefined ? [] : ([[[...name.split(" "), ...stranger], here, 3]] as const))
    ]
    for (const [line, where, expected] of expectations) {
      const refused = yield* command([...line, ...where, lines ? "--jsonl" : "--json"])
      assert.strictEqual(refused.code, expected, `${line.join(" ")} ${where[1]}: ${refused.complaint}`)
      oneLine(refused.complaint, words)
      assert.deepStrictEqual(refused.stdout, [], words)
    }
  }
})
