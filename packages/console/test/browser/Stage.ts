import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePorts, type Program, programFile, request, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { onTestFailed } from "vitest"
import { type Issuer, startIssuer } from "./Issuer.ts"

const STACK = fileURLToPath(new URL("../../../stack/src/main.ts", import.meta.url))
const SCREENSHOTS = fileURLToPath(new URL("../../screenshots/", import.meta.url))
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** The key of the services of the tests. */
export const KEY = "key-of-the-tests"

/** Everything takes this long at most, on a machine with other work. */
export const PATIENCE_MS = 60_000

/** Where the services of a file are. */
export let CONTROL_PLANE = ""
export let LAUNCHER = ""

let ports: Readonly<Record<string, string>> = {}
const choosePorts = async () => {
  const [launcher, controlPlane, sandbox, auth, postgres] = await Effect.runPromise(freePorts(5))
  CONTROL_PLANE = `http://127.0.0.1:${controlPlane}`
  LAUNCHER = `http://127.0.0.1:${launcher}`
  ports = {
    LAUNCHER_PORT: String(launcher),
    CONTROL_PLANE_PORT: String(controlPlane),
    SANDBOX_PORT: String(sandbox),
    AUTH_PORT: String(auth),
    RUNPLANE_POSTGRES_PORT: String(postgres)
  }
}
await choosePorts()

/**
 * What the tests of one file share. The next file of the same worker shares this module, and makes its own, on ports
 * of its own: one that another process holds fails one file and not each that follows.
 */
interface Shared {
  readonly dataFolder: string
  readonly issuer: Issuer
  readonly scope: Scope.Closeable
}
let shared: Shared | undefined
let stack: Program | undefined
let browser: Browser | undefined

/** Starts the stack, or starts it again on the same ports and the same data. A hook: it takes no arguments. */
export const startStack = (): Promise<void> => startStackWith({})

/** The same with further settings of the services. */
export const startStackWith = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  shared ??= {
    dataFolder: mkdtempSync(join(tmpdir(), "runplane-console-stack-")),
    issuer: await startIssuer(),
    scope: Scope.makeUnsafe()
  }
  const { dataFolder, issuer, scope } = shared
  const program = programFile("all-in-one", STACK)
  const env = {
    ...process.env,
    ...program.env,
    ...ports,
    OTLP_GRPC_PORT: "0",
    RUNPLANE_DATA_DIR: dataFolder,
    AUTH_API_KEYS: KEY,
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: "runplane",
    THROTTLE_LIMIT: "1000000",
    WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
    ...settings
  }
  stack = await Effect.runPromise(Scope.provide(startProgram(program.main, { args: ["--no-demo"], env }), scope))
  const serving = await Effect.runPromise(stack.line("Serving"))
  if (serving === undefined) throw new Error(`the stack did not start: ${stack.output()}`)
}

/** A token that the services of the tests take where they take a key. */
export const tokenFor = (expiresInSeconds: number): string => {
  if (shared === undefined) throw new Error("the stack was not started")
  return shared.issuer.token(expiresInSeconds)
}

/** Ends the stack as Ctrl-C does. */
export const stopStack = async (): Promise<void> => {
  if (stack !== undefined) await Effect.runPromise(stack.kill("SIGTERM"))
  stack = undefined
}

/** Kills the stack, as `kill -9` does. */
export const killStack = async (): Promise<void> => {
  if (stack !== undefined) await Effect.runPromise(stack.kill("SIGKILL"))
  stack = undefined
}

/** Stops the processes of the stack as a debugger does, and returns how they continue. */
export const pauseStack = (): (() => void) => {
  const pid = stack?.pid ?? 0
  process.kill(pid, "SIGSTOP")
  return () => process.kill(pid, "SIGCONT")
}

