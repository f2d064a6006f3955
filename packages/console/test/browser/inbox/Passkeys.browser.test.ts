import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { AUDIENCE, CLIENT_ID, freePorts, makeCodeIssuer } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Page } from "playwright-core"
import { looksRight } from "../Looks.ts"
import { startSecureProxy } from "../proxies/SecureProxy.ts"
import { ask, CONTROL_PLANE, KEY, LAUNCHER, openPage, PATIENCE_MS, startStackWith, tearDown } from "../Stage.ts"

const PACKS = fileURLToPath(new URL("../../../../../packs/", import.meta.url))
const VERIFY = fileURLToPath(new URL("../../../../verify/verify.py", import.meta.url))
const SCENARIO = "incident/night-failover@1.0.0"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "runplane-console-passkeys-"))
const [secure = 0] = await Effect.runPromise(freePorts(1))
const PAGE = `https://localhost:${secure}`

let issuer: Effect.Success<typeof makeCodeIssuer>
let proxy: Awaited<ReturnType<typeof startSecureProxy>>

/** Sets the proof that the duty officer of the next launches needs. */
const requireProof = (proof: "fresh" | "passkey") => {
  const file = join(folder, "incident/scenarios/night-failover/1.0.0/scenario.yaml")
  const text = readFileSync(file, "utf8").replace(/\n {8}reason: required(\n {8}proof: \w+)?/, "")
  writeFileSync(
    file,
    text.replace("onDeadline: nothing", `onDeadline: nothing\n        reason: required\n        proof: ${proof}`)
  )
}

beforeAll(async () => {
  cpSync(PACKS, folder, { recursive: true })
  issuer = await Effect.runPromise(Scope.provide(makeCodeIssuer, scope))
  issuer.state.person = { sub: "tom", preferred_username: "Tom", roles: ["voter"], groups: ["duty-officers"] }
  proxy = await startSecureProxy(secure, LAUNCHER)
  await startStackWith({
    PACKS_DIR: folder,
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: AUDIENCE,
    OIDC_CLIENT_ID: CLIENT_ID,
    LAUNCHER_PUBLIC_URL: PAGE
  })
})

afterAll(async () => {
  await tearDown()
  proxy?.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

/** Launches the example, and returns its run and its question. */
const question = async () => {
  const launched = await ask("POST", `${LAUNCHER}/examples/run`, {
    scenarioRef: SCENARIO,
    inputs: {},
    bootstrapAgents: true
  })
  assert.strictEqual(launched.status, 201, launched.text)
  const { controlPlaneRun, sessionId } = launched.body
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
    const { body } = await ask("GET", `${LAUNCHER}/inbox?scope=all`)
    const found = body.data.find((one: { readonly sessionId: string }) => one.sessionId === sessionId)
    if (found !== undefined) return { run: String(controlPlaneRun.runId), item: String(found.id) }
    await new Promise((next) => setTimeout(next, 200))
  }
  throw new Error("the question did not open")
}

/** What `verify.py` says about the evidence of a run, which it must accept. */
const verified = async (run: string) => {
  const answer = await fetch(`${CONTROL_PLANE}/runs/${run}/evidence`, { headers: { authorization: `Bearer ${KEY}` } })
  const file = join(folder, "case.evidence.zip")
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  const { status, stdout, stderr } = spawnSync("python3", [VERIFY, file], { encoding: "utf8" })
  if (status !== 0) throw new Error(`verify.py ended with ${status}: ${stdout}${stderr} (${answer.status})`)
  return stdout
}

/** A phone with a passkey in it, whose owner confirms each use. */
const authenticatorOf = async (page: Page) => {
  const session = await page.context().newCDPSession(page)
  await session.send("WebAuthn.enable")
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  return {
    verify: (isUserVerified: boolean) => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified })
  }
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })
const steady = (page: Page) => page.locator("[data-steady=true]").waitFor()

/** Chooses to reject, and confirms. */
const reject = async (page: Page, reason: string) => {
  await steady(page)
  await button(page, /^Reject/).click()
  if (reason !== "") await page.getByRole("textbox", { name: /Reason, required/ }).fill(reason)
  await confirm(page)
}
const confirm = async (page: Page) => {
  await steady(page)
  await button(page, /^Reject [0-9a-f]{8}$/).click()
}

