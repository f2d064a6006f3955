import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { createDatabase, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ROOT } from "../support/DocumentBlocks.ts"
import { startStack } from "../support/StackProcess.ts"

/** Interpreters that have the clients, unmodified: `npm run test:runtime` installs them. */
const agents = process.env["MACP_AGENTS_PYTHON"]
const mcp = process.env["MACP_MCP_PYTHON"]
const SCRIPTED = join(import.meta.dirname, "scripted")

/** The programs of the guide, in their order. */
const [graph = "", subagents = ""] = [
  ...readFileSync(join(ROOT, "docs/guides/consensus.md"), "utf8").matchAll(/^```python\n([\s\S]*?)^```$/gm)
].map(([, code = ""]) => code)

/** Everything as `npm start` runs it. */
class Stack extends Context.Service<Stack, { readonly controlPlane: number; readonly runtime: number }>()(
  "runplane/stack/test/clients/Stack"
) {
  static readonly layer = Layer.effect(
    Stack,
    Effect.gen(function* () {
      const env = { DATABASE_URL: yield* createDatabase, RUNPLANE_DATA_DIR: yield* temporaryFolder }
      const { line, ports } = yield* startStack({ args: ["--no-demo"], env })
      assert.isDefined(yield* line("Serving"))
      return { controlPlane: ports.controlPlane, runtime: ports.sandbox }
    })
  )
}

const python = (interpreter: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<string>((resume) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 }
    const child = execFile(interpreter, [...args], options, (failure, stdout, stderr) =>
      resume(failure === null ? Effect.succeed(stdout) : Effect.die(new Error(`${failure.message}\n${stderr}`)))
    )
    return Effect.sync(() => child.kill())
  })

/** Runs a program of the guide as it is printed, except for the ports; answers what it prints. */
const fromGuide = Effect.fnUntraced(function* (code: string, env: Readonly<Record<string, string>> = {}) {
  const { controlPlane, runtime } = yield* Stack
  const file = join(yield* temporaryFolder, "guide.py")
  writeFileSync(file, code.replaceAll("50051", String(runtime)).replaceAll("3001", String(controlPlane)))
  const [outcome = "", page = ""] = (yield* python(agents ?? "", [file], env)).trim().split(" ")
  return { outcome, page, sessionId: page.slice(page.lastIndexOf("/") + 1) }
})

const Run = Schema.Struct({ status: Schema.String })
const State = Schema.Struct({
  decision: Schema.Struct({
    current: Schema.Struct({ action: Schema.String, outcomePositive: Schema.NullOr(Schema.Boolean) })
  }),
  policy: Schema.Struct({ quorumStatus: Schema.String })
})
const Why = Schema.Struct({
  participants: Schema.Array(Schema.String),
  claims: Schema.Array(Schema.Struct({ kind: Schema.String, text: Schema.String }))
})

/** What the control plane shows of the run of a session, once it is completed. */
const runOf = Effect.fnUntraced(function* (sessionId: string) {
  const { controlPlane } = yield* Stack
  const get = <A>(path: string, schema: Schema.ConstraintDecoder<A>) =>
    Effect.promise(async (): Promise<unknown> => {
      const answer = await fetch(`http://127.0.0.1:${controlPlane}/runs/${sessionId}${path}`)
      return answer.json()
    }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(schema)))
  // The run is discovered: until then the answer is an error.
  const run = Effect.orElseSucceed(get("", Run), () => ({ status: "unknown" }))
  const { status } = yield* until(run, (found) => found.status === "completed")
  const { decision, policy } = yield* get("/state", State)
  const why = yield* get("/decision/why", Why)
  return { run: { status, ...decision.current, ...policy }, why }
})

const Sessions = Schema.fromJsonString(
  Schema.Struct({
    decided: Schema.Struct({ session_id: Schema.String, hash: Schema.String, verified: Schema.String }),
    passed: Schema.Struct({ session_id: Schema.String, refused: Schema.Boolean, text: Schema.String }),
    refused: Schema.Struct({ session_id: Schema.String, refused: Schema.Boolean, text: Schema.String })
  })
)

if (agents === undefined || mcp === undefined) {
  describe("clients of the protocol in Python", () => {
    it.skip("(left out: there is no Python 3.11 with pip and its registry)", () => undefined)
  })
} else {
  layer(Stack.layer, { excludeTestServices: true, timeout: "2 minutes" })("on plain npm start", (it) => {
    it.effect("a LangGraph node decides by langgraph-macp, as the guide shows", () =>
      Effect.gen(function* () {
        const { outcome, page, sessionId } = yield* fromGuide(graph)
        assert.strictEqual(outcome, "approve")
        const { status } = yield* Effect.promise(() => fetch(page))
        assert.strictEqual(status, 200)
        const { run, why } = yield* runOf(sessionId)
        assert.deepStrictEqual(run, {
          status: "completed",
          action: "macp.consensus.approved",
          outcomePositive: true,
          quorumStatus: "reached"
        })
        const votes = ["vote", "vote"]
        const kinds = why.claims.map(({ kind }) => kind)
        assert.deepStrictEqual(kinds, ["proposal", "evaluation", "evaluation", "evaluation", ...votes, "commitment"])
        assert.deepStrictEqual(why.participants, ["coordinator", "security", "sre", "product"])
      }).pipe(Effect.scoped)
    )

    const scripted = (recommendations: object) => ({
      PATH: `${SCRIPTED}:${process.env["PATH"]}`,
      PYTHONPATH: SCRIPTED,
      CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK: "1",
      SCRIPTED_RECOMMENDATIONS: JSON.stringify(recommendations)
    })

    it.effect("subagents of Claude's agent SDK decide by claude-agent-sdk-macp, as the guide shows", () =>
      Effect.gen(function* () {
        const yes = yield* fromGuide(subagents, scripted({ security: "APPROVE", reliability: "APPROVE" }))
        const no = yield* fromGuide(subagents, scripted({ security: "APPROVE", reliability: "BLOCK" }))
        assert.deepStrictEqual([yes.outcome, no.outcome], ["approve", "reject"])
        const approved = yield* runOf(yes.sessionId)
        assert.deepInclude(approved.run, { action: "macp.consensus.approved", outcomePositive: true })
        const rejected = yield* runOf(no.sessionId)
        assert.deepInclude(rejected.run, {
          action: "macp.consensus.rejected",
          outcomePositive: false,
          quorumStatus: "failed"
        })
        assert.include(rejected.why.claims.map(({ text }) => text).join("\n"), "BLOCK")
      }).pipe(Effect.scoped)
    )

    it.effect("assistants decide by macp-mcp, and its gate refuses a tool call with a negative run", () =>
      Effect.gen(function* () {
        const { runtime } = yield* Stack
        const printed = yield* python(mcp, [join(SCRIPTED, "sessions.py"), `127.0.0.1:${runtime}`])
        const { decided, passed, refused } = yield* Schema.decodeEffect(Sessions)(printed)
        assert.strictEqual(decided.verified, "match")
        assert.deepInclude((yield* runOf(decided.session_id)).run, { action: "plan.approved", outcomePositive: true })
        assert.deepInclude(passed, { refused: false, text: "wrote /srv/True" })
        assert.deepInclude((yield* runOf(passed.session_id)).run, {
          action: "macp.gate.approve",
          outcomePositive: true,
          quorumStatus: "reached"
        })
        assert.isTrue(refused.refused)
        assert.deepInclude((yield* runOf(refused.session_id)).run, {
          action: "macp.gate.deny",
          outcomePositive: false,
          quorumStatus: "failed"
        })
      })
    )
  })
}