/** Stops the database of the stack with its sessions, and returns how it continues. */
export const pauseDatabase = (): (() => void) => {
  const [line = ""] = readFileSync(join(shared?.dataFolder ?? "", "postgres", "postmaster.pid"), "utf8").split("\n")
  const server = Number(line)
  const children = readFileSync(`/proc/${server}/task/${server}/children`, "utf8").trim().split(" ").map(Number)
  const pids = [server, ...children]
  for (const pid of pids) process.kill(pid, "SIGSTOP")
  return () => {
    for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT")
  }
}

/** What a page did that it must not do. */
export interface Misdeeds {
  readonly errors: Array<string>
  readonly foreign: Array<string>
}

export interface Stage {
  readonly context: BrowserContext
  readonly page: Page
  readonly misdeeds: Misdeeds
}

interface StageOptions {
  readonly width?: number
  readonly theme?: "light" | "dark"
  /** Whether the key is there already. */
  readonly signedIn?: boolean
  /** Where the page keeps its key; below a path it has a name of its own. */
  readonly storedKey?: string
  /** A proxy in front of the services; the certificate of one with TLS is not checked. */
  readonly origin?: string
}

/** A page of its own, on a screen and in a theme. */
export const openPage = async ({
  origin: proxy,
  signedIn = true,
  storedKey = "runplane.key",
  theme = "light",
  width = 1280
}: StageOptions = {}): Promise<Stage> => {
  browser ??= await chromium.launch({
    executablePath: process.env["CONSOLE_CHROMIUM"] ?? "",
    // The tests may run as root, who has no sandbox, and where /dev/shm is small.
    args: ["--no-sandbox", "--disable-dev-shm-usage"]
  })
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: "reduce",
    ignoreHTTPSErrors: proxy?.startsWith("https:") === true
  })
  context.setDefaultTimeout(PATIENCE_MS)
  if (signedIn) {
    await context.addInitScript(([name, key]) => sessionStorage.setItem(name, key), [storedKey, KEY] as const)
  }
  const page = await context.newPage()
  const misdeeds: Misdeeds = { errors: [], foreign: [] }
  page.on("pageerror", (error) => misdeeds.errors.push(error.message))
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) misdeeds.errors.push(message.text())
  })
  page.on("request", (sent) => {
    const { origin, protocol } = new URL(sent.url())
    const isOurs = [CONTROL_PLANE, LAUNCHER, proxy].includes(origin) || protocol === "data:" || protocol === "blob:"
    if (!isOurs) misdeeds.foreign.push(sent.url())
  })
  describeFailure(page)
  return { context, page, misdeeds }
}

/** Characters of the log of the stack that a report has at most. */
const LONGEST_LOG = 20_000

/** Answers and requests that a report has at most, and characters of the page. */
const MOST_FAILED = 5
const MOST_SHOWN = 500

/** Adds what the page shows, and the last requests that failed, to the failure of the test that opened it. */
const describeFailure = (page: Page) => {
  const failed: Array<string> = []
  page.on("requestfailed", (sent) => failed.push(`${sent.url()} ${sent.failure()?.errorText}`))
  page.on("response", (answer) => {
    if (answer.status() >= 400) failed.push(`${answer.url()} ${answer.status()}`)
  })
  onTestFailed(async ({ task }) => {
    const text = (await page.locator("body, #content").last().textContent({ timeout: 5_000 }).catch(String)) ?? ""
    const shown = `${page.url()} shows: ${text.replaceAll(/\s+/g, " ").slice(0, MOST_SHOWN)}`
    for (const error of task.result?.errors ?? []) {
      error.stack = [error.message, shown, ...failed.slice(-MOST_FAILED), error.stack].join("\n")
    }
  })
}

/** Opens a page of the console, and waits until it is loaded, or only until it has begun (`commit`). */
export const go = (page: Page, path: string, waitUntil: "load" | "commit" = "load") =>
  page.goto(`${CONTROL_PLANE}/console${path}`, { waitUntil })

const readFindings = Schema.decodeUnknownSync(
  Schema.Struct({
    violations: Schema.Array(
      Schema.Struct({ id: Schema.String, nodes: Schema.Array(Schema.Struct({ html: Schema.String })) })
    )
  })
)

