import { once } from "node:events"
import http2 from "node:http2"
import { create } from "@bufbuild/protobuf"
import { assert, describe, it, layer } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import {
  CancelSessionRequestSchema,
  GetManifestRequestSchema,
  GetPolicyRequestSchema,
  GetSessionRequestSchema,
  InitializeRequestSchema,
  ListExtModesRequestSchema,
  ListModesRequestSchema,
  ListPoliciesRequestSchema,
  ListRootsRequestSchema,
  PromoteModeRequestSchema,
  RegisterExtModeRequestSchema,
  RegisterPolicyRequestSchema,
  ResumeSessionRequestSchema,
  SessionState,
  SuspendSessionRequestSchema,
  UnregisterExtModeRequestSchema,
  UnregisterPolicyRequestSchema,
  WatchModeRegistryRequestSchema,
  WatchPoliciesRequestSchema,
  WatchRootsRequestSchema,
  WhatIfReplayRequestSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Sandbox } from "../../src/Sandbox.ts"
import { begin, connect, failure, lead, observer, risk, send, verdictOf, withClient } from "../support/Calls.ts"
import { commitmentPayload, envelope, proposal, startPayload } from "../support/Envelopes.ts"

layer(Sandbox.layer({ port: 0 }), { excludeTestServices: true })("the unary calls", (it) => {
  it.effect("negotiate the version without a credential", () =>
    withClient(async (client) => {
      const initialize = (supportedProtocolVersions: Array<string>) =>
        client.unary("initialize", create(InitializeRequestSchema, { supportedProtocolVersions }))
      const answer = await initialize(["1.0"])
      assert.strictEqual(answer.selectedProtocolVersion, "1.0")
      assert.deepStrictEqual(answer.supportedModes, [...STANDARD_MODES, "ext.multi_round.v1"])
      assert.isTrue(answer.capabilities?.sessions?.stream)
      assert.strictEqual(await failure(initialize([])), status.INVALID_ARGUMENT)
      assert.strictEqual(await failure(initialize(["2.0"])), status.FAILED_PRECONDITION)
    })
  )

  it.effect("answer an RPC that is not served, or not known, with the status of gRPC", () =>
    Effect.gen(function* () {
      const { address } = yield* Sandbox
      yield* withClient(async (client) => {
        const replay = client.unary("whatIfReplay", create(WhatIfReplayRequestSchema), lead)
        assert.strictEqual(await failure(replay), status.UNIMPLEMENTED)
      })
      yield* Effect.promise(async () => {
        const session = http2.connect(`http://${address}`)
        const request = session.request({
          ":method": "POST",
          ":path": "/macp.v1.MACPRuntimeService/Unknown",
          "content-type": "application/grpc",
          te: "trailers"
        })
        const [headers] = await once(request.end(), "response")
        session.destroy()
        assert.deepInclude(headers, { ":status": 200, "grpc-status": "12", "content-type": "application/grpc" })
      })
    })
  )

  it.effect("list the served modes", () =>
    withClient(async (client) => {
      const { modes } = await client.unary("listModes", create(ListModesRequestSchema))
      const decision = modes.find(({ mode }) => mode === "macp.mode.decision.v1")
      assert.deepStrictEqual(decision?.terminalMessageTypes, ["Commitment"])
      assert.deepStrictEqual(
        modes.map(({ mode }) => mode),
        STANDARD_MODES
      )
      const { modes: extensions } = await client.unary("listExtModes", create(ListExtModesRequestSchema))
      assert.deepStrictEqual(
        extensions.map(({ mode }) => mode),
        ["ext.multi_round.v1"]
      )
      assert.deepStrictEqual((await client.unary("listRoots", create(ListRootsRequestSchema))).roots, [])
      const { manifest } = await client.unary("getManifest", create(GetManifestRequestSchema))
      assert.strictEqual(manifest?.agentId, "runplane-sandbox")
      const known = create(GetManifestRequestSchema, { agentId: "macp-runtime" })
      assert.deepStrictEqual((await client.unary("getManifest", known)).manifest, manifest)
      assert.strictEqual(
        await failure(client.unary("getManifest", create(GetManifestRequestSchema, { agentId: "x" }))),
        status.NOT_FOUND
      )
      assert.strictEqual(
        await failure(client.unary("registerExtMode", create(RegisterExtModeRequestSchema), lead)),
        status.INVALID_ARGUMENT
      )
    })
  )

  it.effect("answer every fault of a Send inside the acknowledgement", () =>
    withClient(async (client) => {
      const start = envelope("SessionStart", "m1", startPayload(), { sessionId: "send-session-of-the-test" })
      const { ack } = await client.unary("send", { $typeName: "macp.v1.SendRequest", envelope: start })
      assert.deepStrictEqual(
        [ack?.ok, ack?.error?.code, ack?.sessionState, ack?.messageId],
        [false, "UNAUTHENTICATED", SessionState.UNSPECIFIED, "m1"]
      )
      const old = { ...start, macpVersion: "0.9" }
      assert.strictEqual(await verdictOf(client, old, lead), "UNSUPPORTED_PROTOCOL_VERSION")
      assert.strictEqual(
        await failure(client.unary("send", { $typeName: "macp.v1.SendRequest" }, lead)),
        status.INVALID_ARGUMENT
      )
    })
  )

  it.effect("give policy denials with their reasons", () =>
    withClient(async (client) => {
      const sessionId = "denied-session-of-the-test"
      const policyDescriptor = {
        policyId: "policy.denied.test",
        mode: "*",
        rules: JSON.stringify({ voting: { algorithm: "majority" }, commitment: { require_vote_quorum: true } }),
        schemaVersion: 1
      }
      await client.unary("registerPolicy", create(RegisterPolicyRequestSchema, { policyDescriptor }), lead)
      const start = startPayload({ policyVersion: "policy.denied.test" })
      await send(client, envelope("SessionStart", "m1", start, { sessionId }), lead)
      await send(client, envelope("Proposal", "m2", proposal(), { sessionId }), lead)
      const denied = await send(
        client,
        envelope("Commitment", "m3", commitmentPayload({ policyVersion: "" }), { sessionId }),
        lead
      )
      assert.strictEqual(denied.error?.code, "POLICY_DENIED")
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(denied.error?.details)), {
        reasons: ["no votes cast"],
        denials: [{ code: "no_votes", message: "no votes cast" }]
      })
    })
  )

  it.effect("control a session with the results of the contract", () =>
    withClient(async (client) => {
      const sessionId = "controlled-session-of-the-test"
      await begin(client, sessionId)
      const suspend = (who = lead) =>
        client.unary("suspendSession", create(SuspendSessionRequestSchema, { sessionId }), who)
      const resume = () => client.unary("resumeSession", create(ResumeSessionRequestSchema, { sessionId }), lead)
      const cancel = (id = sessionId, who = lead) =>
        client.unary("cancelSession", create(CancelSessionRequestSchema, { sessionId: id }), who)
      const of = ({ ack }: Awaited<ReturnType<typeof suspend | typeof resume | typeof cancel>>) =>
        ack?.ok ? ack.sessionState : ack?.error?.code

      assert.strictEqual(await failure(suspend(risk)), status.PERMISSION_DENIED)
      assert.strictEqual(await failure(cancel(sessionId, observer)), status.PERMISSION_DENIED)
      assert.strictEqual(await failure(cancel("nowhere")), status.NOT_FOUND)
      assert.strictEqual(of(await resume()), "SESSION_NOT_OPEN")
      assert.strictEqual(of(await suspend()), SessionState.SUSPENDED)
      assert.strictEqual(of(await suspend()), "SESSION_NOT_OPEN")
      assert.strictEqual(of(await resume()), SessionState.OPEN)
      assert.strictEqual(of(await cancel()), SessionState.CANCELLED)
      assert.strictEqual(of(await cancel()), SessionState.CANCELLED)
    })
  )

  it.effect("show a session to its members and to observers", () =>
    withClient(async (client) => {
      const sessionId = "visible-session-of-the-test"
      await begin(client, sessionId)
      const get = (who?: string) => client.unary("getSession", create(GetSessionRequestSchema, { sessionId }), who)
      assert.strictEqual((await get(observer)).metadata?.initiator, lead)
      assert.strictEqual((await get(risk)).metadata?.state, SessionState.OPEN)
      assert.strictEqual(await failure(get("agent://stranger")), status.PERMISSION_DENIED)
      assert.strictEqual(await failure(get()), status.UNAUTHENTICATED)
    })
  )

  it.effect("name the accepted identities to a refused caller", () =>
    withClient(async (client) => {
      const request = create(GetSessionRequestSchema, { sessionId: "any-session-of-the-test" })
      const detail = await client.unary("getSession", request).catch((cause) => Object(cause).details)
      assert.match(detail, /^missing or unknown credential - this runtime takes any name as a bearer token/)
      const start = envelope("SessionStart", "m1", startPayload(), { sessionId: "refused-session-of-the-test" })
      const { ack } = await client.unary("send", { $typeName: "macp.v1.SendRequest", envelope: start })
      assert.match(ack?.error?.message ?? "", /^Unauthenticated: .* this runtime takes any name/)
    })
  )

  it.effect("register, promote and remove extension modes, and notify the watchers of modes", () =>
    withClient(async (client) => {
      const watch = client.watch("watchModeRegistry", create(WatchModeRegistryRequestSchema))
      assert.strictEqual((await watch.frames.next())?.change?.registry, "modes")
      const described = (change: object = {}) => ({
        mode: "ext.notes.v1",
        modeVersion: "2.5.0",
        messageTypes: ["SessionStart", "Note", "Commitment"],
        terminalMessageTypes: ["Commitment"],
        ...change
      })
      const register = async (change: object = {}) => {
        const request = create(RegisterExtModeRequestSchema, { modeDescriptor: described(change) })
        return (await client.unary("registerExtMode", request, lead)).error
      }
      assert.match(await register({ mode: "macp.mode.notes.v1" }), /reserved macp\.mode\.\* namespace/)
      assert.match(await register({ modeVersion: "" }), /must bind mode_version/)
      assert.match(await register({ terminalMessageTypes: ["Note"] }), /'Note' would never terminate a session/)
      assert.match(await register({ messageTypes: ["Note"] }), /must also appear in message_types/)
      assert.strictEqual(await register(), "")
      assert.match(await register(), /already registered/)
      assert.isDefined(await watch.frames.next())

      const standard = async () => (await client.unary("listModes", create(ListModesRequestSchema))).modes
      const extensions = async () => (await client.unary("listExtModes", create(ListExtModesRequestSchema))).modes
      const names = (modes: ReadonlyArray<{ readonly mode: string }>) => modes.map(({ mode }) => mode)
      assert.include(names(await extensions()), "ext.notes.v1")
      const sessionId = "notes-session-of-the-test"
      const of = { sessionId, mode: "ext.notes.v1" }
      const bare = startPayload({ modeVersion: "", participants: [risk] })
      assert.strictEqual(await verdictOf(client, envelope("SessionStart", "m1", bare, of), lead), "ok")
      const send = (type: string, id: string, who: string, payload = new Uint8Array([1])) =>
        verdictOf(client, envelope(type, id, payload, of), who)
      assert.strictEqual(await send("Note", "m2", risk), "ok")
      assert.strictEqual(await send("Vote", "m3", risk), "INVALID_ENVELOPE")
      assert.strictEqual(await send("Note", "m3", "agent://stranger"), "FORBIDDEN")
      const end = (modeVersion: string) => commitmentPayload({ modeVersion })
      assert.strictEqual(await send("Commitment", "m4", risk, end("2.5.0")), "FORBIDDEN")
      assert.strictEqual(await send("Commitment", "m4", lead, end("")), "INVALID_ENVELOPE")
      assert.strictEqual(await send("Commitment", "m4", lead, end("2.5.0")), "ok")

      const promote = async (mode: string, promotedModeName: string) => {
        const request = create(PromoteModeRequestSchema, { mode, promotedModeName })
        const { error, mode: name } = await client.unary("promoteMode", request, lead)
        return error || name
      }
      assert.match(await promote("ext.notes.v1", "macp.mode.notes.v1"), /reserved/)
      assert.strictEqual(await promote("ext.notes.v1", "notes.v1"), "notes.v1")
      assert.include(names(await standard()), "notes.v1")
      const remove = async (mode: string) =>
        (await client.unary("unregisterExtMode", create(UnregisterExtModeRequestSchema, { mode }), lead)).error
      assert.match(await remove("notes.v1"), /standards-track/)
      assert.match(await remove("ext.multi_round.v1"), /built-in/)
      assert.strictEqual(await register(), "")
      assert.strictEqual(await remove("ext.notes.v1"), "")
      assert.match(await remove("ext.notes.v1"), /not found/)
    })
  )

  it.effect("keep policies and notify their watchers", () =>
    withClient(async (client) => {
      const stranger = client.watch("watchPolicies", create(WatchPoliciesRequestSchema))
      assert.strictEqual((await stranger.frames.status).code, status.UNAUTHENTICATED)
      const watch = client.watch("watchPolicies", create(WatchPoliciesRequestSchema), risk)
      const before = (await watch.frames.next())?.descriptors.length ?? 0
      const policyDescriptor = { policyId: "policy.calls.test", mode: "*", rules: "{}", schemaVersion: 2 }
      const register = () =>
        client.unary("registerPolicy", create(RegisterPolicyRequestSchema, { policyDescriptor }), lead)
      assert.isTrue((await register()).ok)
      assert.strictEqual((await watch.frames.next())?.descriptors.length, before + 1)
      const again = await register()
      assert.isFalse(again.ok)
      assert.include(again.error, "already")
      const request = create(GetPolicyRequestSchema, { policyId: "policy.calls.test" })
      assert.strictEqual((await client.unary("getPolicy", request, risk)).policyDescriptor?.schemaVersion, 2)
      const { descriptors } = await client.unary("listPolicies", create(ListPoliciesRequestSchema), risk)
      assert.include(
        descriptors.map(({ policyId }) => policyId),
        "policy.default"
      )
      const remove = create(UnregisterPolicyRequestSchema, { policyId: "policy.calls.test" })
      assert.isTrue((await client.unary("unregisterPolicy", remove, lead)).ok)
      assert.strictEqual(await failure(client.unary("getPolicy", request, risk)), status.NOT_FOUND)
      watch.cancel()
    })
  )

  it.effect("give one hint on the registries that never change", () =>
    withClient(async (client) => {
      const modes = client.watch("watchModeRegistry", create(WatchModeRegistryRequestSchema))
      assert.strictEqual((await modes.frames.next())?.change?.registry, "modes")
      const roots = client.watch("watchRoots", create(WatchRootsRequestSchema))
      assert.isDefined((await roots.frames.next())?.change)
      modes.cancel()
      roots.cancel()
    })
  )
})

