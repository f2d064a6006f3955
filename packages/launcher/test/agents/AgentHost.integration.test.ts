import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { AgentManifest } from "../../src/agents/AgentManifest.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { compiledLaunch, SESSION_ID } from "../fixtures/Compiled.ts"
import { eventually, gone, makeHost, platform } from "../fixtures/HostStage.ts"
import { isAlive } from "../fixtures/Roots.ts"

const FIXTURE = new URL("../fixtures/agent.ts", import.meta.url).pathname

const Report = Schema.fromJsonString(
  Schema.Struct({
    pid: Schema.Int,
    helpers: Schema.Array(Schema.Int),
    args: Schema.Array(Schema.String),
    cwd: Schema.String,
    env: Schema.Record(Schema.String, Schema.String),
    bootstrapFile: Schema.String,
    bootstrap: Schema.JsonObject
  })
)

const manifest = (behaviour: string, reports: string): AgentManifest => ({
  id: "a",
  name: "A",
  framework: "custom",
  entrypoint: { type: "node_file", value: FIXTURE },
  host: {
    args: ["--behave", behaviour.replace("announced ", "")],
    env: { REPORT_DIR: reports },
    cwd: ".",
    ...(["exit", "quick", "unannounced"].includes(behaviour) ? {} : { readyText: "attached", startupTimeoutMs: 60_000 })
  }
})

/** A host of its own, and what its agents report. */
const makeStage = Effect.fnUntraced(function* (options: LauncherOptions = {}) {
  const fs = yield* FileSystem.FileSystem
  const { bootstrapDir, host, root } = yield* makeHost(options)
  const binding = (participantId: string) => ({ participantId, role: "member", agentRef: "agent-a" })
  return {
    root,
    bootstrapDir,
    host,
    attach: (participantId: string, behaviour: string) =>
      host.attach(
        { compiled: compiledLaunch(), binding: binding(participantId), token: "tok", framework: "custom" },
        manifest(behaviour, root)
      ),
    report: (participantId: string) =>
      fs.readFileString(`${root}/${participantId}.json`).pipe(Effect.flatMap(Schema.decodeEffect(Report)), eventually),
    bootstrapFiles: Effect.orElseSucceed(fs.readDirectory(bootstrapDir), () => [])
  }
})

