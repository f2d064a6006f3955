import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import { ListSessionsRequestSchema, WatchSessionsRequestSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { LATEST_DEADLINE } from "../../src/core/Session.ts"
import { Sandbox } from "../../src/Sandbox.ts"
import { begin, failure, lead, observer, verdictOf, withClient } from "../support/Calls.ts"
import { envelope, startPayload } from "../support/Envelopes.ts"

describe("ListSessions", () => {
  it.live("pages by ascending id until nothing is left", () =>
    withClient(async (client) => {
      for (const letter of ["c", "a", "b"]) await begin(client, `${letter}-session-of-the-paging-test`)
      const list = (pageSize: number, pageToken = "") =>
        client.unary("listSessions", create(ListSessionsRequestSchema, { pageSize, pageToken }), observer)
      const first = await list(2)
      const second = await list(2, first.nextPageToken)
      assert.deepStrictEqual(
        [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId.charAt(0)),
        ["a", "b", "c"]
      )
      assert.strictEqual(second.nextPageToken, "")
      assert.strictEqual((await list(0)).sessions.length, 3)
      assert.strictEqual(await failure(list(-1)), status.INVALID_ARGUMENT)
      assert.strictEqual(await failure(list(2, "nonsense")), status.INVALID_ARGUMENT)
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("continues, like the watch, beside a session with a start time in the far future", () =>
    withClient(async (client) => {
      const timestampUnixMs = 2n ** 63n - 1n
      const sessionId = "a-session-of-the-end-of-time"
      const start = envelope("SessionStart", "m1", startPayload(), { sessionId, timestampUnixMs })
      assert.strictEqual(await verdictOf(client, start, lead), "ok")
      await begin(client, "another-session-of-this-test")
      const { sessions } = await client.unary("listSessions", create(ListSessionsRequestSchema), observer)
      assert.deepStrictEqual(
        sessions.map(({ expiresAtUnixMs }) => expiresAtUnixMs === BigInt(LATEST_DEADLINE)),
        [true, false]
      )
      const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
      const seen = [await watch.frames.next(), await watch.frames.next()]
      assert.sameMembers(
        seen.map((frame) => frame?.event?.session?.sessionId),
        [sessionId, "another-session-of-this-test"]
      )
      watch.cancel()
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )
})
