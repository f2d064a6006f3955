import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callbackServer } from "../support/CallbackServer.ts"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"

const headersOf = (key: string) => ({ "x-api-key": key })
const viewer = headersOf("viewer")
const owner = headersOf("owner")
const operator = headersOf("operator")
const admin = headersOf("admin")

const settings = {
  AUTH_API_KEYS: "viewer,owner,operator,admin",
  AUTH_API_KEY_NAMES: "viewer,owner,operator,admin",
  AUTH_API_KEY_ROLES: "viewer,operator,operator,admin",
  CANCEL_CALLBACK_TIMEOUT_MS: "1000"
}

layer(layerTestService({ settings, observer: { recoveryEnabled: false } }), { excludeTestServices: true })(
  "callers of each role",
  (it) => {
    it.effect("see of a webhook what they may test, and viewers scheme and host alone", () =>
      Effect.gen(function* () {
        const [url, changed] = ["https://192.0.2.1:8443/hooks/s3cret?token=t0ken", "https://192.0.2.2/other-s3cret"]
        const made = yield* call("POST", "/webhooks", { body: { url, secret: "secret" }, headers: admin })
        assert.strictEqual(made.body.url, url)
        const listed = (headers: typeof viewer) => Effect.map(call("GET", "/webhooks", { headers }), ({ body }) => body)
        assert.strictEqual((yield* listed(operator))[0].url, url)
        assert.strictEqual((yield* listed(viewer))[0].url, "https://192.0.2.1:8443")
        yield* call("PATCH", `/webhooks/${made.body.id}`, { body: { url: changed }, headers: admin })

        const log = yield* call("GET", "/audit?resource=webhook", { headers: viewer })
        const urls = log.body.data.map(({ details }: { details: { url: string } }) => details.url)
        assert.deepStrictEqual(urls, ["https://192.0.2.2", "https://192.0.2.1:8443"])
        const probe = yield* call("GET", "/audit?q=details.url:*s3cret*", { headers: viewer })
        assert.strictEqual(probe.body.total, 0)
      })
    )

    it.effect("change views of their own, and administrators all", () =>
      Effect.gen(function* () {
        const save = (name: string) =>
          Effect.map(call("POST", "/views", { body: { name, resource: "runs" }, headers: owner }), ({ body }) => body)
        const [view, other] = [yield* save("Mine"), yield* save("Mine too")]
        assert.strictEqual(view.owner, "owner")
        const change = (headers: typeof viewer, q: string) =>
          call("PATCH", `/views/${view.id}`, { body: { q }, headers })
        const remove = (id: string, headers: typeof viewer) => call("DELETE", `/views/${id}`, { headers })
        const message = "only its owner and administrators may change the view Mine"
        for (const refused of [yield* change(operator, "status:failed"), yield* remove(view.id, operator)]) {
          assert.deepInclude(refused.body, { statusCode: 403, errorCode: "FORBIDDEN", message })
        }
        assert.strictEqual((yield* change(viewer, "status:failed")).status, 403)
        assert.strictEqual((yield* change(owner, "status:failed")).body.q, "status:failed")
        assert.strictEqual((yield* change(admin, "status:queued")).body.owner, "owner")
        const seen = yield* call("GET", "/views?resource=runs", { headers: operator })
        assert.include(seen.text, '"q":"status:queued"')
        assert.strictEqual((yield* remove(view.id, owner)).status, 204)
        assert.strictEqual((yield* remove(other.id, admin)).status, 204)
        assert.strictEqual((yield* remove(other.id, operator)).status, 204)
      })
    )

    it.effect("keep private views to themselves, names included", () =>
      Effect.gen(function* () {
        const save = (headers: typeof viewer, body: object) =>
          call("POST", "/views", { body: { name: "Own", resource: "runs", private: true, ...body }, headers })
        const { body: own } = yield* save(owner, {})
        assert.strictEqual(own.private, true)
        assert.strictEqual((yield* save(owner, {})).status, 409)
        const listed = (headers: typeof viewer) =>
          Effect.map(call("GET", "/views?resource=runs", { headers }), ({ body }) =>
            body.flatMap(({ id, name }: { id: string; name: string }) => (name === "Own" ? [id] : []))
          )
        assert.deepStrictEqual(yield* listed(owner), [own.id])
        for (const other of [operator, admin]) {
          assert.deepStrictEqual(yield* listed(other), [])
          const change = yield* call("PATCH", `/views/${own.id}`, { body: { q: "status:failed" }, headers: other })
          assert.strictEqual(change.status, 404)
          assert.strictEqual((yield* call("DELETE", `/views/${own.id}`, { headers: other })).status, 204)
        }
        const { body: shared } = yield* save(operator, { private: false })
        assert.deepStrictEqual((yield* listed(owner)).toSorted(), [own.id, shared.id].toSorted())
        const taken = yield* call("PATCH", `/views/${own.id}`, { body: { private: false }, headers: owner })
        assert.strictEqual(taken.status, 409, "the shared view has the name")
        yield* call("DELETE", `/views/${shared.id}`, { headers: admin })
        const change = yield* call("PATCH", `/views/${own.id}`, { body: { private: false }, headers: owner })
        assert.strictEqual(change.body.private, false)
        assert.deepStrictEqual(yield* listed(viewer), [own.id])
        assert.strictEqual((yield* call("DELETE", `/views/${own.id}`, { headers: owner })).status, 204)
      })
    )

    it.effect("learn of a cancel callback what their role may: never its query, the status as administrators", () =>
      Effect.gen(function* () {
        const { url } = yield* callbackServer(418)
        const metadata = { cancelCallback: { url: `${url}?token=t0ken#f` } }
        const made = yield* call("POST", "/runs", { body: descriptor({ session: { metadata } }), headers: owner })
        const cancelAs = (headers: typeof viewer) =>
          call("POST", `/runs/${made.body.runId}/cancel`, { body: {}, headers })
        const failed = { statusCode: 502, errorCode: "INTERNAL_ERROR" }
        assert.deepInclude((yield* cancelAs(operator)).body, {
          ...failed,
          message: `cancel callback ${url} failed: no 2xx answer within 1000 ms`
        })
        assert.deepInclude((yield* cancelAs(admin)).body, {
          ...failed,
          message: `cancel callback ${url} returned 418`
        })
        const record = yield* call("GET", `/runs/${made.body.runId}`, { headers: operator })
        assert.strictEqual(record.body.metadata.cancelCallback.url, url)
        const exported = yield* call("GET", `/runs/${made.body.runId}/export?includeRaw=true`, { headers: operator })
        const events = yield* call("GET", `/runs/${made.body.runId}/events`, { headers: viewer })
        for (const { text } of [record, exported, events]) assert.notInclude(text, "t0ken")
      })
    )
  }
)