const STANDARD_MODES = ["decision", "proposal", "task", "handoff", "quorum"].map((name) => `macp.mode.${name}.v1`)

const tokens = [
  { token: "t-lead", sender: lead },
  { token: "t-risk", sender: risk, can_start_sessions: false },
  { token: "t-quiet", sender: "agent://quiet", allowed_modes: ["macp.mode.decision.v1"] },
  { token: "t-observer", sender: "obs", is_observer: true, can_start_sessions: false },
  { token: "t-registrar", sender: "registrar", can_manage_mode_registry: true }
]

layer(Sandbox.layerTokens(tokens, { port: 0 }), { excludeTestServices: true })("static tokens", (it) => {
  it.effect("decide the identity of the caller and its permissions", () =>
    withClient(async (client) => {
      const sessionId = "token-session-of-the-test"
      const start = envelope("SessionStart", "m1", startPayload(), { sessionId })
      assert.strictEqual(await verdictOf(client, start, "stranger"), "UNAUTHENTICATED")
      assert.strictEqual(await verdictOf(client, start, "dotted.token"), "UNAUTHENTICATED")
      assert.strictEqual(await verdictOf(client, start, "t-risk"), "FORBIDDEN")
      assert.strictEqual(await verdictOf(client, start, "t-lead"), "ok")
      const signal = envelope("Signal", "s", new Uint8Array(), { mode: "", sessionId: "" })
      assert.strictEqual(await verdictOf(client, signal, "t-quiet"), "FORBIDDEN")
      assert.strictEqual(await verdictOf(client, signal, "t-risk"), "ok")
      const get = create(GetSessionRequestSchema, { sessionId })
      assert.strictEqual((await client.unary("getSession", get, "t-observer")).metadata?.initiator, lead)
      assert.strictEqual(await failure(client.unary("getSession", get, "t-registrar")), status.PERMISSION_DENIED)
      const policyDescriptor = { policyId: "policy.token.test", mode: "*", rules: "{}", schemaVersion: 1 }
      const register = create(RegisterPolicyRequestSchema, { policyDescriptor })
      assert.strictEqual(await failure(client.unary("registerPolicy", register, "t-lead")), status.PERMISSION_DENIED)
      assert.isTrue((await client.unary("registerPolicy", register, "t-registrar")).ok)
    })
  )
})

