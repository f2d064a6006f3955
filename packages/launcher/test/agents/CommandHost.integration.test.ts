import { spawnSync } from "node:child_process"
import { chmodSync, readdirSync, readFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type { AgentManifest, HostedFramework } from "../../src/agents/AgentManifest.ts"
import { MAX_LINE_LENGTH } from "../../src/agents/LogLines.ts"
import { findUser } from "../../src/common/AgentUser.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { compiledLaunch, SESSION_ID } from "../fixtures/Compiled.ts"
import { writeTree } from "../fixtures/DiskTree.ts"
import { eventually, gone, makeHost, platform } from "../fixtures/HostStage.ts"
import { isAlive } from "../fixtures/Roots.ts"

/**
 * A language that agents of python frameworks can be written in here: python, or where there is none the shell in its
 * place.
 */
const python =
  spawnSync("python3", ["--version"]).status === 0
    ? {
        interpreter: "python3",
        file: "worker.py",
        worker:
          "import os, sys\nprint('ready', *sys.argv[1:], flush=True)\nopen('seen', 'w').write(os.environ['MACP_FRAMEWORK'] + ' ' + os.environ['PYTHONUNBUFFERED'])\nsys.stdin.read()\n"
      }
    : {
        interpreter: "/bin/sh",
        file: "worker",
        worker: 'echo ready "$@"\nprintf "%s %s" "$MACP_FRAMEWORK" "$PYTHONUNBUFFERED" > seen\ncat > /dev/null\n'
      }

/** Prints that it is ready, and ends at the end of its input. */
const PATIENT = "#!/bin/sh\necho ready\ncat > /dev/null\n"

/** Says what it can reach, and ends. */
const LOOK = `#!/bin/sh
own="$MACP_BOOTSTRAP_FILE"
reached="$(id -un) $USER"
grep -q '"auth_token":"tok"' "$own" && reached="$reached, own file"
head -c 1 "/proc/$PPID/environ" 2>/dev/null | grep -q . && reached="$reached, environment of the service"
ls "$(dirname "$(dirname "$own")")" >/dev/null 2>&1 && reached="$reached, list of files"
(: > "$(dirname "$own")/link") 2>/dev/null && reached="$reached, own folder"
echo "$reached" >&2
exit 3
`

interface Subject {
  readonly files: Readonly<Record<string, string>>
  readonly framework?: HostedFramework
  readonly entrypoint: AgentManifest["entrypoint"]
  readonly host?: AgentManifest["host"]
  readonly settings?: LauncherOptions
}

/** Attaches one agent made of these files; returns its lines in the log, too. */
const attach = Effect.fnUntraced(function* (
  { entrypoint, files, framework = "custom", ...subject }: Subject,
  agentsFolder?: string
) {
  const { host, root } = yield* makeHost(subject.settings, agentsFolder)
  writeTree(`${root}/`, files)
  for (const file of Object.keys(files)) chmodSync(`${root}/${file}`, 0o755)
  const lines: Array<string> = []
  const logged = Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${message}`))])
  const attached = host
    .attach(
      {
        compiled: compiledLaunch(),
        binding: { participantId: "one", role: "member", agentRef: "agent-a" },
        token: "tok",
        framework
      },
      { id: "a", name: "A", framework, entrypoint, host: subject.host ?? { readyText: "ready" } }
    )
    .pipe(Effect.provide(logged))
  return { attached, host, lines, root, read: (file: string) => readFileSync(`${root}/${file}`, "utf8") }
})

const said = (text: string) => `Info [custom:one:${SESSION_ID}] ${text}`

const containing = (lines: ReadonlyArray<string>, line: string) =>
  eventually(Effect.suspend(() => (lines.includes(line) ? Effect.void : Effect.fail(`not logged: ${line}`))))

layer(Layer.fresh(platform), { excludeTestServices: true })("a host of any executable", (it) => {
  it.effect("starts a script of the agent's own folder, and logs its output", () =>
    Effect.gen(function* () {
      const { attached, lines, read } = yield* attach({
        files: {
          "agents/run.sh": `#!/bin/sh\nprintenv MACP_PARTICIPANT_ID > seen\necho "ready $1"\necho trouble >&2\nexec cat\n`
        },
        entrypoint: { type: "command", value: "./run.sh" },
        host: { cwd: "agents", args: ["go"], readyText: "ready" }
      })
      yield* attached
      yield* containing(lines, said("ready go"))
      yield* containing(lines, `Warn [custom:one:${SESSION_ID}] trouble`)
      assert.strictEqual(read("agents/seen"), "one\n")
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    [
      "line ends of CR LF",
      "#!/usr/bin/env python3\r\nprint(1)\r\n",
      "the lines of ./run.sh end in CR LF, which its interpreter's name then has"
    ],
    [
      "an interpreter that is not there",
      "#!/opt/none/python3\nprint(1)\n",
      "there is no /opt/none/python3, which the first line of ./run.sh names"
    ]
  ] as const)("says of a script with %s what is wrong with it, before it is started", ([, script, why]) =>
    Effect.gen(function* () {
      const entrypoint = { type: "command", value: "./run.sh" } as const
      const { attached } = yield* attach({ files: { "run.sh": script }, entrypoint })
      assert.strictEqual((yield* Effect.flip(attached)).reason, `spawn error: ${why}`)
    }).pipe(Effect.scoped)
  )

  it.effect("says of a NUL in what an agent is given that it cannot be started with it", () =>
    Effect.gen(function* () {
      const { attached } = yield* attach({
        files: { "run.sh": PATIENT },
        entrypoint: { type: "command", value: "./run.sh" },
        host: { args: ["a\0b"] }
      })
      assert.match((yield* Effect.flip(attached)).reason, /^spawn error: .*without null bytes/)
    }).pipe(Effect.scoped)
  )

  it.effect.each<readonly [framework: HostedFramework, subject: Subject]>([
    ["langgraph", { files: { [python.file]: python.worker }, entrypoint: { type: "python_file", value: python.file } }],
    ["crewai", { files: { [python.file]: python.worker }, entrypoint: { type: "python_module", value: "worker" } }],
    [
      "langchain",
      {
        files: {
          [python.file]: python.worker,
          "venv/bin/python": `#!/bin/sh\ntouch own\nexec ${python.interpreter} "$@"\n`
        },
        entrypoint: { type: "python_file", value: python.file },
        host: { python: "venv/bin/python", args: ["--x"], readyText: "ready --x" },
        settings: { pythonPath: "no-such-python" }
      }
    ]
  ])("starts a %s agent by its interpreter", ([framework, subject]) =>
    Effect.gen(function* () {
      const settings = { pythonPath: python.interpreter, ...subject.settings }
      const { attached, read } = yield* attach({ ...subject, framework, settings })
      yield* attached
      yield* eventually(
        Effect.try({ try: () => assert.strictEqual(read("seen"), `${framework} 1`), catch: (error) => error })
      )
      if (framework === "langchain") assert.strictEqual(read("own"), "")
    }).pipe(Effect.scoped)
  )

  it.effect("starts what a TypeScript entrypoint was built to, when that exists", () =>
    Effect.gen(function* () {
      const built = "console.log('ready, built'); process.stdin.resume()"
      const { attached, lines } = yield* attach({
        files: { "src/deep/agent.ts": "throw new Error('source')", "dist/deep/agent.js": built },
        entrypoint: { type: "node_file", value: "src/deep/agent.ts" }
      })
      yield* attached
      yield* containing(lines, said("ready, built"))
    }).pipe(Effect.scoped)
  )

  it.effect("waits for an agent that announces itself", () =>
    Effect.gen(function* () {
      const { attached, lines } = yield* attach({
        files: { run: "#!/bin/sh\necho loading\nsleep 0.7\necho now ready\nexec cat\n" },
        entrypoint: { type: "command", value: "./run" },
        // Alive for longer than this it would have counted as attached before.
        settings: { attachConfirmationMs: 1 }
      })
      yield* attached
      assert.include(lines, said("now ready"))
    }).pipe(Effect.scoped)
  )

  it.effect("gives an agent up that hangs without announcing itself, and leaves nothing of it", () =>
    Effect.gen(function* () {
      const { attached, host, read } = yield* attach({
        files: { run: "#!/bin/sh\necho $$ > pid\necho thinking\nexec sleep 300\n" },
        entrypoint: { type: "command", value: "./run" },
        host: { readyText: "ready", startupTimeoutMs: 500 }
      })
      const { reason } = yield* Effect.flip(attached)
      assert.strictEqual(reason, "process did not confirm attach within 500 ms")
      assert.isFalse(isAlive(Number(read("pid"))))
      assert.deepStrictEqual(yield* host.running, [])
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["that ends", "#!/bin/sh\nexit 7\n", "process exited before attach confirmed (code=7, signal=null)"],
    ["that is killed", "#!/bin/sh\nkill -9 $$\n", "process exited before attach confirmed (code=null, signal=SIGKILL)"]
  ] as const)("reports an agent %s before it has announced itself", ([, run, expected]) =>
    Effect.gen(function* () {
      const { attached } = yield* attach({ files: { run }, entrypoint: { type: "command", value: "./run" } })
      assert.strictEqual((yield* Effect.flip(attached)).reason, expected)
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["./missing", /^spawn error: there is no \.\/missing beside the manifest, in the agents' folder, in the service's/],
    ["./folder", /^spawn error: there is no \.\/folder beside the manifest, /],
    ["missing", /^spawn error: there is no program missing on the PATH of agents$/]
  ] as const)("reports why %s cannot be started", ([value, expected]) =>
    Effect.gen(function* () {
      const { attached } = yield* attach({ files: { "folder/file": "" }, entrypoint: { type: "command", value } })
      assert.match((yield* Effect.flip(attached)).reason, expected)
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["is stopped", `${PATIENT}sleep 1\n`],
    ["ends by itself", "#!/bin/sh\necho ready\nsleep 0.2\n"]
  ] as const)("leaves no process behind that an agent had started when it %s", ([, rest]) =>
    Effect.gen(function* () {
      const { attached, host, read } = yield* attach({
        files: {
          run: rest.replace("echo", "sh -c 'trap \"\" TERM; sleep 300' > /dev/null 2>&1 &\necho $! > child\necho")
        },
        entrypoint: { type: "command", value: "./run" }
      })
      const { pid } = yield* attached
      if (rest.startsWith(PATIENT)) yield* host.stopRun(SESSION_ID)
      yield* gone(pid)
      yield* gone(Number(read("child")))
    }).pipe(Effect.scoped)
  )

  it.effect("keeps lines bounded and control characters out of the log", () =>
    Effect.gen(function* () {
      const script = `process.stdout.write("a\\rb\\u001b[31m\\n" + "x".repeat(${MAX_LINE_LENGTH + 10}) + "\\nready\\n"); process.stdin.resume()`
      const { attached, lines } = yield* attach({
        files: { "agent.js": script },
        entrypoint: { type: "node_file", value: "agent.js" }
      })
      yield* attached
      assert.deepStrictEqual(lines, [
        said("a"),
        said("b\\u001b[31m"),
        said("x".repeat(MAX_LINE_LENGTH)),
        said("x".repeat(10)),
        said("ready")
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("finds a script in the agents' folder before the service's root, and beside the manifest before both", () =>
    Effect.gen(function* () {
      const scriptIn = (folder: string) => `#!/bin/sh\necho "ready in ${folder} from $(basename "$PWD")"\nexec cat\n`
      const started = (files: Readonly<Record<string, string>>, host: AgentManifest["host"] = {}) =>
        Effect.gen(function* () {
          const { attached, lines, root } = yield* attach(
            {
              files,
              entrypoint: { type: "command", value: "bin/run.sh" },
              host: { ...host, readyText: "ready" },
              settings: {}
            },
            "agents"
          )
          yield* attached
          return lines.map((line) => line.replace(/.*ready in /, "").replace(root.replace(/.*\//, ""), "root"))
        })
      const root = { "bin/run.sh": scriptIn("root") }
      const agents = { ...root, "agents/bin/run.sh": scriptIn("agents") }
      const manifests = { ...agents, "agents/manifests/bin/run.sh": scriptIn("manifests") }
      assert.deepStrictEqual(yield* started(root), ["root from root"])
      assert.deepStrictEqual(yield* started(agents), ["agents from root"])
      assert.deepStrictEqual(yield* started(manifests), ["manifests from root"])
      const own = { ...manifests, "agents/own/bin/run.sh": scriptIn("own") }
      assert.deepStrictEqual(yield* started(own, { cwd: "own" }), ["own from own"])
    }).pipe(Effect.scoped)
  )

  it.effect("cuts the output of an agent beyond its budget, with a note, and keeps its last lines", () =>
    Effect.gen(function* () {
      const flood = "x".repeat(99)
      const { attached, lines } = yield* attach({
        files: {
          "agent.js": `console.log("ready"); let n = 0
            const go = () => { if (n++ < 2_000) process.stderr.write(("${flood}\\n").repeat(10), go); else { console.error("the end"); process.exit(4) } }
            setTimeout(go, 50)`
        },
        entrypoint: { type: "node_file", value: "agent.js" },
        settings: { agentLogBytesPerSecond: 10_000 }
      })
      const { ended } = yield* attached
      const { code, lastLines } = yield* ended
      assert.strictEqual(code, 4)
      assert.deepStrictEqual(lastLines, [flood, flood, "the end"])
      const logged = lines.filter((line) => line.includes(flood)).length
      assert.isBelow(logged, 10_000)
      assert.isAbove(logged, 0)
      assert.isTrue(lines.some((line) => line.endsWith("writes more than 10000 bytes a second: more is left out")))
      assert.isTrue(lines.some((line) => /\d+ bytes of its output were left out$/.test(line)))
    }).pipe(Effect.scoped)
  )

  it.effect(
    "gives an agent of another user its own bootstrap file, and nothing of the service or of other agents",
    () =>
      Effect.gen(function* () {
        const agentUser = (yield* findUser("nobody")) ?? assert.fail("no user nobody")
        const { host, root } = yield* makeHost({ agentUser })
        chmodSync(root, 0o711)
        writeTree(`${root}/`, { "look.sh": LOOK })
        chmodSync(`${root}/look.sh`, 0o755)
        const manifest: AgentManifest = {
          ...{ id: "a", name: "A", framework: "custom", host: {} },
          entrypoint: { type: "command", value: "./look.sh" }
        }
        const binding = { participantId: "one", role: "member", agentRef: "agent-a" }
        const assignment = { compiled: compiledLaunch(), binding, token: "tok", framework: "custom" as const }
        const { reason } = yield* Effect.flip(host.attach(assignment, manifest))
        // Who is not root cannot give a file away.
        if (process.getuid?.() !== 0) return assert.match(reason, /^bootstrap file not written: PermissionDenied$/)
        assert.isTrue(reason.endsWith("(code=3, signal=null): nobody nobody, own file"), reason)
        assert.deepStrictEqual(readdirSync(`${root}/bootstrap`), [])
      }).pipe(Effect.scoped)
  )
})