layer(platform, { excludeTestServices: true })("an agent as a process", (it) => {
  it.effect("gets its bootstrap, its variables and nothing of the service's own, and lives on", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      process.env["DATABASE_URL"] = "postgres://secret"
      const stage = yield* makeStage()
      const { pid } = yield* stage.attach("one", "attach")
      const report = yield* stage.report("one")
      assert.strictEqual(report.pid, pid)
      assert.strictEqual(report.cwd, stage.root)
      assert.deepStrictEqual(report.args, ["--behave", "attach"])
      assert.deepInclude(report.bootstrap, { participant_id: "one", session_id: SESSION_ID, auth_token: "tok" })
      assert.strictEqual(report.env["PROTO_BOOTSTRAP_FILE"], report.bootstrapFile)
      assert.notProperty(report.env, "DATABASE_URL")
      const [running] = yield* stage.host.running
      assert.deepInclude(running, { runId: SESSION_ID, participantId: "one", pid, state: "running" })
      const mode = (path: string) => Effect.map(fs.stat(path), (info) => info.mode & 0o777)
      assert.strictEqual(yield* mode(report.bootstrapFile), 0o600)
      assert.strictEqual(yield* mode(stage.bootstrapDir), 0o700)
    }).pipe(Effect.scoped)
  )

  it.effect.each(process.platform === "linux" ? ["parent", "stubborn-parent"] : [])(
    "is stopped with its helpers in sessions of their own (%s)",
    (behaviour) =>
      Effect.gen(function* () {
        const stage = yield* makeStage()
        const { pid } = yield* stage.attach("one", behaviour)
        const { helpers } = yield* stage.report("one")
        assert.lengthOf(helpers.filter(isAlive), 2)
        const [running] = yield* stage.host.running
        yield* running?.stop ?? Effect.void
        for (const one of [pid, ...helpers]) yield* gone(one)
        assert.deepStrictEqual(yield* stage.host.running, [])
        assert.strictEqual(yield* stage.host.killed, behaviour === "parent" ? 0 : 1)
      }).pipe(Effect.scoped)
  )

  it.effect.skipIf(process.platform !== "linux")(
    "takes a helper that has its environment along when it ends by itself",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeStage()
        const { ended } = yield* stage.attach("one", "leaving")
        const { helpers } = yield* stage.report("one")
        yield* ended
        const [marked = 0, stranger = 0] = helpers
        yield* gone(marked)
        // Nothing leads to this one any more.
        process.kill(stranger, "SIGKILL")
      }).pipe(Effect.scoped)
  )

  it.effect("finds a renewed credential in its bootstrap file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const stage = yield* makeStage()
      const renewed = yield* Deferred.make<string>()
      const assignment = {
        compiled: compiledLaunch(),
        binding: { participantId: "one", role: "member", agentRef: "agent-a" },
        token: "tok",
        framework: "custom",
        renewals: Stream.fromEffect(Deferred.await(renewed))
      }
      yield* stage.host.attach(assignment, manifest("attach", stage.root))
      const { bootstrapFile } = yield* stage.report("one")
      const tokenIn = Effect.map(fs.readFileString(bootstrapFile), (text) => JSON.parse(text).auth_token)
      assert.strictEqual(yield* tokenIn, "tok")
      yield* Deferred.succeed(renewed, "tok-2")
      yield* eventually(Effect.filterOrFail(tokenIn, (token) => token === "tok-2"))
    }).pipe(Effect.scoped)
  )

  it.effect("counts as attached when it lives on, and is answered again instead of started twice", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage()
      const first = yield* stage.attach("one", "unannounced")
      assert.strictEqual((yield* stage.attach("one", "unannounced")).pid, first.pid)
    }).pipe(Effect.scoped)
  )

  it.effect.each(["quick", "announced quick"])("that exits at once with code 0 (%s) counts as attached", (behaviour) =>
    Effect.gen(function* () {
      const stage = yield* makeStage({ attachConfirmationMs: 60_000 })
      const agent = yield* stage.attach("one", behaviour)
      assert.deepStrictEqual(yield* agent.ended, { code: 0, signal: null, lastLines: [] })
      yield* eventually(Effect.filterOrFail(stage.bootstrapFiles, (files) => files.length === 0))
    }).pipe(Effect.scoped)
  )

  it.effect("that exits at once is not attached, and leaves no bootstrap file", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage({ attachConfirmationMs: 60_000 })
      const error = yield* Effect.flip(stage.attach("one", "exit"))
      assert.strictEqual(
        error.reason,
        "process exited before attach confirmed (code=3, signal=null): nothing to do here"
      )
      assert.deepStrictEqual(yield* stage.bootstrapFiles, [])
      assert.deepStrictEqual(yield* stage.host.running, [])
    }).pipe(Effect.scoped)
  )

  it.effect("that cannot be started fails with the reason", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage()
      const assignment = {
        compiled: compiledLaunch(),
        binding: { participantId: "../one", role: "m", agentRef: "a" },
        token: "t",
        framework: "custom"
      }
      const attach = (host: AgentManifest["host"]) =>
        Effect.flip(stage.host.attach(assignment, { ...manifest("attach", stage.root), host }))
      assert.match(
        (yield* attach({ node: "no-such-node" })).reason,
        /^spawn error: there is no program no-such-node on the PATH of agents$/
      )
      assert.strictEqual(
        (yield* attach({ cwd: "nowhere" })).reason,
        "spawn error: no working directory nowhere beside the manifest, in the agents' folder, in the service's root or in Runplane's own folder"
      )
      assert.deepStrictEqual(yield* stage.bootstrapFiles, [])
    }).pipe(Effect.scoped)
  )

  it.effect("that ends its work is forgotten with its bootstrap file", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage()
      yield* stage.attach("one", "worker")
      yield* eventually(
        Effect.flatMap(stage.host.running, (running) =>
          running.length > 0 ? Effect.fail("running" as const) : Effect.void
        )
      )
      assert.deepStrictEqual(yield* stage.bootstrapFiles, [])
    }).pipe(Effect.scoped)
  )

  it.effect("stops with its run, also when it ignores SIGTERM", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage()
      const polite = yield* stage.attach("one", "attach")
      const stubborn = yield* stage.attach("two", "stubborn")
      yield* stage.report("two")
      yield* stage.host.stopRun("another run")
      assert.lengthOf(yield* stage.host.running, 2)
      yield* stage.host.stopRun(SESSION_ID)
      assert.isFalse(isAlive(polite.pid))
      assert.isFalse(isAlive(stubborn.pid))
      assert.deepStrictEqual(yield* stage.bootstrapFiles, [])
    }).pipe(Effect.scoped)
  )

  it.effect("stops when the host closes", () =>
    Effect.gen(function* () {
      const pid = yield* makeStage().pipe(
        Effect.flatMap((stage) => stage.attach("one", "attach")),
        Effect.map((agent) => agent.pid),
        Effect.scoped
      )
      yield* gone(pid)
    })
  )
})
