import { createServer, type ServerResponse } from "node:http"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { listening } from "@runplane/testing"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { call, layerTestService } from "../../support/HttpService.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { allEnded, awaitDeliveries, change, startRun, subscribe } from "../../support/Webhooks.ts"

const settings = {
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
  WEBHOOK_RETRY_BASE_MS: "5",
  WEBHOOK_RETRY_MAX_MS: "20",
  WEBHOOK_POLL_MS: "10"
}

/** A receiver that answers does so before the default time-out, however busy the machine is. */
const service = (more: Readonly<Record<string, string>> = {}) =>
  layerTestService({ settings: { ...settings, ...more }, observer: { recoveryEnabled: false } })

/** A receiver that answers as `answer` does; `closed` is called when the connection of its first request is gone. */
const receiver = Effect.fnUntraced(function* (answer: (response: ServerResponse) => void) {
  const closed = Deferred.makeUnsafe<number>()
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    request.resume()
    const { socket } = response
    socket?.once("close", () => Deferred.doneUnsafe(closed, Effect.succeed(socket.bytesWritten)))
    answer(response)
  })
  const port = yield* listening(server)
  return { url: `http://127.0.0.1:${port}/hook`, closed: Deferred.await(closed), requests: () => requests }
})

layer(service(), { excludeTestServices: true })("a receiver of webhooks", (it) => {
  for (const [what, send] of [
    ["endless", (response: ServerResponse) => pour(response)],
    [
      "dripping",
      (response: ServerResponse) => {
        const drip = setInterval(() => response.write("."), 5)
        response.once("close", () => clearInterval(drip))
      }
    ]
  ] as const) {
    it.effect(`with an ${what} answer is not listened to beyond its status`, () =>
      Effect.gen(function* () {
        const target = yield* receiver((response) => {
          response.writeHead(200)
          send(response)
        })
        const { id } = yield* subscribe(target.url)
        yield* startRun
        const [delivery] = yield* awaitDeliveries(id, allEnded)
        assert.deepInclude(delivery, { status: "delivered", attempts: 1, responseStatus: 200 })
        // The connection is given up, with no more in its buffers than a connection holds.
        assert.isBelow(yield* target.closed, 8 * 1024 * 1024)
        yield* call("DELETE", `/webhooks/${id}`)
      })
    )
  }

  it.effect("that redirects is not followed; the answer counts as a failure", () =>
    Effect.gen(function* () {
      const elsewhere = yield* webhookReceiver()
      const target = yield* webhookReceiver((before) =>
        before === 0 ? { status: 307, headers: { location: elsewhere.url } } : { status: 204 }
      )
      const { id } = yield* subscribe(target.url)
      yield* startRun
      yield* Queue.take(target.requests)
      const [delivery] = yield* awaitDeliveries(id, allEnded)
      assert.deepInclude(delivery, { status: "delivered", attempts: 2, responseStatus: 204 })
      assert.strictEqual(yield* Queue.size(elsewhere.requests), 0)
      yield* call("DELETE", `/webhooks/${id}`)
    })
  )

  it.effect("gets a delivery once although its outcome cannot be written at first", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const target = yield* webhookReceiver()
      const { id } = yield* subscribe(target.url)
      yield* sql`CREATE SEQUENCE tries`
      yield* sql.unsafe(`CREATE FUNCTION refuse_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.status = 'delivered' AND nextval('tries') <= 2 THEN
          RAISE EXCEPTION 'on purpose' USING ERRCODE = '40001'; END IF;
        RETURN NEW; END $$`).unprepared
      yield* sql.unsafe(
        "CREATE TRIGGER on_purpose BEFORE UPDATE ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION refuse_twice()"
      ).unprepared
      const runId = yield* startRun
      yield* change(runId, "completed")
      const deliveries = yield* awaitDeliveries(id, (all) => all.length === 2 && allEnded(all))
      for (const delivery of deliveries) assert.deepInclude(delivery, { status: "delivered", attempts: 1 })
      const [first, second] = yield* Queue.takeAll(target.requests)
      assert.deepStrictEqual(
        [first, second].map((request) => request?.headers["x-macp-event"]),
        ["run.started", "run.completed"]
      )
      assert.strictEqual(yield* Queue.size(target.requests), 0)
      yield* sql`DROP FUNCTION refuse_twice CASCADE`
      yield* call("DELETE", `/webhooks/${id}`)
    })
  )
})

layer(service({ WEBHOOK_TIMEOUT_MS: "250" }), { excludeTestServices: true })("a receiver of webhooks", (it) => {
  it.effect("that drips the head of its answer is timed out like one that says nothing", () =>
    Effect.gen(function* () {
      const target = yield* receiver(({ socket }) => {
        socket?.write("HTTP/1.1 200 OK\r\n")
        const drip = setInterval(() => socket?.write("x-drip: 1\r\n"), 10)
        socket?.once("close", () => clearInterval(drip))
      })
      const { id } = yield* subscribe(target.url)
      yield* startRun
      const [delivery] = yield* awaitDeliveries(id, (all) => all[0]?.["errorMessage"] !== undefined)
      assert.deepInclude(delivery, { status: "pending", errorMessage: "timed out after 250 ms" })
      yield* target.closed
      yield* call("DELETE", `/webhooks/${id}`)
    })
  )
})

/** Writes for as long as the other side reads. */
const pour = (response: ServerResponse): void => {
  const piece = Buffer.alloc(64 * 1024)
  const more = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on("drain", more)
  more()
}
