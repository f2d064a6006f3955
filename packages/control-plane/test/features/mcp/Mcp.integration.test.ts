import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { tools } from "@runplane/mcp"
import { request } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { appendMessages } from "../../support/Appends.ts"
import { decided } from "../../support/Committee.ts"
import { baseUrl, call, layerTestService } from "../../support/HttpService.ts"
import { runningRun } from "../../support/LiveRuns.ts"
import { type ClientOptions, CURRENT, connect, PREVIOUS } from "./Clients.ts"

const settings = {
  AUTH_API_KEYS: "viewer,operator,other,admin",
  AUTH_API_KEY_NAMES: "viewer,operator,other,admin",
  AUTH_API_KEY_ROLES: "viewer,operator,operator,admin",
  CORS_ORIGIN: "https://console.example.org",
  OIDC_ISSUER: "http://127.0.0.1:9/realms/company",
  OIDC_AUDIENCE: "runplane"
}
const admin = { authorization: "Bearer admin" }

/** A client of this service. */
const client = (options: ClientOptions) => Effect.flatMap(baseUrl, (url) => connect(url, options))

const running = runningRun({}, "policy.default", {}, admin)

const statusOf = (runId: string) =>
  Effect.map(call("GET", `/runs/${runId}`, { headers: admin }), ({ body }): string => body.status)

/** Tools of the launch service are absent: this service has no address of one. */
const listedFor = (...roles: ReadonlyArray<string>) =>
  tools.filter(({ access, launches }) => launches !== true && roles.includes(access)).map(({ name }) => name)

/** A request of revision 2026-07-28 as a client sends it. */
const post = (headers: Readonly<Record<string, string>>, method: string, params: Record<string, unknown> = {}) =>
  call("POST", "/mcp", {
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": CURRENT,
      "mcp-method": method,
      ...headers
    },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": CURRENT,
          "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
          "io.modelcontextprotocol/clientCapabilities": {}
        }
      }
    }
  })