describe("the sandbox", () => {
  it.live("takes envelopes without a connection, by the same rules", () =>
    Effect.gen(function* () {
      const { acceptedHistory, submit } = yield* Sandbox
      const sessionId = "submitted-session-of-the-test"
      const start = yield* submit(envelope("SessionStart", "m1", startPayload(), { sessionId }), lead)
      const stranger = yield* submit(envelope("Proposal", "m2", proposal(), { sessionId }), "agent://stranger")
      assert.deepStrictEqual([start.ok, stranger.error?.code], [true, "FORBIDDEN"])
      assert.strictEqual((yield* acceptedHistory(sessionId)).length, 1)
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("names the port that is taken", () =>
    Effect.gen(function* () {
      const { address } = yield* Sandbox
      const port = Number(address.split(":")[1])
      const failed = yield* Effect.flip(Layer.build(Layer.fresh(Sandbox.layer({ port }))))
      assert.deepStrictEqual([failed._tag, failed.port], ["AddressInUse", port])
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("rejects observers in development when configured", () =>
    withClient(async (client) => {
      await begin(client, "unobserved-session-of-the-test")
      const get = create(GetSessionRequestSchema, { sessionId: "unobserved-session-of-the-test" })
      assert.strictEqual(await failure(client.unary("getSession", get, observer)), status.PERMISSION_DENIED)
    }).pipe(Effect.provide(Sandbox.layer({ port: 0, devObserver: false })))
  )

  it.live("ends open streams when it stops, and stops twice", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const client = yield* connect(sandbox.address)
      const watch = client.watch("watchModeRegistry", create(WatchModeRegistryRequestSchema))
      yield* Effect.promise(() => watch.frames.next())
      yield* sandbox.stop
      yield* Effect.promise(() => watch.frames.status)
      yield* sandbox.stop
      const initialize = create(InitializeRequestSchema, { supportedProtocolVersions: ["1.0"] })
      assert.strictEqual(
        yield* Effect.promise(() => failure(client.unary("initialize", initialize))),
        status.UNAVAILABLE
      )
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )
})
