import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import { exitCodeOf, runCli } from "@runplane/cli"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { runplane } from "../../src/runplane/Commands.ts"

interface Ended {
  readonly code: number
  readonly stdout: ReadonlyArray<string>
  readonly stderr: ReadonlyArray<string>
  /** What it ends with on stderr; empty when it went well. */
  readonly complaint: string
}

/** One `runplane` command, in this process. */
export const command = (args: ReadonlyArray<string>): Effect.Effect<Ended> => {
  const [stdout, stderr]: [Array<string>, Array<string>] = [[], []]
  const console = {
    ...globalThis.console,
    log: (text: string) => void stdout.push(text),
    error: (text: string) => void stderr.push(text)
  }
  return runCli(runplane, args).pipe(
    Effect.match({
      onSuccess: () => ({ code: 0, stdout, stderr, complaint: "" }),
      onFailure: (error) => ({ code: exitCodeOf(error), stdout, stderr, complaint: String(error.message) })
    }),
    Effect.provideService(Console.Console, console),
    Effect.provide(NodeServices.layer)
  )
}

const UNKNOWN = "00000000-0000-4000-8000-000000000000"

/**
 * Every command that reads, against a running stack with that run, and each exit code. `printed` has the lines of
 * `npm start` about the run: `runs watch` prints the same afterwards.
 */
export const readByCommandLine = Effect.fnUntraced(function* (
  ports: { readonly controlPlane: number; readonly launcher: number },
  runId: string,
  printed: ReadonlyArray<string>
) {
  const at = ["--url", `http://127.0.0.1:${ports.controlPlane}`, "--launcher-url", `http://127.0.0.1:${ports.launcher}`]
  const ask = (...args: ReadonlyArray<string>) => command([...args, ...at])
  for (const args of [
    ["runs", "list"],
    ["runs", "show", runId],
    ["runs", "watch", runId, "--exit-status"],
    ["runs", "export", runId],
    ["runs", "verify", runId],
    ["runs", "compare", runId, runId],
    ["runs", "why", runId],
    ["runs", "forecast", runId],
    ["runs", "what-if", runId, "--policy-version", "policy.default"],
    ["policies", "backtest", "--policy-version", "policy.default"],
    ["agents", "record", "incident-commander"],
    ["policies", "list"],
    ["policies", "show", "policy.incident.balanced"],
    ["webhooks", "list"],
    ["scenarios", "list"],
    ["scenarios", "show", "incident/region-failover@1.0.0"]
  ]) {
    const words = args.join(" ")
    const text = yield* ask(...args)
    assert.deepStrictEqual([text.code, text.complaint], [0, ""], words)
    assert.isNotEmpty(text.stdout, words)
    const json = yield* ask(...args, "--json")
    assert.strictEqual(json.code, 0, words)
    assert.doesNotThrow(() => JSON.parse(json.stdout.join("\n")), words)
  }
  const narrative = (yield* ask("runs", "watch", runId)).stdout.join("\n")
  assert.include(narrative, "commits an approval")
  assert.include(narrative, "Outcome\n  Decision         decision.selected, positive, by incident-commander")
  // Lines of a process are kept without the empty ones.
  const lines = narrative.split("\n").filter((line) => line !== "")
  const first = printed.indexOf(lines[0] ?? "")
  assert.deepStrictEqual(printed.slice(first, first + lines.length), lines)
  // Both count the events until the end of the run, and the calls.
  const shown = (yield* ask("runs", "show", runId)).stdout.join("\n")
  assert.strictEqual(shown.slice(shown.indexOf("Outcome")), narrative.slice(narrative.indexOf("Outcome")))
  const [scenario] = (yield* ask("scenarios", "list")).stdout.join("\n").split("\n").slice(1)
  assert.match(scenario ?? "", /^[\w-]+\/[\w-]+@\S+ /)
  assert.match((yield* ask("runs", "list")).stdout.join("\n"), new RegExp(`^${runId} .* Approved +decide whether`, "m"))
  const events = yield* ask("runs", "watch", runId, "--jsonl")
  assert.strictEqual(JSON.parse(events.stdout[0] ?? "").type, "run.created")
  const tail = yield* ask("events", "tail", "--after", "0", "--once", "--jsonl")
  assert.isAtLeast(tail.stdout.length, events.stdout.length)

  for (const [args, code, words] of [
    [["runs", "show", UNKNOWN], 3, "`runplane runs list`"],
    [["runs", "cancel", runId], 4, "completed"],
    [["runs", "delete", runId], 2, "--yes"],
    [["runs", "lst"], 2, "--help"],
    [["runs", "list", "--limit", "x"], 2, "--limit"],
    [["runs", "list", "--limit", "0"], 4, "limit"],
    [["runs", "why", UNKNOWN], 3, "`runplane runs list`"],
    [["runs", "forecast", runId, "--at-seq", "-1"], 4, "atSeq"],
    [["runs", "what-if", runId, "--vote", "stranger=REJECT"], 4, "votes.0.participantId"],
    [["runs", "what-if", runId, "--vote", "stranger"], 2, "PARTICIPANT=APPROVE"],
    [["policies", "backtest"], 2, "--policy"],
    [["policies", "backtest", "--policy-version", "policy.gone"], 3, "policy.gone"],
    [["policies", "backtest", "--policy-version", "policy.default", "--limit", "0"], 2, "limit"],
    [["agents", "record", "a", "--query", "unknown:field"], 4, "q at 1"],
    [["agents", "record", "a", "--since", "soon"], 2, "--since"],
    [["events", "tail", "--q", "unknown:field"], 4, "q at 1"],
    [["events", "tail", "--json"], 2, "--jsonl"],
    [["launch", "nowhere/none@1.0.0"], 3, "nowhere"],
    [["launch", "incident/region-failover@1.0.0", "-i", "x"], 2, "name=value"]
  ] as const) {
    const ended = yield* ask(...args)
    assert.strictEqual(ended.code, code, `${args.join(" ")}: ${ended.complaint}`)
    assert.include(ended.complaint, words)
    assert.notInclude(ended.complaint, "\n")
    assert.deepStrictEqual(ended.stdout, [])
  }
  const closed = yield* command(["runs", "list", "--url", "http://127.0.0.1:1"])
  assert.strictEqual(closed.code, 5)
  assert.include(closed.complaint, "`runplane dev`")
})