// docs/reference/mcp.md
layer(layerTestService({ settings }), { excludeTestServices: true })("the MCP endpoint", (it) => {
  for (const revision of [CURRENT, PREVIOUS] as const) {
    it.effect(`lists the tools of the caller's role, and calls them, in revision ${revision}`, () =>
      Effect.gen(function* () {
        const runId = yield* decided
        const names = Effect.fnUntraced(function* (key: string) {
          const { attempt, client: sdk } = yield* client({ revision, key })
          return (yield* attempt(() => sdk.listTools())).tools.map(({ name }) => name)
        })
        assert.deepStrictEqual(yield* names("viewer"), listedFor("viewer"))
        assert.deepStrictEqual(yield* names("operator"), listedFor("viewer", "operator"))
        assert.deepStrictEqual(yield* names("admin"), listedFor("viewer", "operator", "admin"))

        const viewer = yield* client({ revision, key: "viewer" })
        const found = yield* viewer.call("run_get", { runId })
        assert.deepStrictEqual(JSON.parse(found.text), found.content)
        assert.strictEqual(found.content["decision"].action, "decision.selected")
        assert.deepStrictEqual(found.content["said"], [{ by: "agent://lead", what: "reason", text: "agreed" }])
        const refused = yield* Effect.flip(viewer.call("run_cancel", { runId }))
        assert.match(refused.message, /403|not found|role operator/i)
        assert.deepInclude((yield* viewer.call("alerts_list")).content, { total: 0, rows: [] })
        const unknown = yield* viewer.call("run_get", { runId: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10" })
        assert.isTrue(unknown.isError)
        assert.match(unknown.text, /^RUN_NOT_FOUND: /)
      })
    )

    it.effect(`acts once a person has confirmed in revision ${revision}, and not when the person declines`, () =>
      Effect.gen(function* () {
        const runId = yield* running
        const asked: Array<string> = []
        const answers = [undefined, { confirm: false }, { confirm: true, reason: "lunch" }]
        const person = (message: string) => {
          asked.push(message)
          return answers[asked.length - 1]
        }
        const operator = yield* client({ revision, key: "operator", person })
        for (const _ of answers.slice(1)) {
          assert.strictEqual((yield* operator.call("run_suspend", { runId })).content["state"], "declined")
        }
        assert.strictEqual(yield* statusOf(runId), "running")
        assert.strictEqual((yield* operator.call("run_suspend", { runId })).content["state"], "done")
        assert.strictEqual(yield* statusOf(runId), "suspended")
        assert.include(asked[0], runId)
        const sql = yield* PgClient.PgClient
        const [entry] = yield* sql<{ readonly actor: string; readonly details: Record<string, string> }>`
          SELECT actor, details FROM audit_log WHERE resource_id = ${runId} AND action = 'run.suspend'`
        assert.strictEqual(entry?.actor, "operator")
        assert.deepInclude(entry?.details, {
          via: "mcp",
          client: "test-client",
          clientVersion: "1.2.3",
          reason: "lunch"
        })
      })
    )
  }

  it.effect("acts with a token of step one once, in the hands of its key, while the run is as it was", () =>
    Effect.gen(function* () {
      const runId = yield* running
      const [operator, other] = [
        yield* client({ key: "operator" }),
        yield* client({ key: "other", revision: PREVIOUS })
      ]
      const given = { runId, reason: "maintenance\u200b" }
      const first = yield* operator.call("run_suspend", given)
      assert.deepInclude(first.content, { state: "confirm" })
      // What a person does not see is written out.
      assert.deepStrictEqual(first.content["arguments"], { runId, reason: "maintenance\\u{200b}" })
      assert.deepInclude(first.content["would"], { runId, status: "running", actor: "operator" })
      assert.strictEqual(yield* statusOf(runId), "running")
      const { confirmToken } = first.content

      const foreign = yield* other.call("run_suspend", { ...given, confirmToken })
      assert.strictEqual(foreign.text, "CONFIRMATION_REFUSED: the token belongs to another key")
      const elsewhere = yield* operator.call("run_cancel", { runId, confirmToken })
      assert.match(elsewhere.text, /^CONFIRMATION_REFUSED: the token is for another call/)
      const refused = /^CONFIRMATION_REFUSED: .*it confirms the arguments that were shown/
      for (const others of [{ runId }, { runId, reason: "an agent said so" }, { ...given, reason: "maintenance" }]) {
        assert.match((yield* operator.call("run_suspend", { ...others, confirmToken })).text, refused)
      }
      assert.strictEqual(yield* statusOf(runId), "running")
      const forged = yield* operator.call("run_suspend", {
        ...given,
        confirmToken: `${confirmToken.split(".")[0]}.AAAA`
      })
      assert.strictEqual(forged.text, "CONFIRMATION_REFUSED: the token is not one of this service")
      // As many characters as a signature, and more bytes.
      const wide = yield* operator.call("run_suspend", {
        ...given,
        confirmToken: `${confirmToken.split(".")[0]}.${"\u00e9".repeat(43)}`
      })
      assert.strictEqual(wide.text, "CONFIRMATION_REFUSED: the token is not one of this service")

      const done = yield* operator.call("run_suspend", { ...given, confirmToken })
      assert.deepInclude(done.content, { state: "done", status: "suspended" })
      const stale = yield* operator.call("run_suspend", { ...given, confirmToken })
      assert.deepInclude(stale.content, { state: "stale" })
      assert.deepStrictEqual(stale.content["changed"].status, ["running", "suspended"])

      // The run is as it was, but the token is used.
      const step = yield* operator.call("run_resume", { runId })
      const resumed = yield* operator.call("run_resume", { runId, confirmToken: step.content["confirmToken"] })
      assert.strictEqual(resumed.content["state"], "done")
      const [again, replayed] = yield* Effect.all(
        [1, 2].map(() => operator.call("run_suspend", { ...given, confirmToken })),
        { concurrency: 2 }
      )
      assert.deepStrictEqual([again?.content["state"], replayed?.content["state"]], ["stale", "stale"])
    })
  )

  it.effect("refuses a token that was used, though the run is as it was", () =>
    Effect.gen(function* () {
      const policyId = "p.new"
      const { call: asAdmin } = yield* client({ key: "admin" })
      const input = { policyId, mode: "macp.mode.decision.v1", rules: { voting: { algorithm: "nonsense" } } }
      const { content } = yield* asAdmin("policy_register", input)
      const used = { ...input, confirmToken: content["confirmToken"] }
      // The rules are refused, so the registry is as it was.
      assert.match((yield* asAdmin("policy_register", used)).text, /^INVALID_POLICY_DEFINITION/)
      assert.strictEqual(
        (yield* asAdmin("policy_register", used)).text,
        "CONFIRMATION_REFUSED: the token was used before"
      )
    })
  )

  it.effect("answers what is not a call of a client as the transport and the edge demand", () =>
    Effect.gen(function* () {
      const viewer = { authorization: "Bearer viewer" }
      const listed = yield* post(viewer, "tools/list")
      assert.strictEqual(listed.status, 200)
      assert.lengthOf(listed.body.result.tools, listedFor("viewer").length)

      const unauthenticated = yield* post({}, "tools/list")
      assert.strictEqual(unauthenticated.status, 401)
      const metadata = `${yield* baseUrl}/.well-known/oauth-protected-resource/mcp`
      assert.strictEqual(unauthenticated.headers.get("www-authenticate"), `Bearer resource_metadata="${metadata}"`)
      const { body } = yield* request("GET", metadata)
      assert.deepInclude(body, { resource: `${yield* baseUrl}/mcp`, authorization_servers: [settings.OIDC_ISSUER] })
      assert.strictEqual(unauthenticated.body.errorCode, "UNAUTHENTICATED")
      const named = yield* post({ ...viewer, "mcp-name": "run_cancel" }, "tools/call", {
        name: "run_cancel",
        arguments: {}
      })
      assert.strictEqual(named.status, 403)
      assert.strictEqual(named.body.message, "the tool run_cancel needs the role operator; this caller has viewer")

      const get = yield* call("GET", "/mcp", { headers: viewer })
      assert.strictEqual(get.status, 405)
      const hostile = yield* post({ ...viewer, origin: "https://evil.example.org" }, "tools/list")
      assert.strictEqual(hostile.status, 403)
      for (const origin of ["https://console.example.org", yield* baseUrl]) {
        assert.strictEqual((yield* post({ ...viewer, origin }, "tools/list")).status, 200)
      }
      const mismatched = yield* post({ ...viewer, "mcp-method": "tools/call" }, "tools/list")
      assert.strictEqual(mismatched.status, 400)
      const wrong = yield* post({ ...viewer, "mcp-name": "run_get" }, "tools/call", {
        name: "run_get",
        arguments: { runId: 7 }
      })
      assert.strictEqual(wrong.status, 200)
      assert.isDefined(wrong.body.error ?? wrong.body.result.isError)
    })
  )

  it.effect("notifies the subscriber of a run's resource, and serves resources, prompts and completions", () =>
    Effect.gen(function* () {
      const runId = yield* running
      const { attempt, client: sdk } = yield* client({ key: "viewer" })
      const updated = yield* Queue.unbounded<string>()
      sdk.setNotificationHandler("notifications/resources/updated", ({ params }) => {
        Queue.offerUnsafe(updated, params.uri)
      })
      const uri = `runplane://runs/${runId}/story`
      const subscription = yield* attempt(() => sdk.listen({ resourceSubscriptions: [uri] }))
      assert.deepStrictEqual(subscription.honoredFilter.resourceSubscriptions, [uri])
      // The stream of the run is open some time after the acknowledgement.
      const change = Effect.repeat(appendMessages(runId, 1), Schedule.spaced("100 millis"))
      assert.strictEqual(yield* Effect.raceFirst(Queue.take(updated), Effect.andThen(change, Effect.never)), uri)
      yield* attempt(() => subscription.close())
      // A run that does not exist is notified once, and the resource has the reason.
      const unknown = "runplane://runs/0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a41"
      const lost = yield* attempt(() => sdk.listen({ resourceSubscriptions: [unknown] }))
      yield* Effect.repeat(Queue.take(updated), { until: (shown) => shown === unknown })
      yield* attempt(() => lost.close())
      const tooMany = Array.from({ length: 101 }, (_, index) => `runplane://runs/${runId}/events?afterSeq=${index}`)
      const refused = yield* Effect.flip(attempt(() => sdk.listen({ resourceSubscriptions: tooMany })))
      assert.match(refused.message, /429|many/i)
      // One key cannot use up what all have: its own share is half of it.
      const share = yield* attempt(() => sdk.listen({ resourceSubscriptions: tooMany.slice(0, 50) }))
      const beyond = yield* Effect.flip(attempt(() => sdk.listen({ resourceSubscriptions: tooMany.slice(50, 51) })))
      assert.match(beyond.message, /429|many/i)
      const others = yield* client({ key: "other" })
      const free = yield* others.attempt(() => others.client.listen({ resourceSubscriptions: tooMany.slice(50, 60) }))
      yield* attempt(() => share.close())
      yield* others.attempt(() => free.close())

      const { resourceTemplates } = yield* attempt(() => sdk.listResourceTemplates())
      assert.lengthOf(resourceTemplates, 7)
      for (const path of ["", "/state", "/story", "/decision.md", "/events", "/events?afterSeq=1"]) {
        const { contents } = yield* attempt(() => sdk.readResource({ uri: `runplane://runs/${runId}${path}` }))
        const [content] = contents
        assert.include(
          content !== undefined && "text" in content ? content.text : "",
          path === "/events?afterSeq=1" ? "index" : runId,
          path
        )
      }
      const completed = yield* attempt(() =>
        sdk.complete({
          ref: { type: "ref/resource", uri: "runplane://runs/{id}" },
          argument: { name: "id", value: runId.slice(0, 8) }
        })
      )
      assert.deepStrictEqual(completed.completion.values, [runId])
      const { prompts } = yield* attempt(() => sdk.listPrompts())
      assert.deepStrictEqual(
        prompts.map(({ name }) => name),
        ["investigate_run", "why_did_they_differ", "review_policy_change", "weekly_decisions"]
      )
      const { messages } = yield* attempt(() => sdk.getPrompt({ name: "investigate_run", arguments: { runId } }))
      assert.include(JSON.stringify(messages), "run_story")
    })
  )
})
