import { createServer, type ServerHttp2Session } from "node:http2"
import { create } from "@bufbuild/protobuf"
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect"
import { connectNodeAdapter } from "@connectrpc/connect-node"
import {
  GetSessionResponseSchema,
  InitializeResponseSchema,
  ListSessionsResponseSchema,
  MACPRuntimeService,
  SessionLifecycleEvent_EventType,
  StreamSessionResponseSchema,
  WatchSessionsResponseSchema
} from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { SCRIPTED_MODE } from "./History.ts"
import type { RuntimeCommand } from "./RuntimeProtocol.ts"
import { Changes, ScriptedSession } from "./ScriptedSession.ts"

const NANOS_PER_MICRO = 1_000n
const NANOS_PER_SECOND = 1e9

/**
 * A runtime over real gRPC that only delivers what it is given: it costs as little as possible, so that what is
 * measured is its reader; the tests' own keeps account of its readers instead. Listens on a free port of the loopback
 * until the scope closes.
 */
export const makeScriptedRuntime = Effect.gen(function* () {
  const sessions = new Map<string, ScriptedSession>()
  const resolved: Array<ScriptedSession> = []
  const changes = new Changes()

  const handler = connectNodeAdapter({ routes: (router) => route(router, { sessions, resolved, changes }) })
  const connections = new Set<ServerHttp2Session>()
  const server = createServer(handler)
  server.on("session", (connection) => {
    connections.add(connection)
    connection.once("close", () => connections.delete(connection))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        for (const connection of connections) connection.destroy()
        server.close()
      })
  )
  const bound = server.address()
  const address = `127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`

  const find = (ids: ReadonlyArray<string>) =>
    ids.flatMap((id) => {
      const session = sessions.get(id)
      return session === undefined ? [] : [session]
    })

  const awaitSubscribed = (session: ScriptedSession) =>
    Effect.promise(async () => {
      while (session.subscribers === 0) await session.changes.next()
    })

  /** Makes what is due, then sleeps as short as timers allow; a late timer is caught up with. */
  const pace = Effect.fnUntraced(function* (targets: ReadonlyArray<ScriptedSession>, count: number, perSecond: number) {
    const started = yield* Clock.monotonicTimeNanos
    let made = 0
    while (made < count) {
      const now = yield* Clock.monotonicTimeNanos
      const due = Math.min(count, 1 + Math.floor((Number(now - started) / NANOS_PER_SECOND) * perSecond))
      for (; made < due; made++) targets[made % targets.length]?.addStamped(Number(now / NANOS_PER_MICRO))
      if (made < count) yield* Effect.sleep("1 millis")
    }
  })

  const run = Effect.fnUntraced(function* (command: RuntimeCommand) {
    switch (command._tag) {
      case "Prepare":
        for (const id of command.sessions) {
          sessions.set(id, new ScriptedSession(id, command.envelopes, command.payloadBytes))
        }
        return
      case "AwaitSubscribed":
        return yield* Effect.forEach(find(command.sessions), awaitSubscribed, {
          concurrency: "unbounded",
          discard: true
        })
      case "ForgetSubscribers":
        for (const session of find(command.sessions)) session.forgetSubscribers()
        return
      case "Release":
        for (const session of find(command.sessions)) session.release(command.upTo)
        return
      case "Pace":
        return yield* pace(find(command.sessions), command.envelopes, command.perSecond)
      case "Commit":
        for (const session of find(command.sessions)) session.commit()
        return
      case "Resolve":
        for (const session of find(command.sessions)) {
          session.resolve()
          resolved.push(session)
        }
        return changes.announce()
    }
  })
  return { address, run }
})

interface Script {
  readonly sessions: ReadonlyMap<string, ScriptedSession>
  /** In the order in which they were resolved; a watch reports each of them once. */
  readonly resolved: ReadonlyArray<ScriptedSession>
  readonly changes: Changes
}

const route = (router: ConnectRouter, { changes, resolved, sessions }: Script) => {
  const find = (id: string): ScriptedSession => {
    const session = sessions.get(id)
    if (session === undefined) throw new ConnectError(`session ${id} not found`, Code.NotFound)
    return session
  }
  router.service(MACPRuntimeService, {
    initialize: () =>
      create(InitializeResponseSchema, { selectedProtocolVersion: "1.0", supportedModes: [SCRIPTED_MODE] }),
    getSession: ({ sessionId }) => create(GetSessionResponseSchema, { metadata: find(sessionId).metadata() }),
    listSessions: ({ pageSize, pageToken }) => {
      const from = Number(pageToken)
      const page = [...sessions.values()].slice(from, from + pageSize)
      const next = from + page.length
      return create(ListSessionsResponseSchema, {
        sessions: page.map((session) => session.metadata()),
        nextPageToken: next < sessions.size ? String(next) : ""
      })
    },
    async *watchSessions(_request, { signal }) {
      signal.addEventListener("abort", changes.announce, { once: true })
      for (let sent = resolved.length; !signal.aborted; await changes.next()) {
        for (; sent < resolved.length; sent++) {
          const session = resolved[sent]?.metadata()
          if (session === undefined) continue
          const event = { eventType: SessionLifecycleEvent_EventType.RESOLVED, session }
          yield create(WatchSessionsResponseSchema, { event })
        }
      }
    },
    async *watchSignals(_request, { signal }) {
      signal.addEventListener("abort", changes.announce, { once: true })
      while (!signal.aborted) await changes.next()
    },
    async *streamSession(requests, { signal }) {
      for await (const { afterSequence, subscribeSessionId } of requests) {
        const session = find(subscribeSessionId)
        signal.addEventListener("abort", session.changes.announce, { once: true })
        session.subscribed()
        for (let next = Number(afterSequence) + 1; !signal.aborted; await session.changes.next()) {
          for (let value = session.envelope(next); value !== undefined; value = session.envelope(next)) {
            yield create(StreamSessionResponseSchema, { response: { case: "envelope", value } })
            next += 1
          }
        }
      }
    }
  })
}