/** What axe finds wrong with a page. */
export const violationsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE)
  const { violations } = readFindings(
    await page.evaluate(
      "axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })"
    )
  )
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 300)}`))
}

/** Keeps a screenshot of the page. */
export const picture = async (page: Page, name: string): Promise<void> => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}

/** An answer of the API, as every other client gets it. */
export const ask = (method: string, url: string, body?: unknown) =>
  Effect.runPromise(
    request(method, url, {
      headers: {
        // A test may compute for seconds, and the service closes an idle connection meanwhile.
        connection: "close",
        ...(url.startsWith(LAUNCHER) ? { "x-api-key": KEY } : { authorization: `Bearer ${KEY}` })
      },
      ...(body === undefined ? {} : { body })
    })
  )

/** Creates a cancellable run whose session is never opened; returns the answer of the service. */
export const waitingRun = async (metadata: Readonly<Record<string, unknown>>, participant = "ana") => {
  const created = await ask("POST", `${CONTROL_PLANE}/runs`, {
    mode: "live",
    runtime: { kind: "rust" },
    session: {
      modeName: "macp.mode.decision.v1",
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      ttlMs: 600_000,
      participants: [{ id: participant }],
      metadata: { ...metadata, cancellationDelegated: true }
    }
  })
  if (created.status !== 202) throw new Error(`the run was not made: ${created.text}`)
  return created
}

interface Example {
  readonly scenarioRef: string
  readonly inputs: object
}

const EXAMPLE: Example = { scenarioRef: "incident/region-failover@1.0.0", inputs: {} }

/** Launches an example; answers its run. */
export const launchExample = async (example = EXAMPLE): Promise<string> => {
  const body = { ...example, bootstrapAgents: true }
  const { body: answer, status, text } = await ask("POST", `${LAUNCHER}/examples/run`, body)
  if (status !== 201) throw new Error(`the example was not launched: ${status} ${text}`)
  return String(answer.controlPlaneRun.runId)
}

/** The events of a run, a line each, for the message of a failure. */
const eventsAsLines = async (id: string): Promise<string> => {
  const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${id}/events?limit=1000`)
  const events: ReadonlyArray<{ readonly ts: string; readonly type: string; readonly data: unknown }> = body
  return events.map(({ data, ts, type }) => `${ts} ${type} ${JSON.stringify(data).slice(0, 300)}`).join("\n")
}

/** Launches an example and waits until it has completed; answers its run. */
export const completedExample = async (example = EXAMPLE): Promise<string> => {
  const id = await launchExample(example)
  let last = ""
  for (let left = 60; left > 0; left--) {
    const { body, status, text } = await ask("GET", `${CONTROL_PLANE}/runs/${id}?wait=terminal&timeoutMs=10000`)
    if (body.status === "completed") return id
    last = `${status} ${text}`
    if (["failed", "cancelled"].includes(String(body.status))) break
  }
  const log = stack?.output().slice(-LONGEST_LOG)
  throw new Error(`the run did not complete: ${last}\n${await eventsAsLines(id)}\n${log}`)
}

/** Waits until the page shows this state of the connection. */
export const light = (page: Page, state: string) =>
  page.locator(`[data-light="${state}"]`).locator("visible=true").first().waitFor()

/** Each part is ended, however the end of another fails: what stays would fail the files that follow. */
export const tearDown = async (): Promise<void> => {
  const [wasBrowser, wasShared] = [browser, shared]
  browser = undefined
  shared = undefined
  try {
    await wasBrowser?.close()
  } finally {
    try {
      await stopStack()
    } finally {
      wasShared?.issuer.close()
      if (wasShared !== undefined) {
        await Effect.runPromise(Scope.close(wasShared.scope, Exit.void))
        await choosePorts()
        // A process of the stack that was killed may write for a moment more.
        rmSync(wasShared.dataFolder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
      }
    }
  }
}