// docs/reference/people.md#passkeys
describe("the page of the inbox with a real service, an issuer and TLS", () => {
  it("signs a person in, enrols a passkey, and signs the answer with it", async () => {
    requireProof("passkey")
    const { context, misdeeds, page } = await openPage({ origin: PAGE, signedIn: false, width: 390 })
    const device = await authenticatorOf(page)
    issuer.state.age = 3_600
    await page.goto(`${PAGE}/inbox`)
    await page.getByRole("link", { name: "Sign in" }).click()
    await page.getByText("No question waits for you").waitFor()
    const [cookie] = (await context.cookies(PAGE)).filter(({ name }) => name.includes("runplane-person"))
    const { httpOnly, name, sameSite, secure: isSecure } = cookie ?? {}
    assert.deepStrictEqual(
      { httpOnly, isSecure, name, sameSite },
      { httpOnly: true, isSecure: true, name: "__Host-runplane-person", sameSite: "Lax" }
    )

    // The sign-in is an hour old: another one comes first.
    issuer.state.age = 5
    await page.getByText("Your passkeys: 0").click()
    await page.getByRole("link", { name: "Sign in again to enrol one" }).click()
    await page.getByText("Your passkeys: 0").click()
    await page.getByRole("textbox", { name: /Name of a new one/ }).fill("Phone of Tom")
    await button(page, "Enrol a passkey").click()
    await page.getByText("Phone of Tom is enrolled.").waitFor()
    await page.getByText("Your passkeys: 1").waitFor()
    await looksRight(page, "inbox-passkeys", [390, 360])
    // The same device makes no second one.
    await page.getByRole("textbox", { name: /Name of a new one/ }).fill("Again")
    await button(page, "Enrol a passkey").click()
    await page.getByRole("alert").getByText("This device has a passkey of yours already.").waitFor()

    const { item, run } = await question()
    await page.goto(`${PAGE}/inbox/${item}`)
    await device.verify(false)
    await reject(page, "the queue holds until the morning")
    await page.getByRole("alert").getByText("Not signed: your answer was not sent").waitFor()
    await looksRight(page, "inbox-not-signed", [390])
    await device.verify(true)
    await confirm(page)
    await page.getByText("The session has the answer on record.").waitFor()
    const ended = await ask("GET", `${CONTROL_PLANE}/runs/${run}?wait=terminal&timeoutMs=60000`)
    assert.strictEqual(ended.body.status, "completed", ended.text)
    const { body: artifacts } = await ask("GET", `${CONTROL_PLANE}/runs/${run}/artifacts`)
    const { inline } = artifacts.find(({ kind }: { readonly kind: string }) => kind === "people.answer")
    assert.deepInclude(inline, { person: "tom", proof: "passkey", act: "reject", channel: "console" })
    assert.deepInclude(inline.passkey, { rpId: "localhost" })
    assert.include(await verified(run), "which person holds a passkey: the launch service says so")
    assert.deepStrictEqual(misdeeds.errors, [])
    await context.close()
  })

  it("explains a question that is older than each passkey of the person", async () => {
    const { item } = await question()
    issuer.state.person = { ...issuer.state.person, sub: "bea", preferred_username: "Bea" }
    const { context, page } = await openPage({ origin: PAGE, signedIn: false, width: 390 })
    await authenticatorOf(page)
    await page.goto(`${PAGE}/inbox/${item}`)
    await page.getByRole("link", { name: "Sign in" }).click()
    await reject(page, "not now")
    await page.getByRole("alert").getByText("No passkey of yours counts here: your answer was not sent").waitFor()
    await context.close()
  })

  it("leads through a fresh sign-in, and comes back with the typed reason", async () => {
    requireProof("fresh")
    const { item } = await question()
    issuer.state.person = { ...issuer.state.person, sub: "tom", preferred_username: "Tom" }
    const { context, page } = await openPage({ origin: PAGE, signedIn: false, width: 390 })
    // Fresh for a moment only: it is too old when the answer comes.
    issuer.state.age = 285
    await page.goto(`${PAGE}/inbox/${item}`)
    await page.getByRole("link", { name: "Sign in" }).click()
    await steady(page)
    await button(page, /^Reject/).click()
    await page.getByRole("textbox", { name: /Reason, required/ }).fill("the replica is behind")
    await page.getByText("This question requires a sign-in of the last five minutes.").waitFor()
    issuer.state.age = 5
    await page.getByRole("link", { name: "Sign in again" }).click()
    await reject(page, "")
    await page.getByText("on its way into the session").or(page.getByText("has the answer on record")).first().waitFor()
    const { body } = await ask("GET", `${LAUNCHER}/inbox/${item}`)
    assert.deepInclude(body.given, { by: "tom" })
    assert.strictEqual(body.given.content.reason, "the replica is behind")
    await context.close()
  })
})
